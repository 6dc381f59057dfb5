import type { PromptApi } from '#engine-adapters/prompt-api.ts'
import { spliceTexts } from './body/splice-texts.ts'
import { type PromptBody, readPromptBody, writeBody } from './prompt-body.ts'

/** Reads a body from its JSON. */
export function readJson(api: PromptApi, json: string): PromptBody | undefined {
  return readPromptBody(api, Buffer.from(json))
}

/** Writes a body with its texts replaced. */
export function writeTexts(prompt: PromptBody, texts: readonly string[]): string {
  return writeBody(prompt, spliceTexts(prompt, { texts, splices: texts.map(() => []) })).toString()
}
