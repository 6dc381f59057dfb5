import type { ReuseWish } from '#engine-adapters/any-position-reuse.ts'
import { insertMembers, type Span, valueStart, valuesOf } from '../../json-spans.ts'
import type { PromptBody } from '../prompt-body.ts'
import type { BodySplice } from './splice-body.ts'

/** How a wish gets into a body: as a member, where there is none of that name, else into those there are. */
export interface WrittenWish {
  readonly members: Readonly<Record<string, unknown>>
  readonly splices: readonly BodySplice[]
}

/** vLLM hands it to its connectors. */
const member = 'kv_transfer_params'
const own = 'reprise'

/** Writes what a request wishes of reuse at any position; what the client has said there itself goes before it. */
export function writeReuseWish({ json }: PromptBody, reuse: ReuseWish): WrittenWish {
  const wish = { [own]: { reuse } }
  const present = valuesOf(json, valueStart(json), member)
  if (present.length === 0) return { members: { [member]: wish }, splices: [] }
  return { members: {}, splices: present.flatMap((span) => mergeInto(json, span, wish) ?? []) }
}

/** What is neither an object nor null is the engine's to judge. */
function mergeInto(json: string, span: Span, wish: Record<string, unknown>): BodySplice | undefined {
  const { start, end } = span
  if (json.slice(start, end) === 'null') return { pieces: [JSON.stringify(wish)], start, end }
  if (json[start] !== '{' || valuesOf(json, start, own).length > 0) return undefined
  const inserted = insertMembers(json, start, wish)
  return { pieces: [inserted.text], start: inserted.start, end: inserted.end }
}
