import { setImmediate as afterIo, setTimeout as pause } from 'node:timers/promises'
import type { RequestId } from '#index/context-block.ts'
import { TimeSlices } from '../../http/bounds/event-loop.ts'
import type { ReplicaMirror } from '../../replicas/mirror/replica-mirror.ts'
import type { RedisReply } from '../connection/redis-command.ts'
import type { RedisAccess } from '../connection/redis-connection.ts'
import { isToBeRepeated } from '../connection/redis-errors.ts'
import { SharedPart, type SharedPartOptions } from '../shared-part.ts'
import { forgetUnseen, requestsOf, writeAllAgain } from './compare-mirror.ts'
import { loadRecords } from './load-records.ts'
import { type MirrorBatch, takeBatch } from './mirror-batch.ts'
import { MirrorChanges, type Reset } from './mirror-changes.ts'
import { type FeedEntry, readFeed } from './mirror-feed.ts'
import { MirrorFollower } from './mirror-follower.ts'
import { type MirrorKeys, mirrorRedisKeys } from './mirror-keys.ts'
import { statusCommand } from './mirror-scripts.ts'
import { type MirrorHead, type MirrorStatus, readStatus, readWriteResult, type WriteResult } from './mirror-status.ts'
import { SharedPosition } from './shared-position.ts'

interface SharedMirrorOptions extends SharedPartOptions {
  readonly replicaMirror: Pick<ReplicaMirror, 'replica' | 'mirror' | 'tokens' | 'state' | 'adopt' | 'hold'>
  /** unique id of this run of this proxy */
  readonly proxy: string
  /** milliseconds since 1970, since proxies compare them */
  readonly wallClock: () => number
  /** Called with what a turn threw: a bug in this program. Sharing then continues by loading everything again. */
  readonly onError: (error: unknown) => void
  readonly pollMilliseconds?: number
  /** how long sharing pauses after such a fault */
  readonly faultMilliseconds?: number
}

/** Requests sent within this time share a bucket. */
const bucketMilliseconds = 4_000
const defaultPollMilliseconds = 40
/** A turn that throws may throw each time, and each may have loaded a whole mirror. */
const defaultFaultMilliseconds = 5_000
const entriesPerRead = 32

/**
 * A replica's mirror that proxies share through Redis. Local changes are written behind, other proxies' changes arrive
 * through a feed, and everything is loaded at the start or when the feed is lost. Redis decides which of two beliefs is
 * later (mirror-scripts.ts). Every proxy applies the results in the same order.
 */
export class SharedMirror extends SharedPart {
  readonly #options: SharedMirrorOptions
  readonly #keys: MirrorKeys
  readonly #changes = new MirrorChanges()
  readonly #follower: MirrorFollower
  readonly #position: SharedPosition
  readonly #unlisten: () => void
  /** why to load: at the start, Redis may have lost data, the feed has a gap, or a turn failed halfway */
  #mustLoad: 'start' | 'lost' | 'gap' | 'fault' | undefined = 'start'
  #inFlight = 0
  #isLoaded = false

