import { insertMembers, type Span, valueStart, valuesOf } from '../../json/json-spans.ts'
import type { PromptBody } from '../prompt-body.ts'
import type { BodySplice } from './splice-body.ts'

/** How a wish gets into a body: as a member, where there is none of that name, else into those there are. */
export interface WrittenWish {
  readonly members: Readonly<Record<string, unknown>>
  readonly splices: readonly BodySplice[]
}

/** A wish of an engine's plugin: `own` within `member`, an object that the engine hands on. */
export interface EngineWish {
  readonly member: string
  readonly own: string
  readonly value: unknown
}

/** Writes a wish; what the client has said there itself goes before it. */
export function writeWish({ json }: PromptBody, { member, own, value }: EngineWish): WrittenWish {
  const wish = { [own]: value }
  const present = valuesOf(json, valueStart(json), member)
  if (present.length === 0) return { members: { [member]: wish }, splices: [] }
  return { members: {}, splices: present.flatMap((span) => mergeInto(json, span, own, wish) ?? []) }
}

/** What is neither an object nor null is the engine's to judge. */
function mergeInto(json: string, span: Span, own: string, wish: Record<string, unknown>): BodySplice | undefined {
  const { start, end } = span
  if (json.slice(start, end) === 'null') return { pieces: [JSON.stringify(wish)], start, end }
  if (json[start] !== '{' || valuesOf(json, start, own).length > 0) return undefined
  const inserted = insertMembers(json, start, wish)
  return { pieces: [inserted.text], start: inserted.start, end: inserted.end }
}
