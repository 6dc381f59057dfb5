import type { BlockSpan, ContextList } from '../context-list.ts'
import { areNumberedParts, tellsOrder } from '../order/tells-order.ts'
import { findContentStart, findLineEnd } from '../scan/find-edges.ts'
import type { Marks } from '../scan/find-marks.ts'
import { readFields } from '../scan/labels/find-record-head.ts'
import { isRankingField } from '../scan/words/field-names.ts'
import { isExample } from './is-example.ts'
import type { Reason } from './reasons.ts'
import { isSupported } from './weigh-evidence.ts'

const LONGEST_MARK = 300
// `score="0.91"`, and `page="3"`
const FIELD = /([\p{L}@._-]{1,40})[ \t]?[:=][ \t]?(["']?-?\d[\d.e+-]{0,40}[ \t]?%?["']?)/giu
// a template names a variable in this way, `context1: …`, but not `[doc1]`
const VARIABLE = /^[a-z]+$/

/**
 * Returns why this list, so far supported only by its form, is left alone. Undefined if it is a list of retrieved
 * texts.
 */
export function judgeList(marks: Marks, list: ContextList): Reason | undefined {
  const { text } = marks
  const start = list.blocks[0]!.start
  if (list.form === undefined || list.blocks.length < 2) return undefined
  if (marks.source === 'read') return 'one_text'
  if (list.isOrdered) return 'ordered_fields'
  if (isOrdered(text, list)) return 'ordered_texts'
  if (isExample(marks, start, list.end)) return 'example'
  if (list.form === 'label' && isVariable(text, list)) return 'no_evidence'
  return isSupported(marks, list) ? undefined : 'no_evidence'
}

/** Returns whether the texts of a list begin with dates or numbers that rise or fall, or its marks count parts of one source. */
function isOrdered(text: string, list: ContextList): boolean {
  // for objects, the members were already checked; memories are numbered and dated as they were stored
  if (list.form === 'memories' || (list.form === 'json' && text[list.blocks[0]!.start] === '{')) return false
  const texts = list.blocks.map((block) => behindFields(text, block))
  return tellsOrder(text, texts) || areNumberedParts(texts.map((block) => markOf(text, block)))
}

/** Returns what precedes a block's text, without the label and the fields that rank it. */
function markOf(text: string, { start, contentStart, label }: BlockSpan): string {
  // cut first: many blocks may share one endless line
  const line = text.slice(start, start + LONGEST_MARK)
  const end = contentStart > start ? contentStart : start + findLineEnd(line, 0)
  // a name identifies a text's source, a number only its position
  const isNumber = label !== undefined && /^(?:\d+|\p{L})$/u.test(text.slice(label.start, label.end))
  const cut = isNumber && label.start >= start && label.end <= end ? label : { start, end: start }
  const front = text.slice(start, Math.min(cut.start, start + LONGEST_MARK))
  const mark = front + text.slice(cut.end, Math.min(end, cut.end + LONGEST_MARK))
  return mark.replace(FIELD, (field, name: string, value: string) => (isRankingField(name, value) ? '' : field))
}

/** Returns a block without the fields, the label and the fence in front of its text. */
function behindFields(text: string, block: BlockSpan): BlockSpan {
  const { contentEnd, label } = block
  const fields = Math.max(readFields(text, block.contentStart)?.end ?? block.contentStart, label?.end ?? 0)
  const start = Math.min(findContentStart(text, fields, contentEnd), contentEnd)
  const isFenced = ['```', '~~~'].includes(text.slice(start, start + 3))
  return { ...block, contentStart: isFenced ? Math.min(findLineEnd(text, start), contentEnd) : start }
}

function isVariable(text: string, { labelPrefix, blocks: [first] }: ContextList): boolean {
  if (!VARIABLE.test(labelPrefix)) return false
  const before = first?.label === undefined ? '' : text[first.label.start - labelPrefix.length - 1]
  return before !== '[' && before !== '【'
}
