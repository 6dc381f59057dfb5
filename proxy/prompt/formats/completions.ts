import type { Json, PromptBuilder } from '../body/prompt-builder.ts'

/** OpenAI's completions: a text, or several that are prompts of their own. Token ids are the engine's to read. */
export function readCompletions(body: Json, builder: PromptBuilder): boolean {
  return readPlainPrompts(body.prompt, 'prompt', [body.model, body.cache_salt], builder)
}

/** SGLang's own API: `text` as `prompt` is for completions. */
export function readGenerate(body: Json, builder: PromptBuilder): boolean {
  return readPlainPrompts(body.text, 'text', [body.model, body.lora_path, body.image_data, body.cache_salt], builder)
}

function readPlainPrompts(prompt: unknown, key: string, preamble: readonly unknown[], builder: PromptBuilder): boolean {
  if (typeof prompt === 'string') {
    builder.plainPrompt([key], prompt, preamble)
    return true
  }
  if (!Array.isArray(prompt) || prompt.length === 0 || !prompt.every((one) => typeof one === 'string')) return false
  for (const [place, text] of prompt.entries()) builder.plainPrompt([key, place], text, preamble)
  return true
}
