/** The tokens of an answer and their texts. */
export interface OutputText {
  token(index: number): number
  /** empty for a token that is only part of a character; its last token has all of it */
  text(index: number): string
}
