import { LRUCache } from 'lru-cache'
import type { SharedPrompt } from '#index/cache-event.ts'
import type { RequestId } from '#index/context-block.ts'
import type { CacheMirror } from '#index/mirror/cache-mirror.ts'
import type { MirrorListener } from '#index/mirror/mirror-listener.ts'
import type { TokenMirror } from '#index/mirror/token-mirror.ts'
import { TimeSlices } from '../../http/bounds/event-loop.ts'
import type { ReplicaMirror } from '../../replicas/mirror/replica-mirror.ts'
import type { MirrorChanges, Reset } from './mirror-changes.ts'
import type { FedRecord } from './mirror-feed.ts'
import type { SharedPosition, Stamp } from './shared-position.ts'

/** How many forgotten requests to remember, in case a proxy that does not know writes them again. */
const maxGone = 1 << 16
/** How many reports to keep about requests of other proxies that have not shared them yet. */
const maxParked = 1 << 16

const kindOf = { sent: 'written', counted: 'counted', held: 'held' } as const

/** Connects a mirror with its shared copy: notes its own changes, and applies those of other proxies. */
export class MirrorFollower implements MirrorListener {
  readonly #mirror: CacheMirror
  readonly #tokens: TokenMirror
  readonly #changes: MirrorChanges
  readonly #position: Pick<SharedPosition, 'stamp' | 'isPast' | 'noteReset'>
  readonly #bucketNow: () => number
  readonly #gone = new LRUCache<RequestId, Stamp>({ max: maxGone })
  readonly #parked = new LRUCache<RequestId, number>({ max: maxParked })
  /** how many records of a request this proxy has written and not yet read in the feed */
  readonly #unread = new Map<RequestId, number>()
  /** the change being applied comes from another proxy */
  #isMuted = false

  constructor(
    { mirror, tokens }: Pick<ReplicaMirror, 'mirror' | 'tokens'>,
    changes: MirrorChanges,
    position: Pick<SharedPosition, 'stamp' | 'isPast' | 'noteReset'>,
    bucketNow: () => number,
  ) {
    this.#mirror = mirror
    this.#tokens = tokens
    this.#changes = changes
    this.#position = position
    this.#bucketNow = bucketNow
    mirror.listen(this)
  }

