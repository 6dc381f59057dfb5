import { announcesBlocks } from '../find-list-heading.ts'
import { containerNames, strongTags, weakTags } from '../words/vocabulary.ts'
import { readDressedLabel } from './find-dressed-labels.ts'
import { type RecordHead, readFields } from './find-record-head.ts'
import type { Label } from './label.ts'

// what may come before a first record: words or a tag on its line, or the indentation of a placeholder that all records
// replace
const LEAD_IN =
  /[:：](?:[ \t]{0,4}["'“]?|[ \t]{0,2}\r?\n[ \t]{4,12})$|>(?:[ \t]{0,2}|[ \t]*\r?\n[ \t]{4,16})$|\n[ \t]*\r?\n[ \t]{4,12}$|(?:^|\n)[ \t]*(?:"""|''')$/
const FURTHEST_LEAD_IN = 40

/** Converts a record to a label. Its fields move with it, except a number that counts. */
export function toRecordLabel(text: string, start: number, { end, kind, keys, number, isWeak }: RecordHead): Label {
  const id = number ?? { start, end: start }
  const digits = number && text.slice(number.start, number.end)
  return {
    start,
    end,
    form: `record ${kind}`,
    bare: false,
    isWeak,
    prefix: '',
    idStart: id.start,
    idEnd: id.end,
    number: digits !== undefined && /^(?:0|[1-9]\d*)$/.test(digits) ? Number(digits) : undefined,
    keys,
  }
}

/**
 * Adds labels of first blocks that follow words on their line, as in `Context: Source: a.md` and `Context: Document 1:
 * …`, or are indented more than the others below such words. The other labels show what they look like.
 */
export function addInlineHeads(text: string, labels: readonly Label[]): readonly Label[] {
  const first = new Map<string, Label>()
  for (const label of labels) {
    const form = label.form + (label.keys ?? '')
    if (!first.has(form)) first.set(form, label)
  }
  const added = [...first.values()].flatMap((label) => {
    return (label.keys === undefined ? findNumbered(text, label) : findRecord(text, label, label.keys)) ?? []
  })
  return added.length === 0 ? labels : [...labels, ...added].sort((a, b) => a.start - b.start)
}

/** Finds a record after words, before the first record of its form. */
function findRecord(text: string, { start, form }: Label, keys: string): Label | undefined {
  const key = /^[^,]+/.exec(keys)![0]
  const at = Math.max(text.lastIndexOf(`${key}:`, start - 1), text.lastIndexOf(`${key}：`, start - 1))
  if (!isLedIn(text, at)) return undefined
  const head = readFields(text, at)
  if (head?.keys !== keys) return undefined
  const label = toRecordLabel(text, at, head)
  return label.form === form ? label : undefined
}

/** Finds the label after words whose number is one less than that of the first label of its form. */
function findNumbered(text: string, label: Label): Label | undefined {
  const { start, end, idStart, idEnd, number, bare } = label
  if (number !== 1 && number !== 2) return undefined
  const before = `${text.slice(start, idStart)}${number - 1}`
  const own = before + text.slice(idEnd, end)
  const alike = text.lastIndexOf(own, start - 1)
  // what follows the number may differ, as a score does
  const [at, ending] = alike >= 0 || bare ? [alike, alike + own.length] : findSimilar(text, label, before)
  if (!isLedIn(text, at) || (bare && !isAnnounced(text, at))) return undefined
  const moved = { start: at, end: ending, idStart: at + idStart - start, idEnd: at + before.length }
  return { ...label, ...moved, number: number - 1 }
}

/** Finds the label that begins with `before` and has the form of another one. Returns where it begins and ends. */
function findSimilar(text: string, { start, form, number }: Label, before: string): readonly [number, number] {
  const at = text.lastIndexOf(before, start - 1)
  const label = at < 0 ? undefined : readDressedLabel(text, at)
  return label?.form === form && label.number === number! - 1 ? [at, label.end] : [-1, -1]
}

function isLedIn(text: string, at: number): boolean {
  return at >= 1 && LEAD_IN.test(text.slice(Math.max(at - FURTHEST_LEAD_IN, 0), at))
}

// `<content>[1] …`
const CONTAINER = new RegExp(`^(?:${containerNames})$`)
const TAG_BEFORE = /<([a-z][\w-]{1,40})>$/i

/**
 * Returns whether the words on the line before a number announce several texts: `Documents: [1] …`, or it is the first
 * thing in an element for texts.
 */
function isAnnounced(text: string, at: number): boolean {
  const tag = TAG_BEFORE.exec(text.slice(Math.max(at - FURTHEST_LEAD_IN, 0), at))?.[1]?.toLowerCase()
  if (tag !== undefined && (strongTags.has(tag) || weakTags.has(tag) || CONTAINER.test(tag))) return true
  return announcesBlocks(text, text.lastIndexOf('\n', at - 1) + 1, at)
}
