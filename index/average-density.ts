/** English prose has about four characters per token. The first report replaces this. */
const initialTokensPerCharacter = 0.25
/** The running average covers about this many of the latest reports. */
const averagedReports = 8

/** Average tokens per character, based on the prompt token counts that engines reported lately. */
export class AverageDensity {
  tokensPerCharacter: number = initialTokensPerCharacter
  #reports = 0

  /** Adds the density of one counted prompt to the average. */
  note(tokensPerCharacter: number): void {
    this.#reports += 1
    this.tokensPerCharacter += (tokensPerCharacter - this.tokensPerCharacter) / Math.min(averagedReports, this.#reports)
  }
}
