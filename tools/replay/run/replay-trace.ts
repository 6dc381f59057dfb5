import { TreeCache } from '#index/tree-cache/tree-cache.ts'
import { createOfflinePolicy } from '../policies/create-offline-policy.ts'
import { createOnlinePolicy } from '../policies/create-online-policy.ts'
import type { OfflinePolicy, OnlinePolicy, OrderingName } from '../policies/policy.ts'
import type { ReplaySettings } from '../replay-options.ts'
import type { ReplayRequest } from '../replay-request.ts'
import { PromptLayout } from './prompt-layout.ts'
import { replayOffline } from './replay-offline.ts'
import { replayOnline } from './replay-online.ts'
import type { ReplayRun } from './replay-run.ts'
import { defaultSchedule } from './schedule-window.ts'

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
