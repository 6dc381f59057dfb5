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

/** All that a request needs on its way. */
export interface Pipeline {
  /** what can change while the proxy runs; read once for each request */
  readonly settings: () => Settings
  readonly tenancy: () => Tenancy
  readonly patterns: () => PatternFinder | undefined
  /** chunks whose borders are known, in any prompt */
  readonly chunks: KnownChunks
  readonly replicas: ReplicaSet
  /** by replica: what becomes of the caller's API key */
  readonly credentials: ReadonlyMap<ReplicaId, Pick<EngineCredentials, 'apiKey'>>
  readonly rateLimits: RateLimits
  readonly heavyTurns: HeavyTurns
  readonly bodyMemory: BodyMemory
  readonly processed: ProcessedBlocks
  readonly store: ConversationStore
  /** where turns are looked for that the store does not know; undefined without Redis */
  readonly sharedTurns: SharedTurns | undefined
  readonly requestIds: RequestIds
  /** what our work brings, by replica */
  readonly gain: Gain
  /** undefined: nothing is recorded */
  readonly recorder: Recorder | undefined
  readonly telemetry: Telemetry
  readonly log: Log
  /** an empty mirror, as the replicas have, that shares nothing with theirs */
  readonly createMirror: () => CacheMirror
  /** milliseconds, monotonic */
  readonly now: () => number
}

/** The two ends of a client's request; `clientLeft` aborts when the client goes before its answer is whole. */
export interface Exchange {
  readonly incoming: IncomingMessage
  readonly outgoing: ServerResponse
  readonly clientLeft: AbortSignal
  readonly telemetry: RequestTelemetry
}
