import { toLabel } from './dress.ts'
import { readLabel } from './find-labels.ts'
import { type RecordHead, readFields } from './find-record-head.ts'
import { type Label, toLabelNumber } from './label.ts'

// what may come before a first record: words or a tag on its line, or the indentation of a placeholder that all records
// replace
const LEAD_IN =
  /[:：](?:[ \t]{0,4}["'“]?|[ \t]{0,2}\r?\n[ \t]{4,12})$|>(?:[ \t]{0,2}|[ \t]*\r?\n[ \t]{4,16})$|\n[ \t]*\r?\n[ \t]{4,12}$|(?:^|\n)[ \t]*(?:"""|''')$/
const FURTHEST_LEAD_IN = 40

/**
 * Converts a record to a label. Its fields move with it, except a number that counts: of a field, or of a label that
 * begins its text, as in `file_name: a.md\n\nSource 1:\ntext`.
 */
export function toRecordLabel(text: string, start: number, { end, kind, keys, number, isWeak }: RecordHead): Label {
  const form = `record ${kind}`
  const inner = number === undefined && kind === 'metadata' ? readLabel(text, end) : undefined
  if (inner?.number !== undefined) return { ...inner, start, form: `${form} ${inner.form}`, bare: false, isWeak, keys }
  const id = number ?? { start, end: start }
  return {
    ...toLabel(start, end, form, isWeak),
    idStart: id.start,
    idEnd: id.end,
    number: toLabelNumber(text.slice(id.start, id.end)),
    keys,
  }
}

/**
 * Adds the first record of a list where it follows words on their line, as in `Context: Source: a.md`, or is indented
 * more than the others below such words. The other records show what it looks like.
 */
export function addInlineHeads(text: string, labels: readonly Label[]): readonly Label[] {
  const first = new Map<string, Label>()
  for (const label of labels) {
    const form = label.form + (label.keys ?? '')
    if (label.keys !== undefined && !first.has(form)) first.set(form, label)
  }
  const added = [...first.values()].flatMap((label) => findRecord(text, label, label.keys!) ?? [])
  return added.length === 0 ? labels : [...labels, ...added].sort((a, b) => a.start - b.start)
}

/** Finds a record after words, before the first record of its form. */
function findRecord(text: string, { start, form }: Label, keys: string): Label | undefined {
  const key = keys.split(',', 1)[0]!
  const at = Math.max(text.lastIndexOf(`${key}:`, start - 1), text.lastIndexOf(`${key}：`, start - 1))
  if (at < 1 || !LEAD_IN.test(text.slice(Math.max(at - FURTHEST_LEAD_IN, 0), at))) return undefined
  const head = readFields(text, at)
  if (head?.keys !== keys) return undefined
  const label = toRecordLabel(text, at, head)
  return label.form === form ? label : undefined
}
