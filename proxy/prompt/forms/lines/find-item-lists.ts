import { mayGoOn } from '../../borders/find-list-tail.ts'
import type { BlockSpan, ContextList } from '../../context-list.ts'
import { readCue } from '../../scan/find-cue-line.ts'
import { findContentEnd, findContentStart, findIndexFrom, findLineEnd } from '../../scan/find-edges.ts'
import type { Region } from '../../scan/find-elements.ts'
import { FenceWalk } from '../../scan/find-fences.ts'
import type { Marks } from '../../scan/find-marks.ts'
import { readFields } from '../../scan/labels/find-record-head.ts'
import { isRunning } from '../../scan/labels/label.ts'
import { announcingPlurals } from '../../scan/words/vocabulary.ts'
import { findOwn } from '../find-own.ts'
import { type Bullet, readBullet } from './read-bullet.ts'

// words saying that texts were searched for; required documents, sources of a river and chapters are also listed
const RETRIEVED =
  /(?:^|[^\p{L}])(?:retrieved|relevant|related|matching|search|found|snippets?|excerpts?|passages?|chunks?|gefunden\w*|relevante\w*|pertinents?|recuperad\w*|encontrad\w*)(?:$|[^\p{L}])|检索|相关|片段|検索|関連|검색/iu
const SET = new RegExp(announcingPlurals, 'iu')
// beginnings of rules and parameters
const GUIDING =
  /^(?:[`{<[(]|\*\*|(?:always|never|only|use|call|check|run|read|write|avoid|must|should|do|make|prefer|ensure|when|if)\b)/i
// bibliographic details
const NOTE = /https?:|\bdoi\b|\bet al\b|\bpp\.|\bvol\.|\bisbn\b|[(,] ?(?:19|20)\d\d\b/i
const SENTENCE =
  /\p{L}+[ \t]+\p{L}+[ \t]+\p{L}+[^\n]*[.!?…]["'”’)]?$|[\p{Script=Han}\p{Script=Hiragana}]{6,}[。！？]?$/u
// `(extracted from a.md)`, at the end of a text
const SOURCE =
  / \((?:(?:extracted |retrieved |taken )?from|source:|file:|aus|quelle:|extrait de|fuente:) ?[^()\n]{1,160}\)$/i
const SHORTEST_ITEM = 40
const LONGEST_HEADING = 200

interface Run {
  readonly items: readonly BlockSpan[]
  readonly end: number
}

/** Finds list items below a line that says they were retrieved. Each item is one text, or the YAML fields of one. */
export function findItemLists(marks: Marks, region: Region): ContextList[] {
  const bullets = findOwn(marks.bullets, region)
  if (bullets.length < 2) return []
  const { text } = marks
  const fences = new FenceWalk(findOwn(marks.fences, region), region.start)
  const lists: ContextList[] = []
  let at = region.start
  for (const { start: line } of bullets) {
    if (line < at) continue
    const heading = headingOf(text, region, line)
    if (heading === undefined) continue
    at = fences.pass(at, line, region.end)
    const bullet = at > line ? undefined : readBullet(text, line)
    if (bullet === undefined) continue
    const limit = Math.min(region.end, region.elements[findIndexFrom(region.elements, line)]?.start ?? region.end)
    const { items, end } = readRun(text, line, bullet, limit)
    at = Math.max(end, line + 1)
    if (items.length > 1 && areTexts(text, heading, items) && endsHere(marks, items, end, limit))
      lists.push(toList(text, items, end))
  }
  return lists
}

/** Reads consecutive bullets like the first one, with the lines indented below them. */
function readRun(text: string, first: number, { form, indent }: Bullet, limit: number): Run {
  const items: BlockSpan[] = []
  let end = first
  for (let line = first; line < limit; line = findLineEnd(text, line) + 1) {
    const lineEnd = Math.min(findLineEnd(text, line), limit)
    const content = findContentStart(text, line, lineEnd)
    if (content === lineEnd) continue
    const bullet = readBullet(text, line)
    const previous = items.at(-1)
    if (bullet?.form === form) {
      end = findContentEnd(text, line, lineEnd)
      const label = bullet.label && { label: bullet.label }
      items.push({ start: content, end, contentStart: bullet.end, contentEnd: end, ...label })
    } else if (previous !== undefined && content - line > indent) {
      end = findContentEnd(text, line, lineEnd)
      items[items.length - 1] = { ...previous, end, contentEnd: end }
    } else break
  }
  return { items, end }
}

/** Returns whether the last item certainly ends here, and no further item follows a paragraph that may belong to it. */
function endsHere(marks: Marks, items: readonly BlockSpan[], end: number, limit: number): boolean {
  const { text } = marks
  const next = findContentStart(text, end, limit)
  if (next === limit) return true
  const isBehindBlank = text.slice(end, next).split('\n').length > 2
  const line = text.lastIndexOf('\n', next - 1) + 1
  if (!isBehindBlank) return readCue(text, line) !== undefined || '<#'.includes(text[next]!)
  return !mayGoOn(marks, end, limit, { asked: true, enclosed: false }) && !countsOn(text, items, next, limit)
}

/** Returns whether a line in this range begins with the number after that of the last item. */
function countsOn(text: string, items: readonly BlockSpan[], from: number, to: number): boolean {
  const { start, label } = items.at(-1)!
  if (label === undefined) return false
  const following = Number(text.slice(label.start, label.end)) + 1
  const mark = `\n${text.slice(start, label.start)}${following}${text[label.end] ?? ''}`
  const at = text.indexOf(mark, from)
  return at >= 0 && at < to
}

/** Returns the line above a list if it announces several texts. */
function headingOf(text: string, region: Region, line: number): string | undefined {
  const end = findContentEnd(text, region.start, line)
  if (end === region.start || !':：*'.includes(text[end - 1]!)) return undefined
  const start = Math.max(text.lastIndexOf('\n', end - 1) + 1, region.start)
  if (end - start > LONGEST_HEADING) return undefined
  const heading = text.slice(start, end)
  return /[:：](?:\*\*)?$/.test(heading) && SET.test(heading) ? heading : undefined
}

/** Returns whether all items are sentences, or fields with a text, and not notes. */
function areTexts(text: string, heading: string, items: readonly BlockSpan[]): boolean {
  const areRecords = items.every(({ contentStart }) => readFields(text, contentStart)?.kind === 'content')
  if (areRecords) return true
  return RETRIEVED.test(heading) && items.every((item) => isSentence(text, item))
}

function isSentence(text: string, { contentStart, contentEnd }: BlockSpan): boolean {
  if (contentEnd - contentStart < SHORTEST_ITEM) return false
  const words = text.slice(contentStart, Math.min(contentEnd, contentStart + 400))
  const isTold = contentEnd - contentStart > 400 || SENTENCE.test(words) || SOURCE.test(words)
  return isTold && !NOTE.test(words) && !GUIDING.test(words)
}

function toList(text: string, items: readonly BlockSpan[], end: number): ContextList {
  const positional = isRunning(items.map(({ label }) => label && text.slice(label.start, label.end)))
  // numbers that do not count up from the first are the writer's own
  const blocks = positional ? items : items.map(({ label: _, ...item }) => item)
  return { blocks, positional, labelPrefix: '', form: 'items', weight: 'weak', end }
}
