/** What we know about one replica for one request. All tokens are prefill tokens. */
export interface ReplicaCandidate {
  readonly replica: string
  /** length of the request's prompt, estimated before the engine has counted */
  readonly promptTokens: number
  /** how many of these the replica is believed to have cached */
  readonly predictedCachedTokens: number
  /** how many of the rest it is expected to reuse from another position; undefined if it cannot do so */
  readonly predictedReusedTokens?: number | undefined
  /** tokens to prefill before this request, both at the engine and queued for it */
  readonly inFlightTokens: number
  /** number of requests at the replica */
  readonly inFlight: number
  /** tokens in those of the request's blocks that this replica was the last to process, at any position */
  readonly processedTokens: number
}

/** Weights of the cost terms, in tokens or tokens per token, that suit prompts of a few thousand tokens. */
export const selectionDefaults = {
  /** cost of a token ahead of the request relative to one of its own: a wait delays one request, a copy costs them all */
  loadWeight: 0.5,
  /** cost to other requests of decoding a request at the engine, in addition to its prefill */
  requestTokens: 64,
  /** value of a token in a block that the replica processed before */
  processedWeight: 0.1,
  /** maximum total value of all processed blocks, in tokens of the request's own */
  processedBound: 512,
  /** a replica is not chosen if its load exceeds the lowest load by more than this, whatever it has cached */
  imbalance: 65_536,
  /** increases by one per request; breaks ties round-robin */
  turn: 0,
}

export type SelectionOptions = typeof selectionDefaults

/**
 * Returns the index of the replica where a request costs least; -1 without candidates. The cost, in prefill tokens, is
 *
 *     promptTokens − predictedCachedTokens − predictedReusedTokens    the request's own
 *   + loadWeight × (inFlightTokens + requestTokens × inFlight)      what is ahead of it
 *   − min(processedBound, processedWeight × processedTokens)        agent-aware routing (ContextPilot §7.2)
 *
 * The last term keeps a block with the replica that processed it before if the replicas are otherwise nearly equal. It
 * never outweighs a difference of more than `processedBound` tokens. It is omitted for a replica that reuses blocks at
 * any position, because the first line already counts what such blocks save. Ties go to the replica with the fewest
 * requests, then round-robin in name order, so that equals share the load. The order of the candidates does not matter.
 */
export function selectReplica(
  candidates: readonly ReplicaCandidate[],
  options: Partial<SelectionOptions> = {},
): number {
  const weights = { ...selectionDefaults, ...options }
  const loads = candidates.map(({ inFlightTokens, inFlight }) => inFlightTokens + weights.requestTokens * inFlight)
  const mostLoad = Math.min(...loads) + weights.imbalance
  let best: number[] = []
  let least = { cost: Number.POSITIVE_INFINITY, inFlight: Number.POSITIVE_INFINITY }
  for (const [place, candidate] of candidates.entries()) {
    if (loads[place]! > mostLoad) continue
    const cost = costOf(candidate, loads[place]!, weights)
    const { inFlight } = candidate
    if (cost > least.cost || (cost === least.cost && inFlight > least.inFlight)) continue
    if (cost < least.cost || inFlight < least.inFlight) best = []
    least = { cost, inFlight }
    best.push(place)
  }
  const byName = best.sort((a, b) => (candidates[a]!.replica < candidates[b]!.replica ? -1 : 1))
  return byName[weights.turn % byName.length] ?? -1
}

function costOf(candidate: ReplicaCandidate, load: number, weights: SelectionOptions): number {
  const { promptTokens, predictedCachedTokens, predictedReusedTokens, processedTokens } = candidate
  const own = Math.max(0, promptTokens - predictedCachedTokens - (predictedReusedTokens ?? 0))
  const worth = predictedReusedTokens === undefined ? weights.processedWeight * processedTokens : 0
  return own + weights.loadWeight * load - Math.min(weights.processedBound, worth)
}
