import { isCount, isObject } from '#engine-adapters/json-object.ts'

/** Stands for a number in a pattern. Texts that hold it are neither learnt from nor cut. */
export const number = '\0'

/** Text that is always the same, or the part of it next to the documents, which stands there exactly once. */
export interface TemplateEnd {
  readonly kind: 'whole' | 'nearest'
  readonly text: string
  /** A separator always stands beside it, and no document between the two. */
  readonly isBesideGap?: true
}

/** A part of a separator, and how often more it stands in each text than the separator: as before the first document. */
export interface GapCheck {
  readonly pattern: string
  readonly more: number
}

/** What separates documents: a text in which numbers may stand, or the part of it before or behind one of them. */
export interface TemplateGap {
  /** Numbers are `number`. */
  readonly pattern: string
  /** What is known of each number: it counts up with the list, or it varies with a document. */
  readonly numbers: readonly ('up' | 'varied')[]
  /** The numbers of the first separator of a list, those that count up; 0 for others. */
  readonly first: readonly number[]
  /**
   * Shorter patterns, the beginning and the end of this one, that were so far as certain. Where they say otherwise, the text is
   * not one of those the template was learnt from.
   */
  readonly checks: readonly GapCheck[]
  /** The part of the pattern that stays in place: all of it, or what is before or behind its only varied number. */
  readonly kept: 'all' | 'before' | 'behind'
}

/** The borders of a list, learnt from traffic. */
export interface LearntTemplate {
  /** The application: where the text stands, and how it begins. */
  readonly key: string
  readonly gap: TemplateGap
  /** What stands before the first document and behind the last; undefined where that one cannot be told from the rest. */
  readonly open: TemplateEnd | undefined
  readonly end: TemplateEnd | undefined
}

/** Ends and patterns that are learnt are shorter. */
const longestText = 65_536

/** Returns whether a value that others wrote is a template. */
export function isLearntTemplate(value: unknown): value is LearntTemplate {
  if (!isObject(value) || !isText(value.key) || !isGap(value.gap)) return false
  const { open, end } = value
  // a text may begin with its first document; that it ends with its last one tells no border of another text
  return (open === undefined || isEnd(open)) && (end === undefined || (isEnd(end) && end.text !== ''))
}

function isEnd(value: unknown): value is TemplateEnd {
  if (!isObject(value) || (value.isBesideGap !== undefined && value.isBesideGap !== true)) return false
  return value.kind === 'whole'
    ? value.text === '' || isText(value.text)
    : value.kind === 'nearest' && isText(value.text)
}

function isGap(value: unknown): value is TemplateGap {
  if (!isObject(value) || !isPattern(value.pattern)) return false
  const { pattern, numbers, first, checks, kept } = value
  const isNumbered =
    [numbers, first].every((list) => Array.isArray(list) && list.length === pattern.split(number).length - 1) &&
    (numbers as unknown[]).every((one) => one === 'up' || one === 'varied') &&
    (first as unknown[]).every(isCount)
  if (!isNumbered || !Array.isArray(checks)) return false
  const varied = (numbers as unknown[]).filter((one) => one === 'varied').length
  return (
    (kept === 'all' ? varied === 0 : (kept === 'before' || kept === 'behind') && varied === 1) &&
    checks.every((one) => isObject(one) && isPattern(one.pattern) && Number.isSafeInteger(one.more))
  )
}

/** Numbers next to each other would be tried in every length. */
function isPattern(value: unknown): value is string {
  return isText(value) && !value.includes(number + number)
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value.length > 0 && value.length <= longestText
}

/** Numbers read as one mark. */
export function foldNumbers(text: string): string {
  return text.replace(/\d+/g, number)
}
