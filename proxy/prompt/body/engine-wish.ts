import { insertMembers, type Span, valueStart, valuesOf } from '../../common/json/json-spans.ts'
import type { PromptBody } from './prompt-body.ts'
import type { BodySplice } from './splice-body.ts'

/** How to write a wish into a body: as a new member if there is none of that name, else into the existing ones. */
interface WrittenWish {
  readonly members: Readonly<Record<string, unknown>>
  readonly splices: readonly BodySplice[]
}

/** A wish for an engine's plugin: the field `own` inside `member`, an object that the engine passes on. */
export interface EngineWish {
  readonly member: string
  readonly own: string
  /** undefined: the request wishes nothing itself */
  readonly value?: unknown
  /** fields of `own` that replace what the client has written there */
  readonly set?: Readonly<Record<string, unknown>>
  /** other fields of `member`, unless the client has set them itself */
  readonly also?: Readonly<Record<string, unknown>>
}

/** Writes a wish. A value that the client set itself takes precedence, except over the fields that are to be set. */
export function writeWish(
  { json }: Pick<PromptBody, 'json'>,
  { member, own, value, set, also }: EngineWish,
): WrittenWish {
  const wish = { [own]: set ? { ...(value as object), ...set } : value, ...also }
  const present = valuesOf(json, valueStart(json), member)
  if (present.length === 0) return { members: { [member]: wish }, splices: [] }
  return { members: {}, splices: present.flatMap((span) => mergeInto(json, span, own, wish, set)) }
}

/** Anything other than an object or null is left for the engine to judge. */
function mergeInto(
  json: string,
  { start, end }: Span,
  own: string,
  wish: Record<string, unknown>,
  set: EngineWish['set'],
): BodySplice[] {
  if (json.slice(start, end) === 'null') return [{ pieces: [JSON.stringify(wish)], start, end }]
  if (json[start] !== '{') return []
  const absent = Object.entries(wish).filter(([name]) => valuesOf(json, start, name).length === 0)
  const inserted = absent.length === 0 ? [] : [insert(json, start, Object.fromEntries(absent))]
  const present = valuesOf(json, start, own)
  return [...inserted, ...present.flatMap((span) => (set ? setFields(json, span, set) : []))]
}

/** Sets fields of a client's own object. A field that it has stays in its place, so that no duplicate of it counts. */
function setFields(json: string, { start, end }: Span, set: Readonly<Record<string, unknown>>): BodySplice[] {
  if (json.slice(start, end) === 'null') return [{ pieces: [JSON.stringify(set)], start, end }]
  if (json[start] !== '{') return []
  return Object.entries(set).flatMap(([name, value]) => {
    const present = valuesOf(json, start, name)
    if (present.length === 0) return [insert(json, start, { [name]: value })]
    return present.map((span) => ({ pieces: [JSON.stringify(value)], start: span.start, end: span.end }))
  })
}

function insert(json: string, start: number, members: Readonly<Record<string, unknown>>): BodySplice {
  const inserted = insertMembers(json, start, members)
  return { pieces: [inserted.text], start: inserted.start, end: inserted.end }
}
