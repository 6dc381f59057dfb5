import type { Json } from '#engine-adapters/json-object.ts'
import {
  type FindSpan,
  insertMembers,
  removeMembers,
  type Splice,
  valueStart,
  valuesOf,
} from '../../common/json/json-spans.ts'
import type { Demands } from '../demands/demands.ts'
import type { ExplicitContext } from './explicit-context.ts'
import type { PromptSet } from './prompt.ts'
import { type BodySplice, spliceBody } from './splice-body.ts'

/** A request body that is a JSON object. */
export interface PromptBody {
  /** UTF-8 that `json` was decoded from */
  readonly bytes: Buffer
  readonly json: string
  /** finds values in `json` */
  readonly findSpan: FindSpan
  /** the parsed object, for members outside the prompt such as `tools` and the response format */
  readonly members: Json
  /** what its other members forbid */
  readonly demands: Demands
  /** the body's `reprise` field */
  readonly explicit: ExplicitContext | undefined
  /** undefined if the object has an unexpected shape: such a body is left for the engine to judge */
  readonly set: PromptSet | undefined
  /** our own error, if that is why `set` is undefined */
  readonly fault: unknown
}

/** Returns the bytes of a body with splices applied. */
export function writeBody({ bytes, json }: PromptBody, splices: readonly BodySplice[]): Buffer {
  return spliceBody(bytes, json, splices)
}

/**
 * Returns splices that set members. They replace existing ones, including duplicates; new ones go before all others.
 */
export function memberSplices(body: PromptBody, members: Readonly<Record<string, unknown>>): BodySplice[] {
  const { json } = body
  const start = valueStart(json)
  const splices: BodySplice[] = []
  const absent: Record<string, unknown> = {}
  for (const [key, value] of Object.entries(members)) {
    const present = Object.hasOwn(body.members, key) ? valuesOf(json, start, key) : []
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
