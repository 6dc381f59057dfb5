import { LRUCache } from 'lru-cache'
import type { MirroredPrompt } from '#index/cache-event.ts'
import type { RequestId } from '#index/context-block.ts'
import type { CacheMirror } from '#index/mirror/cache-mirror.ts'
import type { MirrorListener } from '#index/mirror/mirror-listener.ts'
import type { TokenMirror } from '#index/mirror/token-mirror.ts'
import { TimeSlices } from '../../http/bounds/event-loop.ts'
import type { ReplicaCache } from '../../replicas/mirror/replica-cache.ts'
import { type MirrorRecord, type Reset, readPrompt } from '../codec/mirror-entry.ts'
import type { MirrorChanges } from './mirror-changes.ts'
import { isLater, type MirrorPosition, type Stamp } from './mirror-position.ts'

/** How many forgotten requests to remember, in case a proxy that does not know writes them again. */
const maxGone = 1 << 16
/** How many reports to keep about requests of other proxies that have not shared them yet. */
const maxParked = 1 << 16

/** How a record's belief compares with ours: by more, as many or fewer reports; `past`: this proxy knows of a reset since. */
export type Age = 'later' | 'as late' | 'earlier' | 'past'

/** Connects a mirror with the log that proxies share: notes its own changes, and applies those of other proxies. */
export class MirrorFollower implements MirrorListener {
  readonly #mirror: CacheMirror
  readonly #tokens: TokenMirror
  readonly #changes: MirrorChanges
  readonly #position: Pick<MirrorPosition, 'stamp' | 'noteReset'>
  readonly #gone = new LRUCache<RequestId, Stamp>({ max: maxGone })
  readonly #parked = new LRUCache<RequestId, number>({ max: maxParked })
  /** the change being applied comes from another proxy */
  #isMuted = false

  constructor(
    { mirror, tokens }: Pick<ReplicaCache, 'mirror' | 'tokens'>,
    changes: MirrorChanges,
    position: Pick<MirrorPosition, 'stamp' | 'noteReset'>,
  ) {
    this.#mirror = mirror
    this.#tokens = tokens
    this.#changes = changes
    this.#position = position
    mirror.listen(this)
  }

  changed(request: RequestId, what: 'sent' | 'counted' | 'held'): void {
    if (this.#isMuted) return
    if (what === 'sent') this.#gone.delete(request)
    this.#changes.put(request, what)
  }

  forgotten(request: RequestId): void {
    if (this.#isMuted) return
    this.#gone.set(request, this.#position.stamp)
    this.#changes.put(request, 'gone')
  }

  unknown(request: RequestId, cachedTokens: number): void {
    this.#parked.set(request, cachedTokens)
  }

  reset(type: Reset): void {
    this.#gone.clear()
    this.#parked.clear()
    this.#changes.reset()
    if (!this.#isMuted) this.#position.noteReset(type)
  }

  /** Applies a reset that another proxy heard of from the engine. `keepsOwn`: requests that wait to be told were sent since. */
  begin(type: Reset, keepsOwn: boolean): void {
    const held = [...(keepsOwn ? this.#changes.keys() : [])].map((request) => this.#mirror.heldOf(request))
    const kept = held.flatMap((one) => (one ? [[one.request, one.cachedLength * one.tokensPerCharacter] as const] : []))
    this.#mute(() => {
      if (type === 'cleared' && kept.length === 0) this.#mirror.apply({ type })
      else this.#mirror.applySnapshot(new Map(kept))
    })
    // tokens stay known for the requests reported next
    this.#tokens.clear()
  }

  /** Queues what is in memory of these requests for writing: Redis may have lost it. */
  writeAgain(requests: Iterable<RequestId>): Promise<void> {
    return TimeSlices.each(requests, (request) => this.#changes.put(request, 'known'))
  }

  /** Applies a record of another proxy, with the stamp of its entry. Returns false if it is invalid. */
  take(record: MirrorRecord, age: Age, stamp: Stamp): boolean {
    if (record.kind === 'gone') this.#takeGone(record.request, stamp)
    else if (this.#mirror.has(record.request)) this.#takeKnown(record, age)
    else if (record.kind === 'sent' || record.kind === 'known') return this.#takeNew(record, age, stamp)
    return true
  }

  #takeGone(request: RequestId, stamp: Stamp): void {
    if (this.#changes.get(request) === 'sent') return
    this.#changes.delete(request)
    this.#mute(() => this.#mirror.apply({ type: 'failed', request }))
    this.#tokens.forget(request)
    this.#gone.set(request, stamp)
  }

  #takeNew(record: MirrorRecord, age: Age, stamp: Stamp): boolean {
    const { kind, request } = record
    // gone here: that is still to be told
    if (this.#changes.get(request)) return true
    const gone = kind === 'known' ? this.#gone.get(request) : undefined
    if (gone && !isLater(stamp, gone)) {
      this.#changes.put(request, 'gone')
      return true
    }
    const prompt = record.prompt && readPrompt(record.prompt)
    if (!prompt) return false
    this.#share(age === 'past' ? { ...record, heldLength: 0 } : record, prompt)
    return true
  }

  /** What waits here counts, and is told behind what was read, unless that is of more reports or tells as much. */
  #takeKnown(record: MirrorRecord, age: Age): void {
    const { kind, request } = record
    if (this.#changes.get(request) === 'known' && (kind === 'sent' || kind === 'known')) {
      this.#changes.delete(request)
      if (age === 'past') this.#changes.put(request, 'held')
    } else if (age === 'later' && kind !== 'counted' && this.#changes.get(request) === 'held') {
      this.#changes.delete(request)
      this.#changes.put(request, 'counted')
    }
    const waiting = this.#changes.get(request)
    const tellsHeld = kind !== 'counted' && waiting !== 'held' && waiting !== 'sent'
    if (tellsHeld && age === 'earlier' && waiting !== 'known' && !this.#isHeldSo(record)) {
      this.#changes.put(request, 'held')
    }
    const takesCount = waiting === undefined || this.#mirror.densityOf(request) === undefined
    const counted = takesCount ? record.tokensPerCharacter : undefined
    const takesHeld = tellsHeld && (age === 'later' || age === 'as late')
    this.#share({ ...record, tokensPerCharacter: counted }, undefined, takesHeld)
  }

  #isHeldSo({ request, heldLength, reportedTokens }: MirrorRecord): boolean {
    const held = this.#mirror.heldOf(request)
    if (!held) return heldLength === 0
    return held.cachedLength === heldLength && this.#tokens.reportedOf(request) === reportedTokens
  }

  #share(record: MirrorRecord, prompt: MirroredPrompt | undefined, takesHeld = true): void {
    const { request, tokensPerCharacter, reportedTokens } = record
    const heldLength = takesHeld ? record.heldLength : undefined
    this.#mute(() => this.#mirror.apply({ type: 'shared', request, prompt, heldLength, tokensPerCharacter }))
    if (!takesHeld) return
    // the token count that the engine reported to another proxy cannot be derived from characters
    const reported = heldLength === 0 ? 0 : reportedTokens
    if (reported !== undefined) this.#tokens.report(request, reported)
    else this.#tokens.inherit(request)
    // what the engine reported here before we knew the request
    const parked = this.#parked.get(request)
    if (parked === undefined) return
    this.#parked.delete(request)
    this.#tokens.report(request, parked)
    this.#mirror.apply({ type: parked > 0 ? 'stored' : 'evicted', request, cachedTokens: parked })
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
