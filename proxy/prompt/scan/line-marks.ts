import type { Fence } from './find-fences.ts'
import type { Label } from './labels/label.ts'

/** A place in a text. */
export interface Place {
  readonly start: number
}

/** What the lines of a text contain that may be part of a list: by kind, in order. */
export interface LineMarks {
  readonly labels: readonly Label[]
  readonly fences: readonly Fence[]
  /** Lines that may begin with a bullet or a number. */
  readonly bullets: readonly Place[]
  /**
   * Where a JSON array or object may begin: at the beginning of a line, after a tag there, or after words and a colon.
   */
  readonly values: readonly Place[]
  /** Lines of three quotes. */
  readonly quotes: readonly Place[]
  /** Lines that begin with a field for text, such as `Content: …`. */
  readonly contents: readonly Place[]
  /** Bold HTML text at the beginning of a line, possibly after line breaks: `<br><b>Content from a.pdf: </b>`. */
  readonly bolds: readonly Place[]
}

/** Marks that are still being collected. */
export type GrowingMarks = { readonly [Kind in keyof LineMarks]: LineMarks[Kind][number][] }

/** Returns marks to add to: none yet of any kind. */
export function noMarks(): GrowingMarks {
  return {
    labels: [],
    fences: [],
    bullets: [],
    values: [],
    quotes: [],
    contents: [],
    bolds: [],
  }
}

/** Returns how many marks there are, of all kinds together. */
export function countMarks(marks: LineMarks): number {
  let count = 0
  for (const ofOneKind of Object.values(marks)) count += ofOneKind.length
  return count
}
