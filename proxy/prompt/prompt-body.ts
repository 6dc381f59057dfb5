import { ProxyError } from '../errors.ts'
import {
  applySplices,
  insertMember,
  memberSpans,
  removeMembers,
  SpanFinder,
  type Splice,
  valueStart,
} from '../json-spans.ts'
import { parseJson } from '../parse-json.ts'
import { type ExplicitContext, readExplicitContext } from './explicit-context.ts'
import { readChat } from './formats/chat.ts'
import { readCompletions, readGenerate } from './formats/completions.ts'
import { readMessages } from './formats/messages.ts'
import { readResponses } from './formats/responses.ts'
import type { Prompt, PromptApi, PromptText } from './prompt.ts'
import { isObject, type Json, PromptBuilder, type PromptFormat } from './prompt-builder.ts'

/** The prompts of a body that was understood. */
export interface PromptSet {
  readonly prompts: readonly Prompt[]
  /** of all prompts, in the order an engine reads them */
  readonly texts: readonly PromptText[]
}

/** A request body that is a JSON object. */
export interface PromptBody {
  readonly body: string
  /** the members in front of which others are told apart: an engine's ids and salts, what is asked of the model */
  readonly members: Json
  /** the body's `reprise` field */
  readonly explicit: ExplicitContext | undefined
  /** undefined when the object has another shape than expected: such a body is the engine's to judge */
  readonly set: PromptSet | undefined
}

const formats: Record<PromptApi, PromptFormat> = {
  chat_completions: readChat,
  completions: readCompletions,
  responses: readResponses,
  messages: readMessages,
  generate: readGenerate,
}

/**
 * Reads a request body; undefined when it is JSON but no object. Throws `invalid_body` when it is no JSON, or its
 * `reprise` field breaks the schema.
 */
export function readPromptBody(api: PromptApi, body: string): PromptBody | undefined {
  const members = parseJson(body)
  if (!isObject(members)) return undefined
  const explicit = readExplicitContext(members.reprise)
  const builder = new PromptBuilder()
  if (!formats[api](members, builder)) {
    if (explicit)
      throw new ProxyError('invalid_body', "'reprise' needs a prompt of texts or messages: send them with it.")
    return { body, members, explicit, set: undefined }
  }
  return { body, members, explicit, set: { prompts: builder.prompts, texts: withRawTexts(body, builder.texts) } }
}

/** The body with other texts in place of its own (by place in `texts`) and without the `reprise` field. */
export function writePromptBody({ body, explicit, set }: PromptBody, texts: readonly string[]): string {
  const splices: Splice[] = explicit ? removeMembers(body, valueStart(body), 'reprise') : []
  const spans = new SpanFinder(body)
  for (const [i, { path, text, isRaw }] of (set?.texts ?? []).entries()) {
    const sent = texts[i]!
    if (sent !== text) splices.push({ ...spans.find(path), text: isRaw ? sent : JSON.stringify(sent) })
  }
  return splices.length > 0 ? applySplices(body, splices) : body
}

/** The body with members set: in the place of the one it has, or in front of all others. */
export function setMembers(body: string, members: Readonly<Record<string, string>>): string {
  const start = valueStart(body)
  const present = memberSpans(body, start)
  const splices = Object.entries(members).map(([key, value]) => {
    const span = present.get(key)
    return span ? { ...span, text: JSON.stringify(value) } : insertMember(body, start, key, value)
  })
  return applySplices(body, splices)
}

/** Raw texts are known by their place alone until here. */
function withRawTexts(body: string, texts: readonly PromptText[]): readonly PromptText[] {
  if (!texts.some(({ isRaw }) => isRaw)) return texts
  const spans = new SpanFinder(body)
  return texts.map((text) => {
    if (!text.isRaw) return text
    const { start, end } = spans.find(text.path)
    return { ...text, text: body.slice(start, end) }
  })
}
