import type { Span } from '../../json/json-spans.ts'
import { isSpace } from './find-edges.ts'
import type { JsonMember } from './find-json-value.ts'
import type { Tag } from './find-tags.ts'
import { readAttributes } from './find-tags.ts'
import { isRankingField } from './words/field-names.ts'

/**
 * A field of a block that only ranks it, such as `"score": 0.91`. The span is what is removed when the field is cut
 * out.
 */
export interface RankField extends Span {
  /** the name as written, preceded by the names of the enclosing objects */
  readonly name: string
  /** as written, without quotes */
  readonly value: string
}

// a number, with or without quotes; words may say more than how well a text fits
const NUMBER = /^-?\d{1,12}(?:\.\d{1,30})?(?:e[+-]?\d{1,3})?[ \t]?%?$/i
const LONGEST_VALUE = 48

// a substring of every such field name
const MAY_RANK =
  /score|simil|distan|relev|certain|rank|puntuac|pontua|punteggio|ähnlich|pertinen|分|度|スコア|점수|релев|оцен/i

// maximum depth of fields in a result: `metadata.score`
const MOST_DEPTH = 3

/** Returns the fields of a JSON object that only rank it. Empty if its members cannot be told apart. */
export function findRankMembers(
  text: string,
  members: ReadonlyMap<string, JsonMember>,
  label: Span | undefined,
): RankField[] {
  return findMembers(text, members, '', label, 0)
}

function findMembers(
  text: string,
  members: ReadonlyMap<string, JsonMember>,
  path: string,
  label: Span | undefined,
  depth: number,
): RankField[] {
  const all = [...members]
  const values = all.map(([name, member]) => {
    const isLabel = label !== undefined && label.start >= member.start && label.end <= member.end
    return isLabel || !isRankingField(name) ? undefined : toValue(text, member)
  })
  const nested = all.flatMap(([name, { members: inner }]) =>
    inner === undefined || depth === MOST_DEPTH ? [] : findMembers(text, inner, `${path}${name}.`, label, depth + 1),
  )
  if (values.every((value) => value === undefined) || !areAdjacent(text, all)) return nested
  const kept = values.indexOf(undefined)
  const own = all.flatMap(([name, { keyStart, end }], i): RankField[] => {
    const value = values[i]
    if (value === undefined) return []
    // one comma is removed with it: the one before it, or the one after it if no earlier member is kept
    const isFirst = kept < 0 || i < kept
    const next = all[i + 1]?.[1].keyStart ?? end
    const span = isFirst ? { start: keyStart, end: next } : { start: all[i - 1]![1].end, end }
    return [{ name: path + name, value, ...span }]
  })
  return [...own, ...nested]
}

/** Returns whether there is only a comma between these. A duplicate name has just one member. */
function areAdjacent(text: string, members: readonly (readonly [string, JsonMember])[]): boolean {
  return members.every(([, { keyStart }], i) => {
    const before = members[i - 1]?.[1].end
    return before === undefined || (before < keyStart && text.slice(before, keyStart).trim() === ',')
  })
}

/** Returns the attributes of a tag that only rank its element. */
export function findRankAttributes(text: string, tag: Tag, label: Span | undefined): RankField[] {
  // most tags have no attribute except their label
  if (!MAY_RANK.test(text.slice(tag.start, tag.end))) return []
  return readAttributes(text, tag).flatMap(({ name, start, valueStart, valueEnd, end }): RankField[] => {
    if (label?.start === valueStart || !isRankingField(name)) return []
    const value = toNumber(text, valueStart, valueEnd)
    return value === undefined ? [] : [{ name, value, start: findSpace(text, start), end }]
  })
}

/** Returns where the whitespace before an attribute begins, which is removed with it. */
function findSpace(text: string, start: number): number {
  let at = start
  while (isSpace(text.charCodeAt(at - 1))) at--
  return at
}

function toValue(text: string, { start, end }: JsonMember): string | undefined {
  const quotes = text[start] === '"' ? 1 : 0
  return toNumber(text, start + quotes, end - quotes)
}

function toNumber(text: string, start: number, end: number): string | undefined {
  if (end - start > LONGEST_VALUE) return undefined
  const value = text.slice(start, end)
  return NUMBER.test(value) ? value : undefined
}
