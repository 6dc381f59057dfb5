import { isObject, type Json } from '#engine-adapters/json-object.ts'
import type { PromptApi } from '#engine-adapters/prompt-api.ts'
import { ProxyError } from '../errors.ts'
import { insertMembers, removeMembers, SpanFinder, type Splice, valueStart, valuesOf } from '../json/json-spans.ts'
import { parseJson } from '../json/parse-json.ts'
import { type ExplicitContext, readExplicitContext } from './body/explicit-context.ts'
import type { Prompt, PromptText } from './body/prompt.ts'
import { PromptBuilder, type PromptFormat } from './body/prompt-builder.ts'
import { type BodySplice, spliceBody } from './body/splice-body.ts'
import { readChat } from './formats/chat.ts'
import { readCompletions, readGenerate } from './formats/completions.ts'
import { readMessages } from './formats/messages.ts'
import { readResponses } from './formats/responses.ts'

/** The prompts of a body whose shape was recognised. */
export interface PromptSet {
  readonly prompts: readonly Prompt[]
  /** texts of all prompts, in the order an engine reads them */
  readonly texts: readonly PromptText[]
}

/** A request body that is a JSON object. */
export interface PromptBody {
  /** UTF-8 that `json` was decoded from */
  readonly bytes: Buffer
  readonly json: string
  /** finds values in `json` */
  readonly spans: SpanFinder
  /** the parsed object, for members outside the prompt such as `tools` and the response format */
  readonly members: Json
  /** the body's `reprise` field */
  readonly explicit: ExplicitContext | undefined
  /** undefined if the object has an unexpected shape: such a body is left for the engine to judge */
  readonly set: PromptSet | undefined
  /** our own error, if that is why `set` is undefined */
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
 * Reads a UTF-8 request body. Returns undefined if it is JSON but not an object. Throws `invalid_body` if it is not
 * JSON, or if its `reprise` field violates the schema or comes without a readable prompt.
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
      // until here only its path was known
      const { start, end } = spans.find(text.path)
      return { ...text, text: json.slice(start, end) }
    })
    return { set: { prompts: builder.prompts, texts } }
  } catch (fault) {
    // values nested so deeply that JSON.parse reads them but JSON.stringify cannot write them
    return { fault }
  }
}

/** Returns the bytes of a body with splices applied. */
export function writeBody({ bytes, json }: PromptBody, splices: readonly BodySplice[]): Buffer {
  return spliceBody(bytes, json, splices)
}

/**
 * Returns splices that set members. They replace existing ones, including duplicates; new ones go before all others.
 */
export function memberSplices({ json }: PromptBody, members: Readonly<Record<string, unknown>>): BodySplice[] {
  const start = valueStart(json)
  const splices: BodySplice[] = []
  const absent: Record<string, unknown> = {}
  for (const [key, value] of Object.entries(members)) {
    const present = valuesOf(json, start, key)
    if (present.length === 0) absent[key] = value
    for (const span of present) splices.push({ pieces: [JSON.stringify(value)], ...span })
  }
  // inserted as one splice, because the members need commas between them
  return Object.keys(absent).length === 0 ? splices : [toBodySplice(insertMembers(json, start, absent)), ...splices]
}

/** Returns splices that remove the `reprise` field. */
export function explicitSplices({ json, explicit }: PromptBody): BodySplice[] {
  return explicit ? removeMembers(json, valueStart(json), new Set(['reprise'])).map(toBodySplice) : []
}

function toBodySplice({ start, end, text }: Splice): BodySplice {
  return { start, end, pieces: [text] }
}
