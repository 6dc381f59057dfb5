import type { PromptApi } from '#engine-adapters/prompt-api.ts'
import { readPromptBody } from '../formats/read-prompt-body.ts'
import { type PromptBody, writeBody } from './prompt-body.ts'
import { spliceTexts } from './splice-texts.ts'

/** Reads a body from its JSON. */
export function readJson(api: PromptApi, json: string): PromptBody | undefined {
  return readPromptBody(api, Buffer.from(json))
}

/** Writes a body with its texts replaced. */
export function writeTexts(prompt: PromptBody, texts: readonly string[]): string {
  return writeBody(prompt, spliceTexts(prompt, { texts, splices: texts.map(() => []) })).toString()
}
