import { isDigit } from '../find-edges.ts'
/**
 * A label at the beginning of a line, such as `[3] text`, `[Doc_3] text` and `Document 3: text`, or a record's fields.
 */
export interface Label {
  /** Where the label begins, including heading signs, emphasis and brackets. */
  readonly start: number
  readonly end: number
  /** What all labels of one list have in common. */
  readonly form: string
  /** `[3]`: footnotes, citations and code look the same, so the numbers must be consecutive. */
  readonly bare: boolean
  /** Its words alone do not show that its block is a retrieved text. */
  readonly isWeak: boolean
  /** What precedes the id when the label is mentioned. */
  readonly prefix: string
  /** Empty if blocks have no id, as below `### Document`. */
  readonly idStart: number
  readonly idEnd: number
  /** The id's value, if it is a plain number. */
  readonly number: number | undefined
  /** For a record: the names of its fields. */
  readonly keys?: string
}

/**
 * Returns whether an id is one of a label. `[Source code]` and `File name:` are words: an id contains a digit or is one
 * capital letter.
 */
export function isLabelId(prefix: string, id: string): boolean {
  if (/\p{L}$/u.test(prefix)) return isDigit(id.charCodeAt(0))
  return /\d|^[A-Z]$/.test(id)
}

/** Returns the value of a plain number. `07` is not one, because counting up would not keep its format. */
export function toLabelNumber(id: string): number | undefined {
  return /^(?:0|[1-9]\d{0,5})$/.test(id) ? Number(id) : undefined
}

/** What follows a label. Chinese, Japanese and Korean texts continue without a space. */
export const GAP: string = '(?=\\s|$|[\\p{Script=Hangul}\\p{Script=Han}\\p{Script=Hiragana}\\p{Script=Katakana}«])'
