import type { Label } from './find-labels.ts'
import { type RecordHead, readFields } from './find-record-head.ts'

// what may stand in front of a first record in its line
const LEAD_IN = /[:：][ \t]{0,4}["'“]?$/
const FURTHEST_LEAD_IN = 16

/** A record as a label: what its fields say moves with it, but for a number that counts. */
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
 * The labels with those of first records that stand behind words in their line, as in `Context: Source: a.md`: the
 * others of their list show what they look like.
 */
export function addInlineHeads(text: string, labels: readonly Label[]): readonly Label[] {
  const first = new Map<string, Label>()
  for (const label of labels) {
    if (label.keys !== undefined && !first.has(label.form + label.keys)) first.set(label.form + label.keys, label)
  }
  const added: Label[] = []
  for (const { start, form, keys } of first.values()) {
    const key = /^[^,]+/.exec(keys!)![0]
    const at = Math.max(text.lastIndexOf(`${key}:`, start - 1), text.lastIndexOf(`${key}：`, start - 1))
    if (at < 1 || !LEAD_IN.test(text.slice(Math.max(at - FURTHEST_LEAD_IN, 0), at))) continue
    const head = readFields(text, at)
    if (head?.keys !== keys) continue
    const label = toRecordLabel(text, at, head!)
    if (label.form === form) added.push(label)
  }
  return added.length === 0 ? labels : [...labels, ...added].sort((a, b) => a.start - b.start)
}
