import type { Json } from '#engine-adapters/json-object.ts'
import type { PromptBuilder } from '../body/prompt-builder.ts'

/** Reads OpenAI's completions: one text, or several that are separate prompts. Token ids are left to the engine. */
export function readCompletions(body: Json, builder: PromptBuilder): boolean {
  return readPlainPrompts(body.prompt, 'prompt', [body.model, body.cache_salt], builder)
}

/** Reads SGLang's own API, where `text` is what `prompt` is for completions. */
export function readGenerate(body: Json, builder: PromptBuilder): boolean {
  return readPlainPrompts(body.text, 'text', [body.model, body.lora_path, body.image_data, body.cache_salt], builder)
}

function readPlainPrompts(prompt: unknown, key: string, preamble: readonly unknown[], builder: PromptBuilder): boolean {
  const texts = Array.isArray(prompt) ? prompt : [prompt]
  if (texts.length === 0 || !texts.every((text) => typeof text === 'string')) return false
  for (const [place, text] of texts.entries()) {
    const path = Array.isArray(prompt) ? [key, place] : [key]
    builder.message('user', [{ path, text }], [{}], { isRendered: true })
    builder.endPrompt(preamble)
  }
  return true
}
