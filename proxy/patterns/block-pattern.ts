/** A pattern from the configuration (`blocks.patterns`): each of its matches is a context block. */
export interface BlockPattern {
  /** What logs and errors call it; its place in the configuration without one. */
  readonly name?: string
  /**
   * A regular expression. The block is its group `(?<block>…)`, else its first group without a name, else the whole
   * match; `(?<label>…)` is the block's label.
   */
  readonly pattern: string
  /** Of `imsuv`. */
  readonly flags?: string
}

/** A pattern that was found to be valid, with what a match is read by. */
export interface CompiledPattern {
  readonly name: string
  readonly source: string
  readonly flags: string
  /** The group that is the block; 0 is the whole match. */
  readonly blockGroup: number
  readonly labelGroup: number | undefined
}
