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
  const mergeOwn = (name: string, span: Span): BodySplice[] =>
    name === own && set ? mergeInto(json, span, set, (field, { start, end }) => [toSplice(set[field], start, end)]) : []
  return { members: {}, splices: present.flatMap((span) => mergeInto(json, span, wish, mergeOwn)) }
}

/**
 * Adds members to an object. One that it has stays in its place, so that no duplicate of it counts, with what `merge`
 * changes in its value. Anything other than an object or null is left for the engine to judge.
 */
function mergeInto(
  json: string,
  { start, end }: Span,
  members: Readonly<Record<string, unknown>>,
  merge: (name: string, value: Span) => BodySplice[],
): BodySplice[] {
  if (json.slice(start, end) === 'null') return [toSplice(members, start, end)]
  if (json[start] !== '{') return []
  const [absent, splices]: [Record<string, unknown>, BodySplice[]] = [{}, []]
  for (const [name, value] of Object.entries(members)) {
    const present = valuesOf(json, start, name)
    if (present.length === 0) absent[name] = value
    splices.push(...present.flatMap((span) => merge(name, span)))
  }
  if (Object.keys(absent).length === 0) return splices
  const { text, ...at } = insertMembers(json, start, absent)
  return [{ pieces: [text], ...at }, ...splices]
}

function toSplice(value: unknown, start: number, end: number): BodySplice {
  return { pieces: [JSON.stringify(value)], start, end }
}