  constructor(options: SharedMirrorOptions) {
    super(options, options.pollMilliseconds ?? defaultPollMilliseconds)
    const { namespace, replicaMirror, redis, proxy, wallClock } = options
    const position = new SharedPosition(replicaMirror, proxy, wallClock)
    this.#options = options
    this.#position = position
    this.#keys = mirrorRedisKeys(namespace, replicaMirror.replica)
    this.#follower = new MirrorFollower(replicaMirror, this.#changes, {
      stamp: () => position.stamp,
      isPast: (head) => position.isPast(head),
      bucketNow: () => Math.floor(wallClock() / bucketMilliseconds),
      onReset: (type) => position.noteReset(type),
    })
    const onLost = (): unknown => (this.#mustLoad ??= 'lost')
    this.#unlisten = redis.listen({ onUp: () => {}, onLost })
  }

  /** Changes that are not in Redis yet. */
  get waiting(): number {
    return this.#inFlight + this.#toWrite
  }

  get #toWrite(): number {
    return this.#changes.size + (this.#position.reset ? 1 : 0)
  }

  /** Whether the mirror in Redis has been loaded. */
  get isLoaded(): boolean {
    return this.#isLoaded
  }

  /** Starts to load, follow and write. The engine's reports wait for the first load. */
  override start(): void {
    super.start()
    this.#options.replicaMirror.hold(this.share())
  }

  /** Writes what it can within the given time, then stops. */
  override async close(milliseconds: number): Promise<void> {
    const until = performance.now() + milliseconds
    while (this.isStarted && this.#options.redis.isUp && this.waiting > 0 && performance.now() < until) await pause(5)
    this.#unlisten()
    await this.stop()
  }

  protected override failed(error: unknown): number {
    this.#inFlight = 0
    this.#mustLoad = 'fault'
    this.#options.onError(error)
    return this.#options.faultMilliseconds ?? defaultFaultMilliseconds
  }

  /** Returns whether Redis answered everything. */
  protected async exchange(): Promise<boolean> {
    if (this.#mustLoad && !(await this.#load())) return false
    // our own reset goes first: what others wrote before it no longer counts
    if (!this.#position.reset && !(await this.#follow())) return false
    if (this.#changes.takeOverflow()) await writeAllAgain(this.#options.replicaMirror.mirror, this.#changes)
    return this.#write()
  }

  /** Applies the feed up to its end. Returns false if that failed. */
  async #follow(): Promise<boolean> {
    const slices = new TimeSlices()
    for (;;) {
      const args = ['COUNT', entriesPerRead, 'STREAMS', this.#keys.feed, this.#position.known!.lastId]
      const reply = await this.#send({ key: this.#keys.feed, name: 'xreadBuffer', args })
      if (!reply || 'error' in reply) return false
      const entries = readFeed(reply.value)
      for (const entry of entries) {
        // meanwhile this proxy heard that the replica was reset
        if (this.#position.reset) return true
        if (!(await this.#takeEntry(entry, slices))) return false
      }
      if (entries.length < entriesPerRead) return true
    }
  }

  /** Applies an entry. Returns false if it is invalid or not the next one. */
  async #takeEntry(entry: FeedEntry | undefined, slices: TimeSlices): Promise<boolean> {
    const position = this.#position
    if (!entry) this.#options.onFault('redis_value')
    if (!entry || entry.count !== position.known!.count + 1) {
      this.#mustLoad ??= 'gap'
      return false
    }
    const isOwn = entry.proxy === this.#options.proxy
    if (entry.epoch > position.epoch) {
      if (entry.anew) this.#follower.begin(entry.anew)
      position.epoch = entry.epoch
    }
    for (const record of entry.records) {
      if (!this.#follower.take(record, isOwn)) this.#options.onFault('redis_value')
      if (slices.isOver) await slices.pass()
    }
    // only now has everything up to this entry been applied
    position.took(entry)
    return true
  }

  async #write(): Promise<boolean> {
    while ((this.#toWrite > 0 || this.#position.hasNews) && !this.#mustLoad) {
      // other pending work goes first, above all requests
      await afterIo()
      if (!this.#options.redis.isUp) return false
      if (!(await this.#writeBatch())) return false
    }
    return true
  }

  /** Writes a batch. Returns whether Redis answered. */
  async #writeBatch(): Promise<boolean> {
    const position = this.#position
    const { reset } = position
    const { sequence } = position.stamp
    const batch = this.#takeBatch(reset)
    const isWhole = this.#toWrite === 0
    position.reset = undefined
    this.#inFlight = batch.changes.length + (reset ? 1 : 0)
    const reply = await this.#send(batch.command).catch((fault: unknown) => {
      this.#giveBack(batch, reset, undefined)
      throw fault
    })
    this.#inFlight = 0
    const result = readWriteResult(reply)
    if (!result) {
      this.#giveBack(batch, reset, reply)
      return false
    }
    if (result.isRefused) {
      await this.#refused(batch, reset, result.head)
      return true
    }
    const missing = new Set(result.missing.map((at) => batch.changes[at]![0]))
    for (const [request] of batch.changes) if (!missing.has(request)) this.#follower.wrote(request)
    position.wrote(result, reset ? 0 : isWhole ? sequence : undefined)
    if (result.head.life !== position.known!.life) await this.#lost(result)
    if (missing.size > 0) await this.#writeAgain(missing)
    return true
  }

  #takeBatch(reset: Reset | undefined): MirrorBatch {
    const { ttlSeconds, proxy, replicaMirror } = this.#options
    this.#position.beginBatch()
    return takeBatch(this.#changes, replicaMirror, this.#keys, {
      stamp: this.#position.stamp,
      fence: this.#position.fence,
      reset,
      proxy,
      ttlSeconds,
    })
  }

  #giveBack({ changes }: MirrorBatch, reset: Reset | undefined, reply: RedisReply | undefined): void {
    const isHopeless = reply && 'error' in reply && !isToBeRepeated(reply.error)
    if (isHopeless) this.#options.onFault('redis_write')
    if (reset && this.#position.reset !== 'cleared') this.#position.reset = reset
    if (!isHopeless) for (const [request, change] of changes) this.#changes.putBack(request, change)
  }

  /** Handles a refusal: other proxies know of a later reset, so the state in Redis counts. */
  async #refused(batch: MirrorBatch, reset: Reset | undefined, head: MirrorHead): Promise<void> {
    this.#giveBack(batch, undefined, undefined)
    if (reset) this.#follower.begin('replaced')
    if (reset || !(await this.#follow()) || this.#position.epoch < head.epoch) this.#mustLoad ??= 'gap'
  }

  /** Redis had no head, or another one: it has lost its data. */
  async #lost({ head, count, id }: WriteResult): Promise<void> {
    if (this.#position.isOwnLife(head)) {
      const hadOne = this.#position.known!.life !== ''
      this.#position.known = { life: head.life, count, lastId: id }
      this.#follower.skipped()
      if (!hadOne) return
      await writeAllAgain(this.#options.replicaMirror.mirror, this.#changes)
    } else this.#mustLoad = 'lost'
  }

  /** Writes records again that Redis no longer has, unless other proxies have removed them. */
  async #writeAgain(requests: ReadonlySet<RequestId>): Promise<void> {
    for (const request of requests)
      if (this.#options.replicaMirror.mirror.has(request)) this.#changes.put(request, 'rewritten')
    if (!this.#mustLoad) await this.#follow()
  }

  /** Loads the mirror from Redis, and queues what Redis may have lost. Returns false if that failed. */
  async #load(): Promise<boolean> {
    const why = this.#mustLoad
    const status = readStatus(await this.#send(statusCommand(this.#keys)))
    if (!status) return false
    this.#mustLoad = undefined
    const { known } = this.#position
    const isSame = status.head?.life === known?.life && status.count >= (known?.count ?? 0)
    if (why === 'lost' && known && isSame && this.#isWhole(status)) return true
    this.#goOnFrom(status)
    // memory is as recent as what Redis has left: write it again, and Redis keeps the later of both
    const isLost = known && (!isSame || why === 'lost' || why === 'fault')
    if (isLost) await writeAllAgain(this.#options.replicaMirror.mirror, this.#changes)
    const before = await requestsOf(this.#options.replicaMirror.mirror)
    if (status.head && !(await this.#loadRecords(before, status.records))) {
      this.#mustLoad = why
      return false
    }
    if (!isLost) await forgetUnseen(before, this.#changes, this.#follower)
    this.#isLoaded = true
    return true
  }

  #isWhole({ records }: MirrorStatus): boolean {
    return records >= this.#options.replicaMirror.mirror.size - this.#changes.size
  }

  #goOnFrom({ head, count, lastId }: MirrorStatus): void {
    const position = this.#position
    const isFirst = position.known === undefined
    position.known = { life: head?.life ?? '', count, lastId }
    this.#follower.skipped()
    if (!head || head.epoch < position.epoch) return
    // keep what this proxy heard from the engine and Redis does not know yet
    if (!isFirst && head.epoch > position.epoch && !position.reset) this.#follower.begin('replaced')
    position.epoch = head.epoch
    position.adopt(head, 'degraded')
  }

  #loadRecords(before: Set<RequestId>, count: number): Promise<boolean> {
    const { redis, onFault } = this.#options
    return loadRecords(redis, this.#keys, count, (record) => {
      if (record) before.delete(record.request)
      if (!record || !this.#follower.take(record, false)) onFault('redis_value')
    })
  }

  async #send(command: Parameters<RedisAccess['write']>[0][number]): Promise<RedisReply | undefined> {
    const [reply] = await this.#options.redis.write([command])
    return reply
  }
}
