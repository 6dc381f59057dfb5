import type { ReplaySettings } from '#tools/replay/replay-options.ts'
import type { HostFigures } from './cache/host-tier.ts'

/** KV cache of an 8B model with grouped-query attention in 16 bits: 32 layers, 8 heads of 128, keys and values. */
export const bytesPerToken = 131_072
// an 8B model on one large device
const prefillTokensPerSecond = 10_000
const decodeTokensPerSecond = 50

interface Link extends Pick<ReplaySettings, 'answerTokens'> {
  /** bandwidth between the device and its host, in gigabytes per second */
  readonly pcieGbps: number
}

/**
 * Models the wait of requests as in Figure 7 of HotPrefix: the time to compute tokens; the time to load tokens from the
 * host and offload others to it; and the time for promotion, as far as it exceeds the decoding that it overlaps.
 */
export class LatencyModel {
  readonly #bytesPerSecond: number
  readonly #decodeSeconds: number

  constructor({ pcieGbps, answerTokens }: Link) {
    this.#bytesPerSecond = pcieGbps * 1e9
    this.#decodeSeconds = answerTokens / decodeTokensPerSecond
  }

  /** Number of tokens that fit over the link while one answer is decoded. */
  get promotedTokens(): number {
    return Math.floor((this.#decodeSeconds * this.#bytesPerSecond) / bytesPerToken)
  }

  /** Returns the wait in seconds for a prompt with `missing` tokens that are not on the device. */
  wait(missing: number, { offloaded, loaded, promoted }: HostFigures): number {
    const computed = (missing - loaded) / prefillTokensPerSecond
    const excess = Math.max(0, this.#toSeconds(promoted) - this.#decodeSeconds)
    return computed + this.#toSeconds(offloaded + loaded) + excess
  }

  #toSeconds(tokens: number): number {
    return (tokens * bytesPerToken) / this.#bytesPerSecond
  }
}
