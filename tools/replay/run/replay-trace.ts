import { TreeCache } from '#index/tree-cache/tree-cache.ts'
import { ConfigError } from '#proxy/common/errors.ts'
import { policies } from '../policies/policies.ts'
import { type OnlinePolicy, type OrderingName, type PlanBatch, rankOrder } from '../policies/policy.ts'
import type { ReplaySettings } from '../replay-options.ts'
import type { ReplayRequest } from '../replay-request.ts'
import { PromptLayout } from './prompt-layout.ts'

/** A request and the order in which its blocks were sent. */
interface SentRequest {
  readonly request: ReplayRequest
  readonly order: readonly number[]
}

/** The result of running a trace under one policy. */
export interface ReplayRun {
  readonly policy: string
  /** in execution order */
  readonly sent: readonly SentRequest[]
  readonly cachedTokens: number
  readonly promptTokens: number
  /** time that the policy took for each request, in microseconds */
  readonly microseconds: readonly number[]
  readonly seconds: number
}

/** A policy of somebody else, for comparison. */
interface RivalPolicy {
  readonly name: string
  readonly online?: OnlinePolicy
  readonly offline?: PlanBatch
}

/** Runs requests under one policy, starting with an empty cache. A rival must have a policy for the settings' mode. */
export function replayTrace(
  requests: readonly ReplayRequest[],
  policy: OrderingName | RivalPolicy,
  settings: ReplaySettings,
  onServed?: () => void,
): ReplayRun {
  const { name, online, offline } =
    typeof policy === 'string' ? { ...policies[policy], name: policy, online: policies[policy].online() } : policy
  const isOffline = settings.mode === 'offline'
  const cache = new TreeCache(settings.capacityTokens, settings.pageTokens)
  const layout = new PromptLayout(requests, settings)
  const sent = new Map<number, SentRequest>()
  let [cachedTokens, promptTokens] = [0, 0]
  const serve = (next: SentRequest): void => {
    const { request, order } = next
    checkOrder(name, next)
    const tokens = layout.tokensOf(request, order)
    sent.set(request.number, next)
    promptTokens += tokens.length
    cachedTokens += cache.serve(request.number, request.tenant, tokens)
    for (const [number, length] of cache.takeChanges()) {
      const { request, order } = sent.get(number)!
      if (!isOffline) online!.holds(request, order, layout.blocksWithin(request, order, length))
    }
    onServed?.()
  }
  const begin = process.hrtime.bigint()
  const microseconds = isOffline ? runPlan(name, requests, offline!, serve) : runArrivals(requests, online!, serve)
  const seconds = microsecondsSince(begin) / 1e6
  return { policy: name, sent: [...sent.values()], cachedTokens, promptTokens, microseconds, seconds }
}

/** Throws a `ConfigError` unless the order sends each block exactly once. */
function checkOrder(policy: string, { request, order }: SentRequest): void {
  const seen = new Set(order)
  const count = request.context.length
  const isPermutation =
    order.length === count && seen.size === count && order.every((place) => place in request.context)
  if (isPermutation) return
  const name = JSON.stringify(request.trace.queryId)
  throw new ConfigError(`internal error: the policy ${policy} gave no permutation of the blocks of request ${name}`)
}

/** Plans the whole trace as one batch and runs it. Every request is charged an equal share of the planning time. */
function runPlan(
  name: string,
  requests: readonly ReplayRequest[],
  plan: PlanBatch,
  serve: (sent: SentRequest) => void,
): number[] {
  const begin = process.hrtime.bigint()
  const planned = plan(requests)
  const share = microsecondsSince(begin) / requests.length
  const isComplete =
    planned.length === requests.length && new Set(planned.map(({ request }) => request)).size === requests.length
  if (!isComplete) throw new ConfigError(`internal error: the policy ${name} planned not every request once`)
  for (const sent of planned) serve(sent)
  return requests.map(() => share)
}

/** Runs requests as they arrive. The policy knows what was sent before and what the cache has evicted since. */
function runArrivals(
  requests: readonly ReplayRequest[],
  policy: OnlinePolicy,
  serve: (sent: SentRequest) => void,
): number[] {
  return requests.map((request) => {
    const begin = process.hrtime.bigint()
    const order = request.fixed ? rankOrder(request) : policy.order(request)
    policy.holds(request, order, order.length)
    const taken = microsecondsSince(begin)
    serve({ request, order })
    return taken
  })
}

function microsecondsSince(begin: bigint): number {
  return Number(process.hrtime.bigint() - begin) / 1e3
}
