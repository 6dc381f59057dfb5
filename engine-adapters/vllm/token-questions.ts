import type { BodyMembers, TokenQuestion } from '../engine-adapter.ts'
import type { PromptApi } from '../prompt-api.ts'
import { promptOnly } from '../prompt-only.ts'

/** What `/tokenize` takes of a chat. */
const tokenizedMembers = new Set(
  'model messages add_generation_prompt continue_final_message add_special_tokens chat_template chat_template_kwargs tools'.split(
    ' ',
  ),
)

/** vLLM renders what it would run, for each API beside the API itself; 0.32 where it is started with `--enable-scale-out`. */
export function askToRender(api: PromptApi, path: string, members: BodyMembers): TokenQuestion | undefined {
  if (api === 'generate') return undefined
  const { pathname } = new URL(path, 'http://engine')
  const body = promptOnly(members)
  // an answer's length is asked for by this API
  if (api === 'messages') body.max_tokens = members.max_tokens
  return { path: `${pathname.replace(/\/+$/, '')}/render`, body }
}

/** vLLM's tokenizer knows of a chat what it needs in all but these cases, where its template is given more. */
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
