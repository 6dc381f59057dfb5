import type { BodyMembers, TokenQuestion } from '../engine-adapter.ts'
import type { PromptApi } from '../prompt-api.ts'
import { promptOnly } from '../prompt-only.ts'

/** Where APIs beside chats have their text; the Responses and Messages APIs cannot be asked about. */
const textIn: Partial<Record<PromptApi, string>> = { completions: 'prompt', generate: 'text' }

/** SGLang's tokenizer takes chats, and texts. */
export function askTokenizer(api: PromptApi, members: BodyMembers): TokenQuestion | undefined {
  const path = '/tokenize'
  if (api === 'chat_completions') return { path, body: promptOnly(members) }
  const name = textIn[api]
  const prompt = name === undefined ? undefined : members[name]
  const isText =
    typeof prompt === 'string' || (Array.isArray(prompt) && prompt.every((item) => typeof item === 'string'))
  return isText ? { path, body: { prompt } } : undefined
}
