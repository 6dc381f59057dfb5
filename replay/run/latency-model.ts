import type { HostFigures } from '../cache/host-tier.ts'
import type { ReplaySettings } from '../replay-options.ts'

/** Of an 8B model with grouped-query attention in 16 bits: 32 layers, 8 heads of 128, keys and values. */
export const bytesPerToken = 131_072
// an 8B model on one large device
const prefillTokensPerSecond = 10_000
const decodeTokensPerSecond = 50

type Link = Pick<ReplaySettings, 'pcieGbps' | 'answerTokens'>

/**
 * What requests wait for, as Figure 7 of HotPrefix has it: tokens that are computed; those that come from the host or go
 * there before, over the link; and what is promoted, as far as it takes longer than the decoding that it goes beside.
 */
export class LatencyModel {
  readonly #bytesPerSecond: number
  readonly #decodeSeconds: number

  constructor({ pcieGbps, answerTokens }: Link) {
    this.#bytesPerSecond = pcieGbps * 1e9
    this.#decodeSeconds = answerTokens / decodeTokensPerSecond
  }

  /** Tokens that go over the link while one answer is decoded. */
  get promotedTokens(): number {
    return Math.floor((this.#decodeSeconds * this.#bytesPerSecond) / bytesPerToken)
  }

  /** Seconds, of a prompt of which so many tokens are not on the device. */
  wait(missing: number, { offloaded, loaded, promoted }: HostFigures): number {
    const computed = (missing - loaded) / prefillTokensPerSecond
    const excess = Math.max(0, this.#toSeconds(promoted) - this.#decodeSeconds)
    return computed + this.#toSeconds(offloaded + loaded) + excess
  }

  #toSeconds(tokens: number): number {
    return (tokens * bytesPerToken) / this.#bytesPerSecond
  }
}
