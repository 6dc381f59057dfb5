import { labelPrefixOf } from '../../prompt/certain-list.ts'
import { type BlockSpan, type ContextList, mostBlocks } from '../../prompt/context-list.ts'
import { findContentEnd, findContentStart } from '../../prompt/scan/find-edges.ts'
import { findPattern, type PartMatch } from './find-pattern.ts'
import type { Template } from './template.ts'

/** Why a list that a template seems to have written is left alone. */
export type TemplateRefusal =
  /** numbers do not count up from 0 or 1 */
  | 'numbers'
  /** the template's literals are within a block, too, or in another place of the text */
  | 'borders'
  /** what the template ends with is missing */
  | 'no_end'
  /** more blocks than any real prompt has */
  | 'too_many'

/** The end of the last block's content, of the block and of the list. */
interface ListTail {
  readonly start: number
  readonly blockEnd: number
  readonly listEnd: number
}

// of several places where a numbered list may begin, more are not tried
const MOST_HEADS = 16

/**
 * Returns the list that a template wrote into a text, with exactly its blocks. Undefined if there is none, or if its
 * borders are not beyond doubt. Takes linear time.
 */
export function cutByTemplate(text: string, template: Template): ContextList | undefined {
  const found = cutOrRefuse(text, template)
  return typeof found === 'string' ? undefined : found
}

/** Does the same, and says why a list is left alone that the template seems to have written. */
export function cutOrRefuse(text: string, template: Template): ContextList | TemplateRefusal | undefined {
  const heads = findHeads(text, template)
  const [first] = heads
  if (first === undefined) return undefined
  const gaps = findPattern(text, template.gap, { from: first.end, most: mostBlocks })
  if (gaps.length === 0) return undefined
  if (gaps.length === mostBlocks) return 'too_many'
  if (gaps.some(({ start }, i) => i > 0 && start < gaps[i - 1]!.end)) return 'borders'
  if (heads.length === 1) return cutFrom(text, template, first, gaps)
  if (template.before === 'given' || heads.length > MOST_HEADS) return 'borders'
  // numbers tell at which of several beginnings the list begins
  const lists = heads.map((head) => cutFrom(text, template, head, gaps)).filter((list) => typeof list === 'object')
  return lists.length === 1 ? lists[0] : 'borders'
}

/** Finds where the list may begin. Without numbers, and with nothing in front of it, that is its first opening. */
function findHeads(text: string, { head, before, beginsLine, isNumbered }: Template): PartMatch[] {
  const from = findContentStart(text, 0, text.length)
  if (head.parts.length === 0) return [{ start: from, end: from, groups: [], number: undefined }]
  const isFirst = true
  if (before === 'start')
    return findPattern(text, head, { from, most: 1, isFirst }).filter(({ start }) => start === from)
  if (before === 'given') return findPattern(text, head, { most: 2, isFirst })
  return findPattern(text, head, { most: isNumbered ? MOST_HEADS + 1 : 1, beginsLine, isFirst })
}

function cutFrom(
  text: string,
  template: Template,
  head: PartMatch,
  gaps: readonly PartMatch[],
): ContextList | TemplateRefusal | undefined {
  const behind = gaps.filter(({ start }) => start >= head.end)
  const tail = findTail(text, template, head.end, behind)
  if (typeof tail === 'string') return behind.length === 0 ? undefined : tail
  const own = behind.filter(({ start }) => start < tail.start)
  if (own.length === 0) return undefined
  if (own.at(-1)!.end > tail.start) return 'borders'
  if (head.number && own.some(({ number }, i) => number!.value !== head.number!.value + i + 1)) return 'numbers'
  if (holdsStray(text, template, head.end, own, tail.start)) return 'borders'
  const blocks = toBlocks(text, template, head, own, tail)
  if (blocks === undefined) return 'borders'
  const [first] = blocks as [BlockSpan]
  const end = Math.max(tail.listEnd, blocks.at(-1)!.end)
  return { blocks, positional: first.label !== undefined, labelPrefix: labelPrefixOf(text, first), end }
}

function findTail(
  text: string,
  { tail, after, hasOpen }: Template,
  from: number,
  gaps: readonly PartMatch[],
): ListTail | TemplateRefusal {
  if (tail === undefined) {
    const end = findContentEnd(text, from, text.length)
    return { start: end, blockEnd: end, listEnd: end }
  }
  const toTail = ({ start, groups }: PartMatch): ListTail => ({ start, blockEnd: groups[1]!, listEnd: groups[2]! })
  if (after === 'end') {
    const isLast = ({ end }: PartMatch): boolean => findContentStart(text, end, text.length) === text.length
    const last = findPattern(text, tail, { from }).find(isLast)
    return last ? toTail(last) : 'no_end'
  }
  const isClosing = after === undefined
  const most = isClosing ? gaps.length + 1 : 1
  // where nothing opens a block, the last closing looks like one between two blocks
  const least = isClosing && !hasOpen ? gaps.length : most
  const found = findPattern(text, tail, { from, most: most + 1 })
  if (found.length < least) return 'no_end'
  if (found.length > most) return 'borders'
  // each closing is that of a block
  if (isClosing && gaps.some(({ start }, i) => found[i]!.start !== start)) return 'borders'
  return toTail(found.at(-1)!)
}

/** Returns whether the opening is also where no block begins. */
function holdsStray(
  text: string,
  { stray, beginsLine }: Template,
  from: number,
  gaps: readonly PartMatch[],
  to: number,
): boolean {
  if (stray === undefined) return false
  let next = 0
  for (let at = text.indexOf(stray, from); at >= 0 && at < to; at = text.indexOf(stray, at + 1)) {
    while (next < gaps.length && gaps[next]!.end <= at) next++
    const isOwn = next < gaps.length && gaps[next]!.groups[2] === at
    if (!isOwn && (!beginsLine || text[at - 1] === '\n')) return true
  }
  return false
}

/** Returns the blocks; undefined if one of them would be empty. */
function toBlocks(
  text: string,
  { hasOpen, hasClose }: Template,
  first: PartMatch,
  gaps: readonly PartMatch[],
  tail: ListTail,
): BlockSpan[] | undefined {
  const blocks = [first, ...gaps].map(({ end: from, groups, number }, i): BlockSpan => {
    const next = gaps[i]
    const [to, closing] = next ? [next.start, next.groups[1]!] : [tail.start, tail.blockEnd]
    const contentStart = findContentStart(text, from, to)
    const contentEnd = findContentEnd(text, contentStart, to)
    const span = {
      start: hasOpen ? groups.at(-1)! : contentStart,
      end: hasClose ? closing : contentEnd,
      contentStart,
      contentEnd,
    }
    return number ? { ...span, label: { start: number.start, end: number.end } } : span
  })
  return blocks.every(({ contentStart, contentEnd }) => contentStart < contentEnd) ? blocks : undefined
}
