import { type BlockSpan, type ContextList, mostBlocks } from '../../context-list.ts'
import { areInOrder } from '../../order/tells-order.ts'
import { readCue } from '../../scan/find-cue-line.ts'
import { findContentEnd, findContentStart, findIndexFrom, findLineEnd, isRule } from '../../scan/find-edges.ts'
import { genericTags, isKin, isWeakTag, type KinElement, type Region, startsIn } from '../../scan/find-elements.ts'
import type { Marks } from '../../scan/find-marks.ts'
import { readAttributes } from '../../scan/find-tags.ts'
import { isRunning } from '../../scan/labels/label.ts'
import { idNames, isDatedField, isOrderedField, isRankingField, named, plainId } from '../../scan/words/field-names.ts'

// attributes that may label blocks without an id: their file names, if all differ; the first one that all blocks have
// is used
const NAME_ATTRIBUTES = ['name', 'file', 'filename', 'file_name', 'path', 'file_path', 'source']
const isLines = named('line lines linerange startline endline fromline toline linestart lineend')
const isPage = named('page pagenumber pagelabel')

// names that fields of a record also have, as in `<source>a.pdf</source> <content>…</content>`
const FIELD_NAMES = new Set(['source', 'reference', 'file', 'memory', 'result'])

/**
 * Finds the lists formed by these elements of one region. Each element is a block, and each row of siblings is a list.
 * A row is left out if text interrupts it inside its container, or if its tags are among the `unbalanced`, because then a
 * document contains such tags and would be torn apart.
 */
export function findTagLists(
  marks: Marks,
  elements: readonly KinElement[],
  region: Region,
  unbalanced: ReadonlySet<string>,
): ContextList[] {
  if (elements.length > mostBlocks) return []
  const { text } = marks
  const rows: KinElement[][] = []
  let previous: KinElement | undefined
  for (const element of elements) {
    if (previous !== undefined && isSibling(text, previous, element)) rows.at(-1)!.push(element)
    else rows.push([element])
    previous = element
  }
  const torn = new Set(unbalanced)
  for (const [i, row] of rows.slice(1).entries()) {
    const [before, behind] = [rows[i]!.at(-1)!, row[0]!]
    if (before.open.name !== behind.open.name) continue
    if (region.container) torn.add(behind.open.name)
  }
  return rows
    .filter(([element]) => !torn.has(element!.open.name))
    .filter((row) => row.length > 1 || !isField(marks, row[0]!))
    .map((row) => toList(text, row, region.isKin && (!isWeakTag(row[0]!.open.name) || startsIn(text, region, row[0]!))))
}

function isSibling(text: string, left: KinElement, right: KinElement): boolean {
  return left.open.name === right.open.name && findGapEnd(text, left.end, right.start) === right.start
}

/** Returns the end of the whitespace that begins here, which may include one rule. */
function findGapEnd(text: string, from: number, to: number): number {
  const at = findContentStart(text, from, to)
  const lineEnd = Math.min(findLineEnd(text, at), to)
  return at > from && at < to && isRule(text, at, lineEnd) ? findContentStart(text, lineEnd, to) : at
}

function isField({ text, tags }: Marks, { open, start, end }: KinElement): boolean {
  // a single such element may be anything
  if (genericTags.has(open.name)) return true
  if (!FIELD_NAMES.has(open.name)) return false
  const before = tags[findIndexFrom(tags, start) - 1]
  if (before?.closing && isOther(before.name) && findContentStart(text, before.end, start) === start) return true
  const at = findContentStart(text, end, text.length)
  const behind = tags[findIndexFrom(tags, at)]
  return behind?.start === at && !behind.closing && isOther(behind.name) && readCue(text, at) === undefined
}

function isOther(name: string): boolean {
  return !isKin(name) || genericTags.has(name)
}

function toList(text: string, row: readonly KinElement[], inContainer: boolean): ContextList {
  const labels = row.map((element) => readLabels(text, element))
  const origin = NAME_ATTRIBUTES.find((name) => areDistinct(labels.map((label) => textOf(text, label.get(name)))))
  const hasOrigins = origin !== undefined
  const shared = idNames.find((name) => labels.every((label) => label.has(name))) ?? origin
  const blocks = row.map((element, i) => {
    const own = labels[i]!
    const label = own.get(shared ?? idNames.find((name) => own.has(name)) ?? '')
    return toBlock(text, element, label)
  })
  const ids = blocks.map(({ label }) => textOf(text, label))
  return {
    blocks,
    isOrdered: row.some(({ open }) => isOrdered(text, open, hasOrigins)) || areDated(text, row, hasOrigins),
    positional: isRunning(ids),
    labelPrefix: '',
    end: row.at(-1)!.end,
    form: 'tag',
    weight: isWeakTag(row[0]!.open.name) ? 'weak' : 'strong',
    inContainer,
    hasOrigins,
  }
}

/** Returns whether an attribute other than the label says that the elements have an order. */
function isOrdered(text: string, open: KinElement['open'], hasOrigins: boolean): boolean {
  return readAttributes(text, open).some(({ name, valueStart, valueEnd }) => {
    // the words of an unquoted title look like attributes without values
    if (valueStart === valueEnd || idNames.includes(name)) return false
    // line numbers in different files are not an order
    if (hasOrigins && isLines(name)) return false
    return isOrderedField(name) || (name === 'total' && Number(text.slice(valueStart, valueEnd)) >= 0)
  })
}

/**
 * Returns whether dates or pages in the elements' tags rise or fall throughout. Search results are sorted by rank
 * instead, and pages of different files are no order.
 */
function areDated(text: string, row: readonly KinElement[], hasOrigins: boolean): boolean {
  const dates: string[] = []
  for (const { open } of row) {
    const date = readAttributes(text, open).find(({ name }) => isDatedField(name) && !(hasOrigins && isPage(name)))
    if (date === undefined) return false
    dates.push(text.slice(date.valueStart, Math.min(date.valueEnd, date.valueStart + 64)))
  }
  return areInOrder(dates)
}

function textOf(text: string, label: BlockSpan['label']): string | undefined {
  return label && text.slice(label.start, label.end)
}

function areDistinct(values: readonly (string | undefined)[]): boolean {
  return values.every((value) => value !== undefined) && new Set(values).size === values.length
}

function toBlock(text: string, { start, end, open, close }: KinElement, label: BlockSpan['label']): BlockSpan {
  const contentStart = findContentStart(text, open.end, close.start)
  const contentEnd = findContentEnd(text, contentStart, close.start)
  const ranked = readAttributes(text, open).filter(
    ({ name, valueStart, valueEnd }) =>
      valueStart !== label?.start && isRankingField(name, text.slice(valueStart, valueEnd)),
  )
  const ranks = ranked.map(({ name }) => name)
  const block = { start, end, contentStart, contentEnd, ...(label && { label }) }
  return ranks.length === 0 ? block : { ranks, ...block }
}

function readLabels(text: string, element: KinElement): Map<string, BlockSpan['label']> {
  const labels = new Map<string, BlockSpan['label']>()
  for (const { name, valueStart, valueEnd } of readAttributes(text, element.open)) {
    const isLabel = idNames.includes(name) || NAME_ATTRIBUTES.includes(name)
    const known = labels.has(name) || !isLabel
    // longer values cannot be plain ids, so they are not copied
    if (known || valueEnd - valueStart > 64 || !plainId.test(text.slice(valueStart, valueEnd))) continue
    labels.set(name, { start: valueStart, end: valueEnd })
  }
  return labels
}
