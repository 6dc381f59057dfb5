import type { Span } from '../../common/json/json-spans.ts'
import { literalOf, type PartPattern, placeNumber, type TemplatePart } from './template.ts'

/** A place where a pattern fits a text. */
export interface PartMatch extends Span {
  /** where each of its groups begins */
  readonly groups: readonly number[]
  /** the number in it, and its value */
  readonly number: (Span & { readonly value: number }) | undefined
}

interface Search {
  /** where the first match begins at the earliest */
  readonly from?: number
  readonly most?: number
  /** only at the beginning of a line */
  readonly beginsLine?: boolean
  /** only with the number 0 or 1, if it has one */
  readonly isFirst?: boolean
}

// longer numbers count no blocks, and `07` would not keep its form when counted up
const NUMBER = /(?:0|[1-9]\d{0,5})(?!\d)/y

/** Finds where a pattern fits a text, in order and in linear time; places may overlap. */
export function findPattern(text: string, pattern: PartPattern, search: Search = {}): PartMatch[] {
  const { from = 0, most = Number.POSITIVE_INFINITY, beginsLine = false, isFirst = false } = search
  const first = literalOf(pattern.parts[0])
  if (first === '') throw new Error('a pattern has to begin with a literal')
  // what follows its white space is rarer
  const rare = first.trimStart() || first
  const lead = first.length - rare.length
  const match = matcherOf(text, pattern)
  const matches: PartMatch[] = []
  for (let at = text.indexOf(rare, from + lead); at >= 0; at = text.indexOf(rare, at + 1)) {
    const start = at - lead
    if (beginsLine && start > 0 && text[start - 1] !== '\n') continue
    const found = match(start)
    if (found && !(isFirst && found.number && found.number.value > 1)) matches.push(found)
    if (matches.length >= most) break
  }
  return matches
}

/** Returns what matches a pattern at a place; places may only rise. */
function matcherOf(text: string, { parts, groups }: PartPattern): (start: number) => PartMatch | undefined {
  const steps = parts.map((part, i) => stepOf(text, part, literalOf(parts[i + 1])))
  const counted = parts.indexOf(placeNumber)
  const numberAt = (from: number, to: number) => ({ start: from, end: to, value: Number(text.slice(from, to)) })
  return (start) => {
    const places = [start]
    let end = start
    for (const step of steps) {
      end = step(end)
      if (end < 0) return undefined
      places.push(end)
    }
    const begins: number[] = []
    for (const { part, offset } of groups) begins.push(places[part]! + offset)
    return {
      start,
      end,
      groups: begins,
      number: counted < 0 ? undefined : numberAt(places[counted]!, places[counted + 1]!),
    }
  }
}

/** Returns what finds where a part ends that begins at a place: -1 if it does not. `next`: the literal behind it, if there is one. */
function stepOf(text: string, part: TemplatePart, next: string): (at: number) => number {
  if (typeof part === 'string') return (at) => (text.startsWith(part, at) ? at + part.length : -1)
  if (part === placeNumber) {
    return (at) => {
      NUMBER.lastIndex = at
      return NUMBER.test(text) ? NUMBER.lastIndex : -1
    }
  }
  const lineEnd = nextOf(text, '\n')
  if (next === '') return lineEnd
  const nextLiteral = nextOf(text, next)
  return (at) => {
    const end = nextLiteral(at)
    return end < text.length && end <= lineEnd(at) ? end : -1
  }
}

/** Returns what finds the next place of a word, the length of the text if there is none. Searches no stretch twice. */
function nextOf(text: string, word: string): (from: number) => number {
  let known = -1
  return (from) => {
    if (known < from) known = text.indexOf(word, from)
    if (known < 0) known = text.length
    return known
  }
}
