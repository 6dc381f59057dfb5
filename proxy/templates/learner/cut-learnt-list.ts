import { commonStart } from '#index/common-edges.ts'
import type { Span } from '../../common/json/json-spans.ts'
import { type CertainList, labelPrefixOf, toLabels, toSpans } from '../../prompt/certain-list.ts'
import { type BlockSpan, type ContextList, mostBlocks } from '../../prompt/context-list.ts'
import { findContentEnd, findContentStart } from '../../prompt/scan/find-edges.ts'
import { countGaps, findGaps, type Gap } from './gaps/find-gaps.ts'
import { type LearntTemplate, number, type TemplateEnd } from './learnt-template.ts'

/** Share of the separators found that must be those of the list; others stand in the text around it. */
const leastInList = 0.6
/** A number in an attribute, by which a block is called like by one in brackets. */
const ATTRIBUTE = /^<[A-Za-z]{1,20}\s[^<>]{0,200}=["']$/
/** What may close a block in front of the next block's number; words of ours go behind it. */
const CLOSING = /^\s*(?:<\/[\w:.-]{1,60}>)?/

/**
 * Cuts a text at the borders of a template. Undefined if anything is not as the template has it, if there are fewer than
 * two documents, or if they are numbered such that citations cannot be mapped. Takes linear time.
 */
export function cutLearntList(text: string, template: LearntTemplate): CertainList | undefined {
  const list = cut(text, template)
  if (list === undefined) return undefined
  const borders = { chunks: [], spans: toSpans(list), labels: toLabels(list.blocks) }
  return { ...list, certain: { by: 'learnt', learntKey: template.key, ...borders } }
}

function cut(text: string, template: LearntTemplate): ContextList | undefined {
  const list = findDocuments(text, template)
  if (list === undefined) return undefined
  const blocks = list.documents.map(({ start, end }): BlockSpan => {
    const contentStart = findContentStart(text, start, end)
    return { start, end, contentStart, contentEnd: findContentEnd(text, contentStart, end) }
  })
  if (blocks.length < 2 || !blocks.every(({ contentStart, contentEnd }) => contentStart < contentEnd)) return undefined
  const end = endOf(text, blocks.at(-1)!, template)
  if (!template.gap.numbers.includes('up')) return { blocks, positional: false, labelPrefix: '', end }
  const labelled = addLabels(text, blocks, list.gaps, template)
  if (labelled === undefined) return undefined
  return { blocks: labelled, positional: true, labelPrefix: labelPrefixOf(text, labelled[0]!), end }
}

interface Documents {
  readonly documents: readonly Span[]
  readonly gaps: readonly Gap[]
}

function findDocuments(text: string, template: LearntTemplate): Documents | undefined {
  const { gap, open, end } = template
  // without its ends, a separator in the question would be taken for one of the list; numbers tell where a list begins
  if (end === undefined || (open === undefined && !gap.numbers.includes('up')) || text.includes(number))
    return undefined
  const found = findGaps(text, gap, mostBlocks)
  const isOdd =
    found.length >= mostBlocks ||
    gap.checks.some(({ pattern, more }) => countGaps(text, pattern) !== found.length + more)
  const gaps = isOdd ? undefined : chooseGaps(found, template)
  if (gaps === undefined) return undefined
  const first = open === undefined ? undefined : findOpen(text, open, gaps[0]!.start)
  const last = findEnd(text, end, gaps.at(-1)!.end)
  if (first === -1 || last === -1) return undefined
  // others may stand before the list and behind it, where it is known to begin and to end
  const own = new Set(gaps)
  if (found.some((one) => !own.has(one) && one.end > (first ?? 0) && one.start < last)) return undefined
  const documents = between(gaps, first, last)
  if (open?.isBesideGap && documents.shift()!.end !== first) return undefined
  if (end.isBesideGap && documents.pop()?.start !== last) return undefined
  return documents.every((own) => own.start < own.end) ? { documents, gaps } : undefined
}

/** What is between separators, in front of the first if `first` is where that begins, and behind the last. */
function between(gaps: readonly Gap[], first: number | undefined, last: number): Span[] {
  const starts = [...(first === undefined ? [] : [first]), ...gaps.map(({ end }) => end)]
  const ends = [...gaps.slice(first === undefined ? 1 : 0).map(({ start }) => start), last]
  return starts.map((start, i) => ({ start, end: ends[i]! }))
}

/** The separators of the list: those that count up by one, if they have a number that does. */
function chooseGaps(found: readonly Gap[], { gap }: LearntTemplate): readonly Gap[] | undefined {
  const up = gap.numbers.flatMap((kind, i) => (kind === 'up' ? [i] : []))
  if (found.length === 0) return undefined
  if (up.length === 0) return found
  const runs: Gap[][] = []
  for (const one of found) {
    const before = runs.at(-1)?.at(-1)
    if (before !== undefined && up.every((i) => one.numbers[i] === before.numbers[i]! + 1)) runs.at(-1)!.push(one)
    else runs.push([one])
  }
  const longest = runs.reduce((best, run) => (run.length > best.length ? run : best))
  const isBegin = up.every((i) => longest[0]!.numbers[i] === gap.first[i])
  return isBegin && longest.length >= leastInList * found.length ? longest : undefined
}

/** Returns where the first document begins, -1 if that is not certain. */
function findOpen(text: string, { kind, text: open }: TemplateEnd, limit: number): number {
  if (kind === 'whole') return open.length <= limit && text.startsWith(open) ? open.length : -1
  const at = text.lastIndexOf(open, limit - open.length)
  return at < 0 || text.indexOf(open) !== at ? -1 : at + open.length
}

/** Returns where the last document ends, -1 if that is not certain. */
function findEnd(text: string, { kind, text: end }: TemplateEnd, from: number): number {
  const whole = text.length - end.length
  if (kind === 'whole') return whole >= from && text.endsWith(end) ? whole : -1
  const at = text.indexOf(end, from)
  return at < 0 || text.indexOf(end, at + 1) >= 0 ? -1 : at
}

/** Returns where the list ends: behind what closes its last block, if that is a tag. */
function endOf(text: string, { end }: BlockSpan, { gap, end: behind }: LearntTemplate): number {
  if (behind === undefined) return end
  const closing = behind.text.slice(0, commonStart([gap.pattern, behind.text]))
  const [tag] = CLOSING.exec(closing)!
  return tag.trim() === '' ? end : Math.min(end + tag.length, text.length)
}

/** Adds the number in front of each document; undefined if it is not in front of each in the same way. */
function addLabels(
  text: string,
  blocks: readonly BlockSpan[],
  gaps: readonly Gap[],
  { gap, open }: LearntTemplate,
): BlockSpan[] | undefined {
  if (gap.kept === 'before') return undefined
  const index = gap.numbers.lastIndexOf('up')
  const counted = gaps.map(({ start, places }) => ({ from: start, place: places[index]! }))
  if (open !== undefined) {
    const [, digits, rest] = /(\d+)(\D{0,40})$/.exec(open.text) ?? []
    if (digits === undefined) return undefined
    const behind = blocks[0]!.start - rest!.length
    counted.unshift({ from: 0, place: { start: behind - digits.length, end: behind } })
  }
  const lines = counted.map(({ from, place }) => {
    // a closing in front of the number belongs to the document before it; a number that begins no line may be that one's
    const closed = from + CLOSING.exec(text.slice(from, place.start))![0].length
    const start = Math.max(closed, text.lastIndexOf('\n', place.start - 1) + 1)
    const isApart = from === 0 || (text.slice(closed, start).trim() === '' && /[\n>]/.test(text.slice(from, start)))
    return { isApart, start, place, front: text.slice(start, place.start) }
  })
  const { front } = lines[1]!
  // what stands in front of the list may be on the line of its first label
  if (lines[0]!.front.endsWith(front)) lines[0] = { ...lines[0]!, start: lines[0]!.place.start - front.length, front }
  const backs = lines.map(({ place }, i) => text.slice(place.end, blocks[i]!.start))
  const [back] = backs as [string]
  const first = Number(text.slice(lines[0]!.place.start, lines[0]!.place.end))
  // only these are mapped back in answers
  const isMapped =
    (front.endsWith('[') && back.startsWith(']')) ||
    (front.endsWith('(') && back.startsWith(')')) ||
    (ATTRIBUTE.test(front) && back.startsWith(front.at(-1)!)) ||
    labelPrefixOf(text, { start: lines[0]!.start, label: lines[0]!.place }) !== ''
  const isCounting = lines.every(
    (own, i) =>
      own.isApart &&
      own.front === front &&
      backs[i] === back &&
      text.slice(own.place.start, own.place.end) === `${first + i}`,
  )
  if (!isMapped || !isCounting || first > 1) return undefined
  return lines.map(({ start, place }, i) => ({ ...blocks[i]!, start, label: place }))
}
