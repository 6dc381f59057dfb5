import { createCache } from '../cache/create-cache.ts'
import { createOfflinePolicy } from '../policies/create-offline-policy.ts'
import { createOnlinePolicy } from '../policies/create-online-policy.ts'
import { checkOffline, checkOnline, type OrderingName } from '../policies/policy-names.ts'
import type { ReplaySettings } from '../replay-options.ts'
import type { ReplayRequest } from '../replay-request.ts'
import { LatencyModel } from './latency-model.ts'
import { PromptLayout } from './prompt-layout.ts'
import { replayOffline } from './replay-offline.ts'
import { replayOnline } from './replay-online.ts'
import type { ReplayRun } from './replay-run.ts'
import { defaultSchedule } from './schedule-window.ts'

/** Runs requests under one policy, starting with an empty cache. */
export function replayTrace(
  requests: readonly ReplayRequest[],
  name: OrderingName,
  settings: ReplaySettings,
  onServed?: () => void,
): ReplayRun {
  const layout = new PromptLayout(requests, settings)
  const latency = new LatencyModel(settings)
  const cache = createCache({ ...settings, kind: settings.cache, promotedTokens: latency.promotedTokens })
  const run = { requests, name, layout, latency, cache, onServed }
  if (settings.mode === 'offline') {
    checkOffline(name)
    return replayOffline({ ...run, policy: createOfflinePolicy(name), schedule: settings.schedule })
  }
  checkOnline(name)
  const { window, schedule = defaultSchedule(name) } = settings
  return replayOnline({ ...run, policy: createOnlinePolicy(name, settings), window, schedule })
}
