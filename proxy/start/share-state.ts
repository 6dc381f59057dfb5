import type { ApiKeys } from '../access/api-keys.ts'
import type { RateLimits } from '../access/rate-limits.ts'
import type { RedisFault } from '../common/reasons.ts'
import type { MemoryConversationStore } from '../prompt/turns/memory-conversation-store.ts'
import { SharedConversationStore } from '../redis/conversations/shared-conversation-store.ts'
import type { SharedRedis } from '../redis/create-shared-redis.ts'
import { SharedChunks } from '../redis/shared-chunks.ts'
import { SharedLimits } from '../redis/shared-limits.ts'
import type { SharedPart } from '../redis/shared-part.ts'
import { SharedTemplates } from '../redis/shared-templates.ts'
import type { Pipeline } from '../request/pipeline.ts'

interface SharedState extends Pick<Pipeline, 'chunks' | 'templates' | 'learnt' | 'telemetry'> {
  readonly memory: MemoryConversationStore
  readonly limits: RateLimits
  readonly keys: () => ApiKeys
}

/** Shares state through Redis. Returns where turns are looked up, and what is exchanged. */
export function shareState(
  { connection, namespace, ttlSeconds, proxy, countFaults, hot }: SharedRedis,
  { memory, chunks, templates, learnt, limits, keys, telemetry: { metrics, now } }: SharedState,
): { readonly turns: SharedConversationStore; readonly exchanged: readonly Pick<SharedPart, 'start' | 'close'>[] } {
  const onFault = (reason: RedisFault, count = 1): void => metrics.failOpen.inc({ reason }, count)
  countFaults(onFault)
  const sharing = { redis: connection, namespace, ttlSeconds, proxy, now, wallClock: Date.now, onFault }
  return {
    turns: new SharedConversationStore({ memory, ...sharing }),
    exchanged: [
      new SharedChunks({ chunks, ...sharing }),
      new SharedTemplates({ templates, learnt, ...sharing }),
      new SharedLimits({ limits, keys, ...sharing }),
      hot,
    ],
  }
}
