import type { RequestId } from '#index/context-block.ts'
import type { ReplicaMirror } from '../../replicas/mirror/replica-mirror.ts'
import { writePrompt, writeRecordHead } from '../codec/mirror-record.ts'
import { evalBytesCommand, type RedisCommand } from '../connection/redis-command.ts'
import type { MirrorKeys } from '../redis-keys.ts'
import type { MirrorChange, MirrorChanges } from './mirror-changes.ts'
import { recordLetters } from './mirror-feed.ts'
import { writeMirror } from './mirror-scripts.ts'
import type { SharedPosition, Stamp } from './shared-position.ts'

/** Changes that are written in one step. */
export interface MirrorBatch {
  readonly command: RedisCommand
  readonly changes: readonly (readonly [RequestId, MirrorChange])[]
}

/** The models of a replica's cache. */
type Believed = Pick<ReplicaMirror, 'mirror' | 'tokens'>

const mostChanges = 256
/** Encoding a prompt costs as much as this many heads. */
const headsPerPrompt = 8
const mostBytes = 1 << 18
/** Some twenty seconds' worth for a busy proxy; the others have to read it within that time. */
const feedEntries = 2_048

/** Takes waiting changes out of `changes`, as many as can be written in about a millisecond. */
export function takeBatch(
  changes: MirrorChanges,
  replica: Believed,
  keys: MirrorKeys,
  position: Pick<SharedPosition, 'stamp' | 'fence' | 'reset' | 'reuse'>,
  { proxy, ttlSeconds }: { readonly proxy: string; readonly ttlSeconds: number },
): MirrorBatch {
  const { stamp, fence, reset } = position
  const taken: (readonly [RequestId, MirrorChange])[] = []
  const places = new Map<number, number>()
  const args: (string | number | Buffer)[] = []
  let [cost, bytes] = [0, 0]
  // after a reset, records can be written only once their stamp is known
  for (const [request, change] of reset ? [] : changes.take()) {
    const written = writeChange(request, change, replica, stamp)
    if (!written) continue
    const { bucket, head, prompt } = written
    let place = places.get(bucket)
    if (place === undefined) {
      place = 4 + places.size
      places.set(bucket, place)
    }
    taken.push([request, change])
    args.push(place, bucket, request, recordLetters[change.kind], head, prompt)
    cost += prompt.length > 0 ? headsPerPrompt : 1
    bytes += prompt.length
    if (cost >= mostChanges || bytes >= mostBytes) break
  }
  // reports count as applied once all their changes are in Redis
  const isWhole = changes.size === 0 && !reset ? 1 : 0
  const { epoch, life, generation, born } = fence
  const state = [epoch, life, generation, born, stamp.sequence, isWhole]
  const fixed = [ttlSeconds, feedEntries, proxy, ...state, reset ?? '', keys.bucketPrefix, ...position.reuse]
  const all = [keys.head, keys.feed, keys.buckets, ...[...places.keys()].map((bucket) => keys.bucket(bucket))]
  return { command: evalBytesCommand(writeMirror, all, [...fixed, ...args]), changes: taken }
}

function writeChange(
  request: RequestId,
  { kind, bucket }: MirrorChange,
  { mirror, tokens }: Believed,
  stamp: Stamp,
): { bucket: number; head: Buffer; prompt: Buffer } | undefined {
  const none = Buffer.alloc(0)
  if (kind === 'gone') {
    const head = writeRecordHead({ heldLength: 0, tokensPerCharacter: undefined, reportedTokens: undefined, ...stamp })
    return { bucket, head, prompt: none }
  }
  const belief = mirror.recall(request)
  if (!belief) return undefined
  const { heldLength, tokensPerCharacter } = belief
  const reportedTokens = heldLength === 0 ? 0 : tokens.reportedOf(request)
  const head = writeRecordHead({ heldLength, tokensPerCharacter, reportedTokens, ...stamp })
  const prompt = kind === 'held' || kind === 'counted' ? none : writePrompt(request, belief.prompt)
  return prompt && { bucket: mirror.timeOf(request), head, prompt }
}
