/** A label at the beginning of a line, as in `[3] text`, `[Doc_3] text` and `Document 3: text`, or a record's fields. */
export interface Label {
  /** Where the label begins, with its heading signs, emphasis and brackets. */
  readonly start: number
  readonly end: number
  /** What is alike in all labels of one list. */
  readonly form: string
  /** `[3]`: footnotes, citations and code look the same, so its numbers have to run. */
  readonly bare: boolean
  /** Its words alone do not say that its block is a retrieved text. */
  readonly isWeak: boolean
  /** What stands in front of the id when the label is spoken of. */
  readonly prefix: string
  /** Empty where blocks have no id, as below `### Document`. */
  readonly idStart: number
  readonly idEnd: number
  /** The id's value if it is a plain number. */
  readonly number: number | undefined
  /** Of a record: the names of its fields. */
  readonly keys?: string
}

/** `[Source code]` and `File name:` are words, not labels: an id holds a digit or is one capital letter. */
export function isLabelId(prefix: string, id: string): boolean {
  if (/^(?:Doc|DOC|Document|DOCUMENT)_$/.test(prefix)) return true
  if (/\p{L}$/u.test(prefix)) return isDigit(id.charCodeAt(0))
  return /\d/.test(id) || /^[A-Z]$/.test(id)
}

/** The value of a plain number; `07` is none, as it could not be counted up in its own form. */
export function toLabelNumber(id: string): number | undefined {
  return /^(?:0|[1-9]\d{0,5})$/.test(id) ? Number(id) : undefined
}

/** Whether these ids are n, n+1, n+2 …, from 0 or 1 on. */
export function isRunning(ids: readonly (string | undefined)[]): boolean {
  const first = toLabelNumber(ids[0] ?? '')
  if (first === undefined || first > 1) return false
  return ids.every((id, i) => id !== undefined && toLabelNumber(id) === first + i)
}

function isDigit(code: number): boolean {
  return code >= 48 && code <= 57
}
