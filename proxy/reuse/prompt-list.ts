import type { PromptApi } from '#engine-adapters/prompt-api.ts'
import type { Json } from '../prompt/body/prompt-builder.ts'

/** Where an API takes a list of prompts. */
const listedIn: Partial<Record<PromptApi, string>> = { completions: 'prompt', generate: 'text' }

/** Whether a body's prompts are a list, be it of one. */
export function isPromptList(api: PromptApi, members: Json): boolean {
  const key = listedIn[api]
  return key !== undefined && Array.isArray(members[key])
}