  changed(request: RequestId, what: keyof typeof kindOf): void {
    if (this.#isMuted) return
    if (what === 'sent') {
      this.#gone.delete(request)
      this.#mirror.noteTime(request, this.#bucketNow())
    }
    this.#changes.put(request, kindOf[what])
  }

  forgotten(request: RequestId, bucket: number): void {
    if (this.#isMuted) return
    this.#gone.set(request, this.#position.stamp)
    this.#changes.put(request, 'gone', bucket)
  }

  unknown(request: RequestId, cachedTokens: number): void {
    this.#parked.set(request, cachedTokens)
  }

  reset(type: Reset): void {
    this.#gone.clear()
    this.#parked.clear()
    this.#changes.reset(type)
    // requests that are still mirrored must be written as new
    if (type === 'cleared') for (const request of this.#mirror.requestIds()) this.#changes.put(request, 'written')
    if (!this.#isMuted) this.#position.noteReset(type)
  }

  /** Applies a reset that another proxy heard of from the engine. */
  begin(type: Reset): void {
    this.#mute(() => (type === 'cleared' ? this.#mirror.apply({ type }) : this.#mirror.applySnapshot(new Map())))
    // tokens stay known for the requests reported next
    this.#tokens.clear()
  }

  /** Forgets a request that no proxy has any more. */
  forget(request: RequestId): void {
    this.#changes.delete(request)
    this.#mute(() => this.#mirror.apply({ type: 'failed', request }))
    this.#tokens.forget(request)
  }

  /** Queues everything in memory for writing: Redis may have lost it. */
  writeAllAgain(): Promise<void> {
    return TimeSlices.each(this.#mirror.requestIds(), (request) => {
      if (!this.#changes.peek(request)) this.#changes.put(request, 'rewritten')
    })
  }

  /** Forgets requests that are in memory but not in Redis: other proxies have removed them. */
  forgetUnseen(unseen: ReadonlySet<RequestId>): Promise<void> {
    return TimeSlices.each(unseen, (request) => {
      if (!this.#changes.peek(request)) this.forget(request)
    })
  }

  /** Notes a record that this proxy has written: what the feed brings of the request before it no longer counts. */
  wrote(request: RequestId): void {
    this.#unread.set(request, (this.#unread.get(request) ?? 0) + 1)
  }

  /** The feed goes on behind all that this proxy has written. */
  skipped(): void {
    this.#unread.clear()
  }

  /** Applies a record as it is in Redis. Returns false if it is invalid. */
  take(record: FedRecord, isOwn: boolean): boolean {
    if (isOwn) this.#noteRead(record.request)
    // what this proxy wrote later will come back through the feed as for all proxies
    else if (this.#unread.has(record.request)) return true
    return record.kind === 'gone' ? this.#takeGone(record, isOwn) : this.#takeRecord(record, isOwn)
  }

  #takeGone({ request, head }: FedRecord, isOwn: boolean): true {
    if (isOwn || this.#changes.peek(request)?.kind === 'written') return true
    this.forget(request)
    this.#gone.set(request, head)
    return true
  }

  #takeRecord(record: FedRecord, isOwn: boolean): boolean {
    const { kind, request, bucket, head } = record
    // the change that waits here is later, and will come back through the feed, too
    if (this.#changes.peek(request)) return true
    const isPast = this.#position.isPast(head)
    const isKnown = this.#mirror.has(request)
    if (isKnown ? isPast : isOwn || kind === 'held' || kind === 'counted') return true
    if (!isKnown && kind === 'rewritten' && this.#wasGoneBy(request, head)) {
      this.#changes.put(request, 'gone', bucket)
      return true
    }
    const prompt = isKnown ? undefined : record.prompt()
    if (!isKnown && !prompt) return false
    const shared = isPast ? { ...record, head: { ...head, heldLength: 0 } } : record
    this.#share(shared, prompt)
    this.#shareTokens(shared, isOwn)
    return true
  }

  #noteRead(request: RequestId): void {
    const left = (this.#unread.get(request) ?? 0) - 1
    if (left > 0) this.#unread.set(request, left)
    else this.#unread.delete(request)
  }

  #share({ request, bucket, head, isLongPast = false }: FedRecord, prompt: SharedPrompt | undefined): void {
    const { heldLength, tokensPerCharacter } = head
    const shared = { request, prompt, heldLength, tokensPerCharacter, at: bucket, isLongPast }
    this.#mute(() => this.#mirror.apply({ type: 'shared', ...shared }))
  }

  /** Applies the token count that the engine reported to another proxy: it cannot be derived from characters. */
  #shareTokens({ request, head }: FedRecord, isOwn: boolean): void {
    const reported = head.heldLength === 0 ? 0 : head.reportedTokens
    if (reported !== undefined) this.#tokens.report(request, reported)
    else if (!isOwn) this.#tokens.inherit(request)
    // what the engine reported here before we knew the request
    const parked = this.#parked.get(request)
    if (parked === undefined) return
    this.#parked.delete(request)
    this.#tokens.report(request, parked)
    this.#mirror.apply({ type: parked > 0 ? 'stored' : 'evicted', request, cachedTokens: parked })
  }

  #wasGoneBy(request: RequestId, { epoch, sequence }: Stamp): boolean {
    const gone = this.#gone.get(request)
    return gone !== undefined && (epoch < gone.epoch || (epoch === gone.epoch && sequence <= gone.sequence))
  }

  #mute(run: () => void): void {
    this.#isMuted = true
    try {
      run()
    } finally {
      this.#isMuted = false
    }
  }
}
