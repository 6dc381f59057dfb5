/** The weight of the latest request in the running means. */
const share = 1 / 32

/** The absolute error of cache predictions in tokens, and its causes. */
export interface DivergentTokens {
  /** predicted minus reported */
  total: number
  /** for predictions in the engine's own tokens: the mirror differed from what the engine held */
  stale_index: number
  /** held by another replica than the chosen one */
  routing: number
  /** estimated from characters instead of the engine's own tokens */
  tokenisation: number
}

/** What was predicted for a request, and what the engine reported. */
interface PredictedRequest {
  readonly estimated: number
  /** in the engine's own tokens; undefined if these were unknown */
  readonly exact: number | undefined
  /** estimated for the replica that holds the most of it */
  readonly mostEstimated: number
  readonly reported: number
}

/**
 * Returns the error of a prediction. With only an estimate, a stale index cannot be distinguished: the error counts as
 * tokenisation.
 */
export function divergentTokens({ estimated, exact, mostEstimated, reported }: PredictedRequest): DivergentTokens {
  return {
    total: Math.abs((exact ?? estimated) - reported),
    stale_index: exact === undefined ? 0 : Math.abs(exact - reported),
    routing: Math.max(0, mostEstimated - estimated),
    tokenisation: Math.abs(estimated - (exact ?? reported)),
  }
}

/** Running means, by replica, of how far the mirrors' predictions are from what the engines report. */
export class Divergence extends Map<string, DivergentTokens> {
  note(replica: string, off: DivergentTokens): void {
    const mean = { ...off, ...this.get(replica) }
    for (const of of Object.keys(off) as (keyof DivergentTokens)[]) mean[of] += (off[of] - mean[of]) * share
    this.set(replica, mean)
  }
}
