import { isObject } from '../json-object.ts'
import type { BodyMembers, PromptApi, TokenQuestion } from '../prompt-api.ts'

/** An answer that a model gave, and the prompt under which it is to be scored. */
export interface ScoredAnswer {
  readonly api: PromptApi
  /** members of the body as the engine gets it: any order of the documents, its cache salt included */
  readonly members: BodyMembers
  /** the answer's text as the engine wrote it; only its beginning is scored */
  readonly answer: string
  /** tokens of the prompt, roughly; undefined if nobody counted them */
  readonly promptTokens: number | undefined
}

/**
 * Log probabilities of tokens of an answer, in its order: of the same tokens in each order of the prompt. Undefined where
 * there is no one prompt of text with an answer behind it, and where the engine refuses or says something else.
 */
export type AnswerScores = readonly number[] | undefined

/** Sends a question; resolves to the JSON of its answer, undefined if the engine refused it. */
export type AskScores = (question: TokenQuestion) => Promise<unknown>

/** How a kind of engine is asked how likely an answer is. Nothing is decoded but one token a question. */
export type ScoreAnswer = (scored: ScoredAnswer, ask: AskScores) => Promise<AnswerScores>

/** The prompt of a body: a chat that the engine renders, or what it is given as it is. */
export type ScoredPrompt =
  | { readonly chat: Chat; readonly answer: string }
  | { readonly text: string; readonly answer: string }
  | { readonly ids: readonly number[]; readonly answer: string }

/** BodyMembers of a chat request that decide its prompt. */
interface Chat extends BodyMembers {
  readonly messages: readonly BodyMembers[]
}

/** Characters of an answer that are scored: what follows depends on them more than on the prompt. */
const mostCharacters = 2_000
const chatMembers = [
  ...['model', 'messages', 'tools', 'documents', 'reasoning_effort'],
  ...['chat_template', 'chat_template_kwargs', 'add_special_tokens'],
]

/** Reads the one prompt of a body, and the part of the answer that is scored; undefined if one of them is not there. */
export function readScoredPrompt({ api, members, answer }: ScoredAnswer): ScoredPrompt | undefined {
  const scored = beginningOf(answer)
  if (scored === '') return undefined
  if (api === 'completions') return readPlain(members.prompt, scored)
  if (api === 'generate') return readPlain(members.text ?? members.input_ids, scored)
  const chat = toChat[api](members)
  if (!Array.isArray(chat?.messages) || !chat.messages.every(isText)) return undefined
  // words that the model was to continue
  if (chat.messages.at(-1)?.role === 'assistant') return undefined
  return { chat: chat as Chat, answer: scored }
}

function readPlain(prompt: unknown, answer: string): ScoredPrompt | undefined {
  if (typeof prompt === 'string') return { text: prompt, answer }
  if (!Array.isArray(prompt)) return undefined
  if (prompt.length === 1 && typeof prompt[0] !== 'number') return readPlain(prompt[0], answer)
  return prompt.every((id) => Number.isInteger(id)) ? { ids: prompt as number[], answer } : undefined
}

const toChat: Readonly<
  Record<'chat_completions' | 'responses' | 'messages', (members: BodyMembers) => BodyMembers | undefined>
> = {
  chat_completions: (members) =>
    Object.fromEntries(
      Object.entries(members).filter(
        ([name, value]) => chatMembers.includes(name) && (name !== 'tools' || hasTools(value)),
      ),
    ),
  responses: ({ model, instructions, input, tools, previous_response_id }) => {
    if (hasTools(tools) || previous_response_id != null) return undefined
    const items = typeof input === 'string' ? [{ role: 'user', content: input }] : input
    return { model, messages: withSystem(instructions, items) }
  },
  messages: ({ model, system, messages, tools }) =>
    hasTools(tools) ? undefined : { model, messages: withSystem(system, messages) },
}

const hasTools = (tools: unknown): boolean => tools != null && !(Array.isArray(tools) && tools.length === 0)

/** The messages of an API that keeps the system prompt apart, without members that only it knows. */
function withSystem(system: unknown, messages: unknown): unknown[] | undefined {
  if (!Array.isArray(messages)) return undefined
  const first = system == null || system === '' ? [] : [{ role: 'system', content: toParts(system) }]
  return [...first, ...messages.map((message) => toMessage(message))]
}

function toMessage(message: unknown): unknown {
  if (!isObject(message) || (message.type ?? 'message') !== 'message') return undefined
  return { role: message.role, content: toParts(message.content) }
}

/** The text parts of a content under the names that chat gives them; all others stay, and are refused as no text. */
function toParts(content: unknown): unknown {
  if (!Array.isArray(content)) return content
  return content.map((part) =>
    isObject(part) && /^((in|out)put_)?text$/.test(String(part.type)) ? { type: 'text', text: part.text } : part,
  )
}

function isText(message: unknown): boolean {
  if (!isObject(message) || typeof message.role !== 'string') return false
  const { content } = message
  if (!Array.isArray(content)) return typeof content === 'string' || content == null
  return content.every((part) => isObject(part) && part.type === 'text' && typeof part.text === 'string')
}

/** The beginning of an answer up to the end of a word. White space at its end is dropped, as many templates do. */
function beginningOf(answer: string): string {
  if (answer.length <= mostCharacters) return answer.trimEnd()
  const cut = answer.slice(0, mostCharacters)
  // without a space, at least no pair of surrogates is torn
  const end = cut.search(/\s\S*$/)
  return (end > mostCharacters / 2 ? cut.slice(0, end) : cut.replace(/[\ud800-\udbff]$/, '')).trimEnd()
}

/** The tokens in the answer of a tokenizer; undefined if it has none. */
export function tokensIn(said: unknown): number[] | undefined {
  const tokens = isObject(said) ? said.tokens : undefined
  return Array.isArray(tokens) && tokens.every((id) => Number.isInteger(id)) ? tokens : undefined
}
