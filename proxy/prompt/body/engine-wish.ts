import { insertMembers, type Span, valueStart, valuesOf } from '../../json/json-spans.ts'
import type { PromptBody } from './prompt-body.ts'
import type { BodySplice } from './splice-body.ts'

/** How to write a wish into a body: as a new member if there is none of that name, else into the existing ones. */
export interface WrittenWish {
  readonly members: Readonly<Record<string, unknown>>
  readonly splices: readonly BodySplice[]
}

/** A wish for an engine's plugin: the field `own` inside `member`, an object that the engine passes on. */
export interface EngineWish {
  readonly member: string
  readonly own: string
  readonly value: unknown
}

/** Writes a wish. A value that the client set itself takes precedence. */
export function writeWish({ json }: PromptBody, { member, own, value }: EngineWish): WrittenWish {
  const wish = { [own]: value }
  const present = valuesOf(json, valueStart(json), member)
  if (present.length === 0) return { members: { [member]: wish }, splices: [] }
  return { members: {}, splices: present.flatMap((span) => mergeInto(json, span, own, wish) ?? []) }
}

/** Anything other than an object or null is left for the engine to judge. */
function mergeInto(json: string, span: Span, own: string, wish: Record<string, unknown>): BodySplice | undefined {
  const { start, end } = span
  if (json.slice(start, end) === 'null') return { pieces: [JSON.stringify(wish)], start, end }
  if (json[start] !== '{' || valuesOf(json, start, own).length > 0) return undefined
  const inserted = insertMembers(json, start, wish)
  return { pieces: [inserted.text], start: inserted.start, end: inserted.end }
}
