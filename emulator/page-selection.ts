import type { PageUsage } from '#engine-adapters/page-usage.ts'

/** How an engine selects pages while it decodes. */
export interface PageOptions {
  /** the smallest share of its pages that a request may ask for */
  readonly minRatio: number
  readonly pageTokens: number
}

/** Our plugin's defaults for the first pages and the last complete pages, which are always read. */
const sinks = 1
const recent = 2
/** Steps between choices. */
const every = 2

/** Pages read by the decode steps of one request: its share of the complete pages, and all pages filled since. */
export class PageSelection {
  readonly #ratio: number
  readonly #pageTokens: number
  #listed = 0
  #chosenAt = 0
  #age = every
  #usage: PageUsage = { listed: 0, all: 0, choices: 0, backtracks: 0 }

  constructor({ minRatio, pageTokens }: PageOptions, ratio: number) {
    this.#ratio = Math.max(minRatio, ratio)
    this.#pageTokens = pageTokens
  }

  get usage(): PageUsage {
    return this.#usage
  }

  /** Counts a decode step with a context of `contextTokens` tokens, its own included. */
  step(contextTokens: number): void {
    const full = Math.floor((contextTokens - 1) / this.#pageTokens)
    const all = Math.ceil(contextTokens / this.#pageTokens)
    const isDue = ++this.#age >= every
    if (isDue) {
      this.#age = 0
      this.#chosenAt = full
      this.#listed = Math.min(full, Math.max(sinks + recent, Math.round(this.#ratio * full)))
    }
    const { listed, all: before, choices, backtracks } = this.#usage
    this.#usage = {
      listed: listed + this.#listed + all - this.#chosenAt,
      all: before + all,
      choices: choices + (isDue ? 1 : 0),
      backtracks,
    }
  }
}
