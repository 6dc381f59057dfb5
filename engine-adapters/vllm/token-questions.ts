import type { BodyMembers, TokenQuestion } from '../engine-adapter.ts'
import type { PromptApi } from '../prompt-api.ts'
import { promptOnly } from '../prompt-only.ts'

/** The members of a chat request that `/tokenize` accepts. */
const tokenizedMembers = new Set(
  'model messages add_generation_prompt continue_final_message add_special_tokens chat_template chat_template_kwargs tools'.split(
    ' ',
  ),
)

/**
 * Asks vLLM to render the prompt it would run: each API has a `/render` path. vLLM 0.32 offers it only if started with
 * `--enable-scale-out`.
 */
export function askToRender(api: PromptApi, path: string, members: BodyMembers): TokenQuestion | undefined {
  if (api === 'generate') return undefined
  const { pathname } = new URL(path, 'http://engine')
  const body = promptOnly(members)
  // this API requires an answer length
  if (api === 'messages') body.max_tokens = members.max_tokens
  return { path: `${pathname.replace(/\/+$/, '')}/render`, body }
}

/**
 * Asks vLLM's `/tokenize`. Returns undefined for chats whose template gets more than `/tokenize` accepts, and for APIs
 * that it does not cover.
 */
export function askTokenizer(api: PromptApi, members: BodyMembers): TokenQuestion | undefined {
  const { model } = members
  if (api === 'completions' && typeof members.prompt === 'string') {
    const { prompt, add_special_tokens } = members
    return { path: '/tokenize', body: { model, prompt, add_special_tokens } }
  }
  if (api !== 'chat_completions' || !isPlainChat(members)) return undefined
  const taken = Object.entries(members).filter(([name]) => tokenizedMembers.has(name))
  return { path: '/tokenize', body: Object.fromEntries(taken) }
}

/** Asks vLLM's `/tokenize` for tokens as its vocabulary writes them. */
export function askForStrings(api: PromptApi, members: BodyMembers): TokenQuestion | undefined {
  const question = askTokenizer(api, members)
  return question && { ...question, body: { ...question.body, return_token_strs: true } }
}

function isPlainChat({ messages, documents, reasoning_effort, tool_choice }: BodyMembers): boolean {
  if ([documents, reasoning_effort, tool_choice].some((member) => member !== undefined && member !== null)) return false
  return (
    Array.isArray(messages) &&
    messages.every(
      ({ content }: BodyMembers) =>
        !Array.isArray(content) || content.every(({ type }: BodyMembers) => type === 'text'),
    )
  )
}
