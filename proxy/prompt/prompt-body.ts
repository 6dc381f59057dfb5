import type { PromptApi } from '#engine-adapters/prompt-api.ts'
import { ProxyError } from '../errors.ts'
import { insertMembers, removeMembers, SpanFinder, type Splice, valueStart, valuesOf } from '../json/json-spans.ts'
import { parseJson } from '../json/parse-json.ts'
import { type ExplicitContext, readExplicitContext } from './body/explicit-context.ts'
import type { Prompt, PromptText } from './body/prompt.ts'
import { isObject, type Json, PromptBuilder, type PromptFormat } from './body/prompt-builder.ts'
import { type BodySplice, spliceBody } from './body/splice-body.ts'
import { readChat } from './formats/chat.ts'
import { readCompletions, readGenerate } from './formats/completions.ts'
import { readMessages } from './formats/messages.ts'
import { readResponses } from './formats/responses.ts'

/** The prompts of a body that was understood. */
export interface PromptSet {
  readonly prompts: readonly Prompt[]
  /** of all prompts, in the order an engine reads them */
  readonly texts: readonly PromptText[]
}

/** A request body that is a JSON object. */
export interface PromptBody {
  /** UTF-8, what `json` was read from */
  readonly bytes: Buffer
  readonly json: string
  /** finds values in `json` */
  readonly spans: SpanFinder
  /** the members in front of which others are told apart: an engine's ids and salts, what is asked of the model */
  readonly members: Json
  /** the body's `reprise` field */
  readonly explicit: ExplicitContext | undefined
  /** undefined when the object has another shape than expected: such a body is the engine's to judge */
  readonly set: PromptSet | undefined
  /** a fault of ours, if that is why */
  readonly fault: unknown
}

const formats: Record<PromptApi, PromptFormat> = {
  chat_completions: readChat,
  completions: readCompletions,
  responses: readResponses,
  messages: readMessages,
  generate: readGenerate,
}

/**
 * Reads a request body, which is UTF-8; undefined when it is JSON but no object. Throws `invalid_body` when it is no
 * JSON, or its `reprise` field breaks the schema.
 */
export function readPromptBody(api: PromptApi, bytes: Buffer): PromptBody | undefined {
  const json = bytes.toString()
  const members = parseJson(json)
  if (!isObject(members)) return undefined
  const spans = new SpanFinder(json)
  const explicit = readExplicitContext(members.reprise)
  const read = readSet(api, json, members, spans)
  if (explicit && !read.set)
    throw new ProxyError('invalid_body', "'reprise' needs a prompt of texts or messages: send them with it.")
  return { bytes, json, spans, members, explicit, set: read.set, fault: read.fault }
}

function readSet(
  api: PromptApi,
  json: string,
  members: Json,
  spans: SpanFinder,
): Partial<Pick<PromptBody, 'set' | 'fault'>> {
  try {
    const builder = new PromptBuilder()
    if (!formats[api](members, builder)) return {}
    const texts = builder.texts.map((text) => {
      if (!text.isRaw) return text
      // it is known by its place alone until here
      const { start, end } = spans.find(text.path)
      return { ...text, text: json.slice(start, end) }
    })
    return { set: { prompts: builder.prompts, texts } }
  } catch (fault) {
    // values nested so deeply that JSON.parse reads them and JSON.stringify cannot write them
    return { fault }
  }
}

/** A body with splices applied, as bytes. */
export function writeBody({ bytes, json }: PromptBody, splices: readonly BodySplice[]): Buffer {
  return spliceBody(bytes, json, splices)
}

/** Splices that set members: in the place of the ones there are, duplicates too, or in front of all others. */
export function memberSplices({ json }: PromptBody, members: Readonly<Record<string, unknown>>): BodySplice[] {
  const start = valueStart(json)
  const splices: BodySplice[] = []
  const absent: Record<string, unknown> = {}
  for (const [key, value] of Object.entries(members)) {
    const present = valuesOf(json, start, key)
    if (present.length === 0) absent[key] = value
    for (const span of present) splices.push({ pieces: [JSON.stringify(value)], ...span })
  }
  // as one: commas part them from each other, too
  return Object.keys(absent).length === 0 ? splices : [toBodySplice(insertMembers(json, start, absent)), ...splices]
}

/** Splices that take the `reprise` field out. */
export function explicitSplices({ json, explicit }: PromptBody): BodySplice[] {
  return explicit ? removeMembers(json, valueStart(json), new Set(['reprise'])).map(toBodySplice) : []
}

function toBodySplice({ start, end, text }: Splice): BodySplice {
  return { start, end, pieces: [text] }
}
