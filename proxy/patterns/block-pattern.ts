/** A pattern from the configuration (`blocks.patterns`): each of its matches is a context block. */
export interface BlockPattern {
  /** Its name in logs and errors; without one, its place in the configuration is used. */
  readonly name?: string
  /**
   * A regular expression. The block is its group `(?<block>…)`, else its first unnamed group, else the whole match;
   * `(?<label>…)` is the block's label.
   */
  readonly pattern: string
  /** Any of `imsuv`. */
  readonly flags?: string
}

/** A valid pattern, with the groups that a match is read by. */
export interface CompiledPattern {
  readonly name: string
  readonly source: string
  readonly flags: string
  /** The group that is the block; 0 is the whole match. */
  readonly blockGroup: number
  readonly labelGroup: number | undefined
}
