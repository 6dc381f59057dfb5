import { recomputedShare } from '#engine-adapters/any-position-reuse.ts'
import type { BlockId } from '#index/context-block.ts'
import { type ReplicaCandidate, selectReplica } from '#scheduler/select-replica.ts'
import { type Call, type EngineUser, engineUserOf, type RoutedCall, sharerOf, toDecisionInput } from '../call/call.ts'
import { ProxyError } from '../common/errors.ts'
import type { RequestOptions } from '../common/request-options.ts'
import type { Replica } from '../replicas/replica.ts'
import type { ReplicaChoice } from '../replicas/replica-set.ts'
import { decide } from '../reuse/decide.ts'
import type { LaidOut } from '../reuse/decision.ts'
import type { Candidate, Route } from '../reuse/plan-route.ts'
import type { Pipeline } from './pipeline.ts'

/** What is answered while no replica takes requests. */
export const noReplica = 'No engine takes requests: all are draining, or none has been found yet. Try again later.'

interface Routing extends Pick<Pipeline, 'processed' | 'store' | 'now' | 'gain'> {
  readonly replicas: ReplicaChoice
}

/**
 * Decides how and where a request is sent. Routing and ordering are one choice, since the order is made for the replica
 * that will run the request. Changes nothing except whose turn it is among equal replicas. Throws `draining` if no
 * replica takes requests.
 */
export function routeCall(
  routing: Routing,
  call: Call,
  excluding?: ReadonlySet<Replica['id']>,
  laidOut?: LaidOut,
): RoutedCall {
  const candidates = routing.replicas.candidates(excluding)
  if (candidates.length === 0) throw new ProxyError('draining', noReplica)
  const sharer = sharerOf(call)
  const users = candidates.map((replica) => engineUserOf(call, replica))
  const decision = decide(
    { laidOut, ...toDecisionInput(call) },
    {
      candidates: candidates.map((replica, i) => toCandidate(replica, routing, sharer, users[i])),
      store: routing.store,
      plannedTurns: routing.gain.plannedTurns,
      select: (routes) =>
        routes.length === 1 ? 0 : select(routing, candidates, routes, { sharer, options: call.options }),
      now: routing.now,
    },
  )
  return { replica: candidates[decision.candidate]!, decision, sharer, user: users[decision.candidate] }
}

function toCandidate(
  replica: Replica,
  { processed, gain }: Routing,
  sharer: string,
  user: EngineUser | undefined,
): Candidate {
  const { id, mirror, cacheConfig, reuse } = replica
  return {
    mirror,
    planned: () => gain.plannedOf(id).mirror,
    cacheConfig,
    reuse,
    hasProcessed: (block) => processed.has(id, sharer, block),
    isReusable: (block) => processed.has(id, sharer, block, user?.owner),
  }
}

function select(
  { processed, replicas }: Routing,
  candidates: readonly Replica[],
  routes: readonly Route[],
  { sharer, options }: { readonly sharer: string; readonly options: Call['options'] },
): number {
  const { blocks, sizes } = contentsOf(routes[0]!)
  const processedOn = processed.sizesOn(sharer, blocks, sizes)
  const processedAnywhere = [...processedOn.values()].reduce((sum, size) => sum + size, 0)
  const described = routes.map((route, i): ReplicaCandidate => {
    const replica = candidates[i]!
    const { promptTokens, predictedCachedTokens, predictedReusedTokens: held } = route
    const missing = replica.mirror.estimateTokens(processedAnywhere) - predictedCachedTokens
    return {
      replica: replica.id,
      promptTokens,
      predictedCachedTokens,
      predictedReusedTokens: held === undefined ? held : held + fetchable(replica, options, missing, held),
      inFlightTokens: replica.loadTokens,
      inFlight: replica.requests,
      processedTokens: replica.mirror.estimateTokens(processedOn.get(replica.id) ?? 0),
    }
  })
  return selectReplica(described, { turn: replicas.nextTurn() })
}

/** What a replica can fetch counts half as much as what it holds. In simulations (lab/fleet) its exact worth did about as well. */
const fetchedWeight = 0.5

/** Returns the worth, in reused tokens, of what a replica does not hold and can read from a store that others fill. */
function fetchable({ reuse }: Replica, options: RequestOptions, missing: number, held: number): number {
  const share = recomputedShare(reuse, options.reuse) ?? 1
  return reuse?.remote ? fetchedWeight * Math.max(0, (1 - share) * missing - held) : 0
}

/** Returns the ids and sizes of the contents of a request's blocks, whatever their order and markup. */
export function contentsOf({ contexts }: Pick<Route, 'contexts'>): { blocks: BlockId[]; sizes: number[] } {
  return {
    blocks: contexts.flatMap(({ found }) => found.contents),
    sizes: contexts.flatMap(({ found }) => found.slots.map(({ content }) => content.end - content.start)),
  }
}
