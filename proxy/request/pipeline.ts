import type { ConversationStore } from '#index/conversation-store.ts'
import type { CacheMirror } from '#index/mirror/cache-mirror.ts'
import type { ProcessedBlocks } from '#index/processed-blocks.ts'
import type { Reading } from '../call/read-call.ts'
import type { Log } from '../common/log.ts'
import type { Gain } from '../gain/gain.ts'
import type { PinKeeper } from '../idle/pins/pin-keeper.ts'
import type { Prover } from '../idle/prove/prover.ts'
import type { Warmer } from '../idle/warming/warmer.ts'
import type { Recorder } from '../record/recorder.ts'
import type { SharedConversationStore } from '../redis/conversations/shared-conversation-store.ts'
import type { ModelLists } from '../replicas/model-lists.ts'
import type { ReplicaSet } from '../replicas/replica-set.ts'
import type { Telemetry } from '../telemetry/telemetry.ts'
import type { BorderPositions } from './borders/border-positions.ts'
import type { RequestIds } from './request-ids.ts'

/** Everything a request needs on its way through the proxy. */
export interface Pipeline extends Reading {
  readonly replicas: ReplicaSet
  /** what engines say they serve */
  readonly modelLists: Pick<ModelLists, 'askNow' | 'tick'>
  readonly processed: ProcessedBlocks
  readonly store: ConversationStore
  /** where to look for turns that the store does not know; undefined without Redis */
  readonly sharedTurns: Pick<SharedConversationStore, 'isUp' | 'fetch'> | undefined
  readonly requestIds: RequestIds
  /** what rewriting gains, by replica */
  readonly gain: Gain
  /** asks models whether the order of lists matters */
  readonly prover: Prover
  /** warms replicas that have come */
  readonly warmer: Warmer
  /** keeps what `cache_control` marks pin */
  readonly pins: PinKeeper
  /** where in their tokens prompts have the borders at which engines keep checkpoints */
  readonly borders: BorderPositions
  /** undefined: nothing is recorded */
  readonly recorder: Recorder | undefined
  readonly telemetry: Telemetry
  readonly log: Log
  /** creates an empty mirror, like those of the replicas but sharing nothing with them */
  readonly createMirror: () => CacheMirror
}
