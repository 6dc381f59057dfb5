import type { Fence } from './find-fences.ts'
import type { Opening } from './find-openings.ts'
import type { Foot } from './labels/find-feet.ts'
import type { Label } from './labels/label.ts'

/** A place in a text. */
export interface Place {
  readonly start: number
}

/** What the lines of a text contain that may be part of a list: by kind, in order. */
export interface LineMarks {
  readonly labels: readonly Label[]
  readonly fences: readonly Fence[]
  /** Lines of `---` or `===`, by their beginning. */
  readonly rules: readonly Place[]
  /** Such lines that are indented like the loop of a template. */
  readonly loopRules: readonly Place[]
  /** Lines of nothing but `###`. */
  readonly hashes: readonly Place[]
  /** Lines that may begin with a bullet or a number. */
  readonly bullets: readonly Place[]
  /**
   * Where a JSON array or object may begin: at the beginning of a line, after a tag there, or after words and a colon.
   */
  readonly values: readonly Place[]
  /** Table headers. */
  readonly tables: readonly Place[]
  /** Lines of three quotes. */
  readonly quotes: readonly Place[]
  /** Lines that begin with a field for text, such as `Content: …`. */
  readonly contents: readonly Place[]
  /** Bold HTML text at the beginning of a line, possibly after line breaks: `<br><b>Content from a.pdf: </b>`. */
  readonly bolds: readonly Place[]
  /** Marks that open a block closed by another mark, such as `[webpage 1 begin]`. */
  readonly openings: readonly Opening[]
  /** Lines below a text that name its source. */
  readonly feet: readonly Foot[]
  /** Lines that list the keys of the texts above them: `Valid Keys: Smith2020 pages 1-3`. */
  readonly keyLines: readonly Place[]
}

/** Marks that are still being collected. */
export type GrowingMarks = { readonly [Kind in keyof LineMarks]: LineMarks[Kind][number][] }

/** Returns marks to add to: none yet of any kind. */
export function noMarks(): GrowingMarks {
  return {
    labels: [],
    fences: [],
    rules: [],
    loopRules: [],
    hashes: [],
    bullets: [],
    values: [],
    tables: [],
    quotes: [],
    contents: [],
    bolds: [],
    openings: [],
    feet: [],
    keyLines: [],
  }
}

/** Returns how many marks there are, of all kinds together. */
export function countMarks(marks: LineMarks): number {
  let count = 0
  for (const ofOneKind of Object.values(marks)) count += ofOneKind.length
  return count
}
