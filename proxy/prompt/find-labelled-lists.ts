import type { BlockSpan, ContextList } from './context-list.ts'
import { findContentEnd, findContentStart } from './find-edges.ts'
import type { Region } from './find-elements.ts'
import { FenceWalk } from './find-fences.ts'
import { findRun, type LabelledRegion, type LabelRun } from './find-label-run.ts'
import type { Label } from './find-labels.ts'
import { findLastRule, readLineNotes } from './find-line-notes.ts'
import {
  findClosing,
  findEnding,
  findOpeningRule,
  hasQuestionBefore,
  type Interior,
  readInterior,
} from './find-list-end.ts'
import { isNoContext } from './find-list-heading.ts'
import type { Marks } from './find-marks.ts'
import { findOwn } from './find-own.ts'

/** The lists whose blocks begin with a label at the beginning of a line of this region. */
export function findLabelledLists(marks: Marks, region: Region): ContextList[] {
  const labels = findOwn(marks.labels, region)
  const forms = toForms(labels)
  if (forms.size === labels.length) return []
  const own = findOwn(marks.fences, region)
  const labelled = { marks, region, lines: readLineNotes(marks.text, region), fences: own, forms }
  const fences = new FenceWalk(own, region.start)
  const lists: ContextList[] = []
  const refused = new Set<string>()
  let at = region.start
  for (const label of labels) {
    if (label.start < at || refused.has(label.form)) continue
    // fences in front of a list hide labels, those in its blocks are content
    at = fences.pass(at, label.start, region.end)
    if (at > label.start) continue
    const list = readList(labelled, label)
    if (list === undefined) refused.add(label.form)
    else if (!isNoContext(marks.text, label) && !(label.bare && isLinks(marks.text, list.blocks))) lists.push(list)
    at = list?.end ?? at
  }
  return lists
}

function toForms(labels: readonly Label[]): Map<string, Label[]> {
  const forms = new Map<string, Label[]>()
  for (const label of labels) {
    const alike = forms.get(label.form)
    if (alike === undefined) forms.set(label.form, [label])
    else alike.push(label)
  }
  return forms
}

function readList(labelled: LabelledRegion, first: Label): ContextList | undefined {
  const { marks, region, lines } = labelled
  const run = findRun(labelled, first)
  if (run === undefined || run.labels.length < 2) return undefined
  // records with other fields between these would be glued to them
  if (run.labels.some(({ keys }) => keys !== first.keys)) return undefined
  // blocks inside and outside an element are not of one list
  if (findClosing(marks, first.start, first.end, run.labels.at(-1)!.start) !== undefined) return undefined
  const interior = readInterior(marks.text, lines, run.labels)
  if (!region.container && holdsQuestion(interior)) return undefined
  const end = findListEnd(labelled, run, interior)
  if (end === undefined) return undefined
  const blocks = run.labels.map((label, i) => toBlock(marks.text, label, interior.ends[i] ?? end))
  return { blocks, positional: run.positional, labelPrefix: first.prefix, end }
}

// the links that a text cites as [1] and [2]
function isLinks(text: string, blocks: readonly BlockSpan[]): boolean {
  return blocks.every(({ contentStart, contentEnd }) => {
    // the address of a page is short, and a long block need not be copied
    return contentEnd - contentStart < 2_000 && /^<?https?:\/\/\S+$/.test(text.slice(contentStart, contentEnd))
  })
}

/** Whether a question to the model may stand between the blocks: one block in a few that holds questions is suspect. */
function holdsQuestion({ questions, ends }: Interior): boolean {
  return questions > 0 && (questions < ends.length || ends.length === 1)
}

function findListEnd(labelled: LabelledRegion, run: LabelRun, interior: Interior): number | undefined {
  const { marks, region, lines } = labelled
  const { text } = marks
  const ending = findEnding(marks, lines, run.labels, interior, run.limit)
  const certain = ending.certain ?? (region.container || marks.whole ? run.limit : undefined)
  const from = run.labels.at(-1)!.end
  if (ending.paragraph === undefined && certain === undefined && mayHoldQuestion(text, run, interior)) return undefined
  // the rule that parts the blocks from what follows, unless blocks hold rules themselves
  const opening = findOpeningRule(text, lines.notes, run.labels[0]!.start)
  const isRecord = run.labels[0]!.keys !== undefined
  const isOutside = (rule: string): boolean => rule === opening || !(interior.rule || isRecord)
  const cut = (end: number): number => {
    const contentEnd = findContentEnd(text, from, end)
    const rule = findLastRule(text, from, contentEnd)
    return rule !== undefined && isOutside(rule.text) ? rule.bodyEnd : contentEnd
  }
  if (isRecord && certain !== undefined) return cut(certain)
  if (!interior.blank) return cut(Math.min(ending.paragraph ?? run.limit, certain ?? run.limit))
  if (certain !== undefined) return cut(certain)
  // with the question in front, only the list's end can come last
  return hasQuestionBefore(lines, run.labels[0]!.start) ? findContentEnd(text, from, run.limit) : undefined
}

/** Whether the last block alone has several lines, up to the end: the last of them may be the question. */
function mayHoldQuestion(text: string, { labels, limit }: LabelRun, { ends }: Interior): boolean {
  const hasLines = (start: number, end: number): boolean =>
    text.slice(start, findContentEnd(text, start, end)).includes('\n')
  return hasLines(labels.at(-1)!.end, limit) && !ends.some((end, i) => hasLines(labels[i]!.end, end))
}

function toBlock(text: string, { start, end: labelEnd, idStart, idEnd, keys }: Label, end: number): BlockSpan {
  // the fields of a record are part of what it says
  const contentStart = keys === undefined ? findContentStart(text, labelEnd, end) : start
  const span = { start, end, contentStart, contentEnd: end }
  return idStart === idEnd ? span : { ...span, label: { start: idStart, end: idEnd } }
}
