import type { TreeCache } from '#index/tree-cache/tree-cache.ts'
import type { OfflinePolicy } from '../policies/policy.ts'
import { ReplayError } from '../replay-error.ts'
import type { ReplayRequest } from '../replay-request.ts'
import type { PromptLayout } from './prompt-layout.ts'
import { ReplayEngine } from './replay-engine.ts'
import { checkOrder, type ReplayRun } from './replay-run.ts'
import { rescheduleBatch, type ScheduleName } from './schedule-window.ts'

/** The input of an offline run. */
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
export function replayOffline(run: OfflineRun): ReplayRun {
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
