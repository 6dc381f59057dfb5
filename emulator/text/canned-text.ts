import type { Tokenizer } from './tokenizer.ts'

/** The tokens of an answer and their texts. A token that is only part of a character has none: the last one has all of it. */
export type OutputText = Pick<CannedText, 'token' | 'text'>

// every word is one token, so that an answer cut anywhere tokenises to the same tokens when it comes back as history
const sentence = 'This is canned text from an engine emulator. It is not a model and it understands nothing.'

/** The emulator's answer, the same for every request: a sentence repeated and cut to length. */
export class CannedText {
  /** the sentence, then the sentence after a space, as the text of each token */
  readonly #texts: readonly string[] = `${sentence} ${sentence}`.match(/ ?\w+|\./g)!
  readonly #tokens: readonly number[]

  constructor(tokenizer: Tokenizer) {
    this.#tokens = this.#texts.map((text) => tokenizer.tokensOf(text)[0]!)
  }

  text(index: number): string {
    return this.#texts[this.#position(index)]!
  }

  token(index: number): number {
    return this.#tokens[this.#position(index)]!
  }

  #position(index: number): number {
    const period = this.#texts.length / 2
    return index < period ? index : period + (index % period)
  }
}
