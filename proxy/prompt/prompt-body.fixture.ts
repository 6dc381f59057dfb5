import type { PromptApi } from '#engine-adapters/prompt-api.ts'
import { spliceTexts } from './body/splice-texts.ts'
import { type PromptBody, readPromptBody, writeBody } from './prompt-body.ts'

/** A body as it is read from its JSON. */
export function readJson(api: PromptApi, json: string): PromptBody | undefined {
  return readPromptBody(api, Buffer.from(json))
}

/** A body with other texts in place of its own. */
export function writeTexts(prompt: PromptBody, texts: readonly string[]): string {
  return writeBody(prompt, spliceTexts(prompt, { texts, splices: texts.map(() => []) })).toString()
}
