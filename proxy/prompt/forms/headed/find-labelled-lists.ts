import { groupBy } from '#index/group-by.ts'
import { findClosing } from '../../borders/list-closings.ts'
import { type BlockSpan, type ContextList, mostBlocks } from '../../context-list.ts'
import { readHeading } from '../../judge/read-evidence.ts'
import { findContentStart, findIndexFrom } from '../../scan/find-edges.ts'
import { findOwn, type Region, readOutsideFences, startsIn } from '../../scan/find-elements.ts'
import { readLineNotes } from '../../scan/find-line-notes.ts'
import type { Marks } from '../../scan/find-marks.ts'
import type { Label } from '../../scan/labels/label.ts'
import { findLastEnd, type LastBlock, readEnding, readLastBlock, type Surroundings } from './last-block.ts'

interface Labelled extends Surroundings {
  readonly forms: ReadonlyMap<string, readonly Label[]>
}

/** Finds the lists whose blocks begin with a label at the beginning of a line of this region. */
export function findLabelledLists(marks: Marks, region: Region): ContextList[] {
  const labels = findOwn(marks.labels, region)
  const forms = groupBy(labels, ({ form }) => form)
  if (forms.size === labels.length) return []
  const refused = new Set([...forms.keys()].filter((form) => forms.get(form)!.length > mostBlocks))
  if (refused.size === forms.size) return []
  const labelled = { marks, region, lines: readLineNotes(marks.text, region), forms }
  const lists: ContextList[] = []
  // fences before a list hide labels; fences inside its blocks are content
  readOutsideFences(marks, region, labels, (label) => {
    const list = refused.has(label.form) ? undefined : readList(labelled, label)
    if (list === undefined) refused.add(label.form)
    else if (!isNotes(marks.text, label, list.blocks)) lists.push(list)
    return list?.end ?? label.start
  })
  return lists
}

function readList(labelled: Labelled, first: Label): ContextList | undefined {
  const { marks, region } = labelled
  const run = findRun(labelled, first)
  if (run === undefined) return undefined
  const { positional, last } = run
  const { labels } = last
  if (!areAlike(labels)) return undefined
  // blocks inside and outside an element do not belong to one list
  if (findClosing(marks, first.start, first.end, labels.at(-1)!.start) !== undefined) return undefined
  const { holdsQuestion, ends, endsInHeading, doubled } = last.interior
  if (!region.container && holdsQuestion) return undefined
  // blocks from another source stay separate, as does the line that announces them
  if (endsInHeading || doubled) return undefined
  const end = findLastEnd(last)
  if (end === undefined) return undefined
  return {
    blocks: labels.map((label, i) => toBlock(marks.text, label, ends[i] ?? end.block)),
    positional,
    labelPrefix: first.prefix,
    end: end.list,
    form: first.keys === undefined ? (first.bare ? 'number' : 'label') : 'record',
    weight: first.isWeak ? 'weak' : 'strong',
    inContainer: region.isKin && (!first.isWeak || startsIn(marks.text, region, first)),
  }
}

/** Returns whether there are several. Records with other fields between them would be merged with them. */
function areAlike(labels: readonly Label[]): boolean {
  return labels.length > 1 && labels.every(({ keys }) => keys === labels[0]!.keys)
}

/** Labels of one form that may begin the blocks of one list. */
interface LabelRun {
  readonly positional: boolean
  readonly last: LastBlock
}

/** Returns the run that this label begins. Undefined if it is unclear which labels of its form belong to one list. */
function findRun(labelled: Labelled, first: Label): LabelRun | undefined {
  const labels = labelled.forms.get(first.form)!
  const from = findIndexFrom(labels, first.start)
  const to = findCountEnd(labels, from)
  if (to > from && to < labels.length) {
    const counted = toRun(labelled, labels.slice(from, to), true, labels[to]!.start)
    // it certainly ends before the next label, which is no part of its last block: the count does not go on behind it
    const isWhole = labels[findCountEnd(labels, to)]?.number !== labels[to - 1]!.number! + 1
    if (isWhole && readEnding(counted.last).certain !== undefined) return counted
  }
  // numbers that count up and then jump or repeat are two lists, or one list with a document that holds such a label
  if (to < labels.length && (first.bare || to - from > 1)) return undefined
  return toRun(labelled, labels.slice(from), to === labels.length, labelled.region.end)
}

function toRun(labelled: Labelled, labels: readonly Label[], positional: boolean, limit: number): LabelRun {
  return { positional, last: readLastBlock(labelled, labels, limit) }
}

// returns the index after the labels that count up from 0 or 1
function findCountEnd(labels: readonly Label[], from: number): number {
  const first = labels[from]!.number
  if (first === undefined || first > 1) return from
  let at = from + 1
  while (at < labels.length && labels[at]!.number === first + at - from) at++
  return at
}

/** Returns whether a numbered list is a text's notes: it is below a heading for notes, or consists only of links. */
function isNotes(text: string, first: Label, blocks: readonly BlockSpan[]): boolean {
  if (!first.bare) return false
  // under a heading like references or sources, sentences are material, not notes
  return (
    isLinks(text, blocks) ||
    (BIBLIOGRAPHY.test(readHeading(text, first.start)) && !blocks.every((block) => isTold(text, block)))
  )
}

// the heading of a text's notes; sources may have such a heading too
const BIBLIOGRAPHY =
  /^\s*(?:#{1,6}\s+|\*\*|={1,6}\s*)?(?:\d{1,2}\.?\s+)?(?:references|bibliography|works cited|literature(?: cited)?|foot ?notes|end ?notes|notes|citations|further reading|see also|quellen|quellenverzeichnis|literatur|literaturverzeichnis|fußnoten|références|bibliographie|referencias|bibliografía|notas|参考文献|参考资料|注释)\s*[:：]?\s*(?:\*\*|={1,6})?[:：]?$/i

// bibliographic details: a year, an address, pages
const NOTE = /https?:|\bdoi\b|\bet al\b|\bpp?\.|\bvol\.|\bisbn\b|[(,，] ?(?:19|20)\d\d\b|\[[A-Z]\]/i
const TOLD = /\p{L}+[ \t]+\p{L}+[ \t]+\p{L}+[^\n]*[.!?]|[\p{Script=Han}\p{Script=Hiragana}]{6,}[^\n]*[。！？]/u

function isTold(text: string, { contentStart, contentEnd }: BlockSpan): boolean {
  const words = text.slice(contentStart, Math.min(contentEnd, contentStart + 400))
  return TOLD.test(words) && !NOTE.test(words)
}

// links that a text cites as [1] and [2]
const LINK = /^(?:[-–] ?)?[<[]?https?:\/\/\S+[^\n]{0,80}$/
const LONGEST_LINK = 2_000

function isLinks(text: string, blocks: readonly BlockSpan[]): boolean {
  return blocks.every(
    ({ contentStart: start, contentEnd: end }) => end - start < LONGEST_LINK && LINK.test(text.slice(start, end)),
  )
}

function toBlock(text: string, { start, end: labelEnd, idStart, idEnd, keys }: Label, end: number): BlockSpan {
  // the fields of a record are part of its content
  const contentStart = keys === undefined ? findContentStart(text, labelEnd, end) : start
  const span = { start, end, contentStart, contentEnd: end }
  return idStart === idEnd ? span : { label: { start: idStart, end: idEnd }, ...span }
}
