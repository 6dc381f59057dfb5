/** English prose is about four characters a token; replaced by the first report. */
const initialTokensPerCharacter = 0.25
/** So many of the last reports the average follows. */
const averagedReports = 8

/** How many tokens a character takes, by what engines reported lately of prompts that they counted. */
export class AverageDensity {
  #tokensPerCharacter = initialTokensPerCharacter
  #reports = 0

  get tokensPerCharacter(): number {
    return this.#tokensPerCharacter
  }

  /** Takes in what one prompt turned out to be. */
  note(tokensPerCharacter: number): void {
    this.#reports += 1
    this.#tokensPerCharacter +=
      (tokensPerCharacter - this.#tokensPerCharacter) / Math.min(averagedReports, this.#reports)
  }
}
