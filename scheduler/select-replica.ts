/** What is known of one replica for one request; all tokens are tokens of prefill. */
export interface ReplicaCandidate {
  readonly replica: string
  /** of the request */
  readonly promptTokens: number
  /** of these, what the replica is believed to have cached */
  readonly predictedCachedTokens: number
  /** of the others, what it is expected to take over from another position and not to compute again; undefined: it cannot */
  readonly predictedReusedTokens?: number | undefined
  /** what the replica has yet to prefill before this request: at the engine, and waiting for it */
  readonly inFlightTokens: number
  /** requests at the replica */
  readonly inFlight: number
  /** tokens of the request's blocks that this replica was the last to process, wherever they stood */
  readonly processedTokens: number
}

/** How the terms are weighed; all are tokens, or tokens per token. */
export interface SelectionOptions {
  /** what a token ahead of a request counts, against one of its own: waiting costs one request, a copy costs all */
  readonly loadWeight: number
  /** what a request at the engine costs others beside its prefill, by being decoded */
  readonly requestTokens: number
  /** what a token of a block that was processed before is worth */
  readonly processedWeight: number
  /** the most that all processed blocks together are worth, in tokens of the request's own */
  readonly processedBound: number
  /** a replica whose load is above the least by more than this is not chosen, whatever it has cached */
  readonly imbalance: number
  /** rises by one per request: who has the turn among equals */
  readonly turn: number
}

/** Weights that suit prompts of a few thousand tokens. */
export const selectionDefaults: SelectionOptions = {
  loadWeight: 0.5,
  requestTokens: 64,
  processedWeight: 0.1,
  processedBound: 512,
  imbalance: 65_536,
  turn: 0,
}

/**
 * The place of the replica where a request costs least; -1 without candidates. The cost, in tokens of prefill, is
 *
 *     promptTokens − predictedCachedTokens − predictedReusedTokens    the request's own
 *   + loadWeight × (inFlightTokens + requestTokens × inFlight)      what is ahead of it
 *   − min(processedBound, processedWeight × processedTokens)        agent-aware routing (ContextPilot §7.2)
 *
 * The last term keeps a block with the replica that processed it before when little else tells them apart: it never
 * outweighs a difference of more than `processedBound` tokens; of a replica that reuses at any position what such a block
 * saves is counted as its own, and the term is left out. Of equal costs the one with the fewest requests is
 * chosen, then by turn in the order of their names, so that equals share alike. The order of the candidates plays no part.
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
