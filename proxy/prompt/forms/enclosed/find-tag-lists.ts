import { type BlockSpan, type ContextList, mostBlocks, toList, toRows } from '../../context-list.ts'
import { readCue } from '../../scan/find-cue-line.ts'
import { findContentEnd, findContentStart, findIndexFrom, findLineEnd, isRule } from '../../scan/find-edges.ts'
import { genericTags, isKin, isWeakTag, type KinElement, type Region, startsIn } from '../../scan/find-elements.ts'
import type { Marks } from '../../scan/find-marks.ts'
import { type Attribute, readAttributes } from '../../scan/find-tags.ts'
import { idNames, isOrderedField, isRankingField, named, plainId } from '../../scan/words/field-names.ts'

// attributes that may label blocks without an id: their file names, if all differ; the first one that all blocks have
// is used
const NAME_ATTRIBUTES = ['name', 'file', 'filename', 'file_name', 'path', 'file_path', 'source']
const LONGEST_ID = 64
const isLines = named('line lines linerange startline endline fromline toline linestart lineend')

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
  const rows = toRows(elements, (left, right) => isSibling(text, left, right))
  const torn = new Set(unbalanced)
  for (const [i, [first]] of rows.slice(1).entries()) {
    const { name } = first.open
    if (region.container && rows[i]![0].open.name === name) torn.add(name)
  }
  return rows
    .filter(([element]) => !torn.has(element.open.name))
    .filter((row) => row.length > 1 || !isField(marks, row[0]))
    .map((row) =>
      toRowList(text, row, region.isKin && (!isWeakTag(row[0].open.name) || startsIn(text, region, row[0]))),
    )
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

function toRowList(text: string, row: readonly KinElement[], inContainer: boolean): ContextList {
  const attributes = row.map(({ open }) => readAttributes(text, open))
  const labels = attributes.map((own) => findLabels(text, own))
  const origin = NAME_ATTRIBUTES.find((name) => areDistinct(labels.map((own) => textOf(text, own.get(name)))))
  const hasOrigins = origin !== undefined
  const shared = idNames.find((name) => labels.every((own) => own.has(name))) ?? origin
  const blocks = row.map((element, i) => {
    const label = labels[i]!.get(shared ?? idNames.find((name) => labels[i]!.has(name)) ?? '')
    return toBlock(text, element, attributes[i]!, label)
  })
  return {
    ...toList(text, blocks, 'tag', isWeakTag(row[0]!.open.name) ? 'weak' : 'strong'),
    isOrdered: attributes.some((own) => areOrdered(text, own, hasOrigins)),
    inContainer,
    hasOrigins,
  }
}

/** Returns whether an attribute other than the label says that the elements have an order. */
function areOrdered(text: string, attributes: readonly Attribute[], hasOrigins: boolean): boolean {
  return attributes.some(({ name, valueStart, valueEnd }) => {
    // the words of an unquoted title look like attributes without values
    if (valueStart === valueEnd || idNames.includes(name)) return false
    // line numbers in different files are not an order
    if (hasOrigins && isLines(name)) return false
    return isOrderedField(name) || (name === 'total' && Number(text.slice(valueStart, valueEnd)) >= 0)
  })
}

function textOf(text: string, label: BlockSpan['label']): string | undefined {
  return label && text.slice(label.start, label.end)
}

function areDistinct(values: readonly (string | undefined)[]): boolean {
  return !values.includes(undefined) && new Set(values).size === values.length
}

function toBlock(
  text: string,
  { start, end, open, close }: KinElement,
  attributes: readonly Attribute[],
  label: BlockSpan['label'],
): BlockSpan {
  const contentStart = findContentStart(text, open.end, close.start)
  const contentEnd = findContentEnd(text, contentStart, close.start)
  const ranks = attributes
    .filter(({ valueStart }) => valueStart !== label?.start)
    .filter(({ name, valueStart, valueEnd }) => isRankingField(name, text.slice(valueStart, valueEnd)))
    .map(({ name }) => name)
  return { start, end, contentStart, contentEnd, ...(label && { label }), ...(ranks.length > 0 && { ranks }) }
}

/** Returns the values that may label an element, by name. */
function findLabels(text: string, attributes: readonly Attribute[]): Map<string, BlockSpan['label']> {
  const labels = new Map<string, BlockSpan['label']>()
  for (const { name, valueStart: start, valueEnd: end } of attributes) {
    const isLabel = !labels.has(name) && (idNames.includes(name) || NAME_ATTRIBUTES.includes(name))
    // longer values cannot be plain ids, so they are not copied
    if (isLabel && end - start <= LONGEST_ID && plainId.test(text.slice(start, end))) labels.set(name, { start, end })
  }
  return labels
}
