import type { BodyMembers, TokenQuestion } from '../engine-adapter.ts'
import type { PromptApi } from '../prompt-api.ts'
import { promptOnly } from '../prompt-only.ts'

/** The member that holds the text, for APIs other than chat; SGLang cannot tokenise Responses or Messages bodies. */
const textIn: Partial<Record<PromptApi, string>> = { completions: 'prompt', generate: 'text' }

/** Returns the question for SGLang's tokenizer, which takes chats and texts; undefined for anything else. */
export function askTokenizer(api: PromptApi, members: BodyMembers): TokenQuestion | undefined {
  const path = '/tokenize'
  if (api === 'chat_completions') return { path, body: promptOnly(members) }
  const name = textIn[api]
  const prompt = name === undefined ? undefined : members[name]
  const isText =
    typeof prompt === 'string' || (Array.isArray(prompt) && prompt.every((item) => typeof item === 'string'))
  return isText ? { path, body: { prompt } } : undefined
}
