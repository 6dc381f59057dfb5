import type { TreeCache } from '#index/tree-cache/tree-cache.ts'
import type { OnlinePolicy } from '../policies/policy.ts'
import { rankOrder } from '../policies/static-orders.ts'
import type { ReplayRequest } from '../replay-request.ts'
import type { PromptLayout } from './prompt-layout.ts'
import { ReplayEngine } from './replay-engine.ts'
import { checkOrder, type ReplayRun, type SentRequest } from './replay-run.ts'
import { type ScheduleName, scheduleWindow } from './schedule-window.ts'

/** The input of an online run. */
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
