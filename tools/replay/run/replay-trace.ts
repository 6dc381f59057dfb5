import { TreeCache } from '#index/tree-cache/tree-cache.ts'
import { createOfflinePolicy } from '../policies/create-offline-policy.ts'
import { createOnlinePolicy } from '../policies/create-online-policy.ts'
import type { OfflinePolicy, OnlinePolicy, OrderingName } from '../policies/policy.ts'
import { rankOrder } from '../policies/static-orders.ts'
import { ReplayError } from '../replay-error.ts'
import type { ReplaySettings } from '../replay-options.ts'
import type { ReplayRequest } from '../replay-request.ts'
import { PromptLayout } from './prompt-layout.ts'
import { ReplayEngine } from './replay-engine.ts'
import { checkOrder, type ReplayRun, type SentRequest } from './replay-run.ts'
import { defaultSchedule, rescheduleBatch, type ScheduleName, scheduleWindow } from './schedule-window.ts'

/** A policy of somebody else, for comparison. */
interface RivalPolicy {
  readonly name: string
  readonly online?: OnlinePolicy
  readonly offline?: OfflinePolicy
}

/** Runs requests under one policy, starting with an empty cache. A rival must have a policy for the settings' mode. */
export function replayTrace(
  requests: readonly ReplayRequest[],
  policy: OrderingName | RivalPolicy,
  settings: ReplaySettings,
  onServed?: () => void,
): ReplayRun {
  const { name, online, offline } = typeof policy === 'string' ? toPolicy(policy, settings) : policy
  const layout = new PromptLayout(requests, settings)
  const cache = new TreeCache(settings.capacityTokens, settings.pageTokens)
  const run = { requests, name, layout, cache, onServed }
  if (settings.mode === 'offline') return replayOffline({ ...run, policy: offline!, schedule: settings.schedule })
  const { window, schedule = defaultSchedule(name) } = settings
  return replayOnline({ ...run, policy: online!, window, schedule })
}

function toPolicy(name: OrderingName, settings: ReplaySettings): RivalPolicy {
  return { name, online: createOnlinePolicy(name, settings), offline: createOfflinePolicy(name) }
}

interface OfflineRun {
  readonly requests: readonly ReplayRequest[]
  readonly name: string
  readonly policy: OfflinePolicy
  readonly cache: TreeCache
  readonly layout: PromptLayout
  /** undefined: the plan's own schedule */
  readonly schedule: ScheduleName | undefined
  readonly onServed?: (() => void) | undefined
}

/** Plans the whole trace as one batch and runs it. Every request is charged an equal share of the planning time. */
function replayOffline(run: OfflineRun): ReplayRun {
  const { requests, name, policy, cache, layout, schedule, onServed } = run
  const begin = process.hrtime.bigint()
  const planned = policy.plan(requests)
  const share = Number(process.hrtime.bigint() - begin) / 1e3 / requests.length
  checkPlan(
    name,
    requests,
    planned.map(({ request }) => request),
  )
  const engine = new ReplayEngine(cache, layout)
  for (const { request, order } of schedule ? rescheduleBatch(planned, schedule) : planned) {
    checkOrder(name, request, order)
    engine.serve({ request, order })
    onServed?.()
  }
  const seconds = Number(process.hrtime.bigint() - begin) / 1e9
  const { sent, cachedTokens, promptTokens } = engine
  return {
    policy: name,
    sent,
    cachedTokens,
    promptTokens,
    microseconds: requests.map(() => share),
    seconds,
  }
}

function checkPlan(name: string, requests: readonly ReplayRequest[], planned: readonly ReplayRequest[]): void {
  const isComplete = planned.length === requests.length && new Set(planned).size === requests.length
  if (!isComplete) throw new ReplayError(`internal error: the policy ${name} planned not every request once`)
}

interface OnlineRun {
  readonly requests: readonly ReplayRequest[]
  readonly name: string
  readonly policy: OnlinePolicy
  readonly cache: TreeCache
  readonly layout: PromptLayout
  /** number of arrivals that are ordered one by one and then scheduled together */
  readonly window: number
  readonly schedule: ScheduleName
  readonly onServed?: (() => void) | undefined
}

/** Runs requests as they arrive. The policy knows what was sent before and what the cache has evicted since. */
export function replayOnline(run: OnlineRun): ReplayRun {
  const { requests, name, policy, window } = run
  const begin = process.hrtime.bigint()
  const engine = new ReplayEngine(run.cache, run.layout, ({ request }, kept) => policy.cut(request, kept))
  const microseconds: number[] = []
  for (let at = 0; at < requests.length; at += window) {
    const waiting: SentRequest[] = []
    for (const request of requests.slice(at, at + window)) {
      const start = process.hrtime.bigint()
      const order = request.fixed ? rankOrder(request) : policy.order(request)
      policy.sent(request, order)
      microseconds.push(Number(process.hrtime.bigint() - start) / 1e3)
      checkOrder(name, request, order)
      waiting.push({ request, order })
    }
    for (const sent of scheduleWindow(waiting, policy, run.schedule)) {
      engine.serve(sent)
      run.onServed?.()
    }
  }
  const seconds = Number(process.hrtime.bigint() - begin) / 1e9
  const { sent, cachedTokens, promptTokens } = engine
  return { policy: name, sent, cachedTokens, promptTokens, microseconds, seconds }
}
