/**
 * What is done to prompts (docs/templates.md). `auto`: what is stated is rewritten, and lists of templates that words,
 * traffic and the model all permit; `ask`: what is stated, and templates that a person confirmed; `on`: what no word
 * forbids; `shadow`: nothing, only computed; `off`: nothing.
 */
export type Mode = 'auto' | 'ask' | 'on' | 'shadow' | 'off'
