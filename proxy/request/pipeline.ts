import type { IncomingMessage, ServerResponse } from 'node:http'
import type { ReplicaId } from '#index/context-block.ts'
import type { ConversationStore } from '#index/conversation-store.ts'
import type { CacheMirror } from '#index/mirror/cache-mirror.ts'
import type { ProcessedBlocks } from '#index/processed-blocks.ts'
import type { EngineCredentials } from '../access/engine-credentials.ts'
import type { RateLimits } from '../access/rate-limits.ts'
import type { Tenancy } from '../access/tenancy.ts'
import type { BodyMemory } from '../bounds/body-memory.ts'
import type { HeavyTurns } from '../bounds/heavy-turns.ts'
import type { KnownChunks } from '../chunks/known-chunks.ts'
import type { Gain } from '../gain/gain.ts'
import type { Log } from '../log.ts'
import type { PatternFinder } from '../patterns/pattern-finder.ts'
import type { Recorder } from '../record/recorder.ts'
import type { ReplicaSet } from '../replicas/replica-set.ts'
import type { Settings } from '../settings.ts'
import type { SharedTurns } from '../store/shared-turns.ts'
import type { RequestTelemetry } from '../telemetry/request-telemetry.ts'
import type { Telemetry } from '../telemetry/telemetry.ts'
import type { RequestIds } from './request-ids.ts'

/** Everything a request needs on its way through the proxy. */
export interface Pipeline {
  /** may change while the proxy runs; read once per request */
  readonly settings: () => Settings
  readonly tenancy: () => Tenancy
  readonly patterns: () => PatternFinder | undefined
  /** chunks with known borders, wherever they occur in prompts */
  readonly chunks: KnownChunks
  readonly replicas: ReplicaSet
  /** by replica: the key that replaces the caller's API key */
  readonly credentials: ReadonlyMap<ReplicaId, Pick<EngineCredentials, 'apiKey'>>
  readonly rateLimits: RateLimits
  readonly heavyTurns: HeavyTurns
  readonly bodyMemory: BodyMemory
  readonly processed: ProcessedBlocks
  readonly store: ConversationStore
  /** where to look for turns that the store does not know; undefined without Redis */
  readonly sharedTurns: SharedTurns | undefined
  readonly requestIds: RequestIds
  /** what rewriting gains, by replica */
  readonly gain: Gain
  /** undefined: nothing is recorded */
  readonly recorder: Recorder | undefined
  readonly telemetry: Telemetry
  readonly log: Log
  /** creates an empty mirror, like those of the replicas but sharing nothing with them */
  readonly createMirror: () => CacheMirror
  /** milliseconds, monotonic */
  readonly now: () => number
}

/**
 * The two ends of a client's request. `clientLeft` aborts if the client leaves before its answer is complete, and with
 * the ProxyError to answer if its body is given up as too slow.
 */
export interface Exchange {
  readonly incoming: IncomingMessage
  readonly outgoing: ServerResponse
  readonly clientLeft: AbortSignal
  readonly telemetry: RequestTelemetry
}
