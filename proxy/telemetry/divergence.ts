/** The latest requests weigh most; one counts for this share. */
const share = 1 / 32

/** Tokens by which predictions of what is cached are off, without sign, and what is to blame. */
export interface DivergentTokens {
  /** predicted less reported */
  readonly total: number
  /** of what was predicted in the engine's own tokens: the mirror believed something else than the engine held */
  readonly staleIndex: number
  /** held by another replica than the one that was chosen */
  readonly routing: number
  /** estimated from characters in place of the engine's own tokens */
  readonly tokenisation: number
}

/** What was predicted for a request, and what the engine reported. */
export interface PredictedRequest {
  readonly estimated: number
  /** in the engine's own tokens; undefined: these were not known */
  readonly exact: number | undefined
  /** estimated for the replica that holds most of it */
  readonly mostEstimated: number
  readonly reported: number
}

/** What a prediction is off by. What was only estimated cannot be told from a stale index: it counts as tokenisation. */
export function divergentTokens({ estimated, exact, mostEstimated, reported }: PredictedRequest): DivergentTokens {
  return {
    total: Math.abs((exact ?? estimated) - reported),
    staleIndex: exact === undefined ? 0 : Math.abs(exact - reported),
    routing: Math.max(0, mostEstimated - estimated),
    tokenisation: Math.abs(estimated - (exact ?? reported)),
  }
}

/** How far the mirrors' predictions are from what the engines report, by replica: running means. */
export class Divergence {
  readonly #tokens = new Map<string, DivergentTokens>()

  /** A prediction for this replica was off by so much. */
  note(replica: string, off: DivergentTokens): void {
    const before = this.#tokens.get(replica) ?? off
    const mean = (of: keyof DivergentTokens): number => before[of] + (off[of] - before[of]) * share
    this.#tokens.set(replica, {
      total: mean('total'),
      staleIndex: mean('staleIndex'),
      routing: mean('routing'),
      tokenisation: mean('tokenisation'),
    })
  }

  /** What predictions are off by on average; undefined before the first report. */
  of(replica: string): DivergentTokens | undefined {
    return this.#tokens.get(replica)
  }
}
