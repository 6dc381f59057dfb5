import { setImmediate as afterIo, setTimeout as pause } from 'node:timers/promises'
import type { RequestId } from '#index/context-block.ts'
import { TimeSlices } from '../../http/bounds/event-loop.ts'
import type { ReplicaMirror } from '../../replicas/mirror/replica-mirror.ts'
import type { RedisReply } from '../connection/redis-command.ts'
import { isToBeRepeated } from '../connection/redis-errors.ts'
import { type MirrorKeys, mirrorRedisKeys } from '../redis-keys.ts'
import { SharedPart, type SharedPartOptions } from '../shared-part.ts'
import { loadRecords } from './load-records.ts'
import { type MirrorBatch, takeBatch } from './mirror-batch.ts'
import { MirrorChanges, type Reset } from './mirror-changes.ts'
import { type FeedEntry, readEntry } from './mirror-feed.ts'
import { MirrorFollower } from './mirror-follower.ts'
import { type MirrorAnswer, type MirrorHead, readMirrorAnswer, statusCommand } from './mirror-scripts.ts'
import { SharedPosition } from './shared-position.ts'

interface SharedMirrorOptions extends SharedPartOptions {
  readonly replicaMirror: Pick<
    ReplicaMirror,
    'replica' | 'mirror' | 'tokens' | 'state' | 'adopt' | 'hold' | 'reuse' | 'applied' | 'adoptReuse'
  >
  /** unique id of this run of this proxy */
  readonly proxy: string
  /** milliseconds since 1970, since proxies compare them */
  readonly wallClock: () => number
  /** Called with what a turn threw: a bug in this program. Sharing then continues by loading everything again. */
  readonly onError: (error: unknown) => void
  /** how long sharing pauses after such a fault */
  readonly faultMilliseconds?: number
}

/** Requests sent within this time share a bucket. */
const bucketMilliseconds = 4_000
const pollMilliseconds = 40
/** A turn that throws may throw each time, and each may have loaded a whole mirror. */
const defaultFaultMilliseconds = 5_000
const entriesPerRead = 32

/**
 * A replica's mirror that proxies share through Redis. Local changes are written behind, other proxies' changes arrive
 * through a feed, and everything is loaded at the start or when the feed is lost. Redis decides which of two beliefs is
 * later (mirror-scripts.ts). Every proxy applies the results in the same order.
 */
export class SharedMirror extends SharedPart<SharedMirrorOptions> {
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
    super(options, pollMilliseconds)
    const { namespace, replicaMirror, redis, proxy, wallClock } = options
    const position = new SharedPosition(replicaMirror, proxy, wallClock)
    this.#position = position
    this.#keys = mirrorRedisKeys(namespace, replicaMirror.replica)
    const bucketNow = (): number => Math.floor(wallClock() / bucketMilliseconds)
    this.#follower = new MirrorFollower(replicaMirror, this.#changes, position, bucketNow)
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
    this.options.replicaMirror.hold(this.share())
  }

  /** Writes what it can within the given time, then stops. */
  override async close(milliseconds: number): Promise<void> {
    const until = performance.now() + milliseconds
    while (this.isStarted && this.options.redis.isUp && this.waiting > 0 && performance.now() < until) await pause(5)
    this.#unlisten()
    await this.stop()
  }

  protected override failed(error: unknown): number {
    this.#inFlight = 0
    this.#mustLoad = 'fault'
    this.options.onError(error)
    return this.options.faultMilliseconds ?? defaultFaultMilliseconds
  }

  /** Returns whether Redis answered everything. */
  protected async exchange(): Promise<boolean> {
    if (this.#mustLoad && !(await this.#load())) return false
    // our own reset goes first: what others wrote before it no longer counts
    if (!this.#position.reset && !(await this.#follow())) return false
    if (this.#changes.takeOverflow()) await this.#follower.writeAllAgain()
    return this.#write()
  }

  /** Applies the feed up to its end. Returns false if that failed. */
  async #follow(): Promise<boolean> {
    const slices = new TimeSlices()
    for (;;) {
      const entries = await this.readStream(this.#keys.feed, this.#position.known!.lastId, entriesPerRead)
      if (!entries) return false
      for (const entry of entries) {
        // meanwhile this proxy heard that the replica was reset
        if (this.#position.reset) return true
        if (!(await this.#takeEntry(readEntry(entry), slices))) return false
      }
      if (entries.length < entriesPerRead) return true
    }
  }

  /** Applies an entry. Returns false if it is invalid or not the next one. */
  async #takeEntry(entry: FeedEntry | undefined, slices: TimeSlices): Promise<boolean> {
    const position = this.#position
    if (!entry) this.options.onFault('redis_value')
    if (!entry || entry.count !== position.known!.count + 1) {
      this.#mustLoad ??= 'gap'
      return false
    }
    const isOwn = entry.proxy === this.options.proxy
    if (entry.epoch > position.epoch) {
      if (entry.anew) this.#follower.begin(entry.anew)
      position.epoch = entry.epoch
    }
    for (const record of entry.records) {
      if (!this.#follower.take(record, isOwn)) this.options.onFault('redis_value')
      if (slices.isOver) await slices.pass()
    }
    if (!position.adoptReuse(entry.reuse)) this.options.onFault('redis_value')
    // only now has everything up to this entry been applied
    position.took(entry)
    return true
  }

  async #write(): Promise<boolean> {
    while ((this.#toWrite > 0 || this.#position.hasNews) && !this.#mustLoad) {
      // other pending work goes first, above all requests
      await afterIo()
      if (!this.options.redis.isUp) return false
      if (!(await this.#writeBatch())) return false
    }
    return true
  }

  /** Writes a batch. Returns whether Redis answered. */
  async #writeBatch(): Promise<boolean> {
    const position = this.#position
    const { reset } = position
    const { sequence } = position.stamp
    position.beginBatch()
    const batch = takeBatch(this.#changes, this.options.replicaMirror, this.#keys, position, this.options)
    const isWhole = this.#toWrite === 0
    position.reset = undefined
    this.#inFlight = batch.changes.length + (reset ? 1 : 0)
    const reply = await this.ask(batch.command).catch((fault: unknown) => {
      this.#giveBack(batch, reset, undefined)
      throw fault
    })
    this.#inFlight = 0
    const result = readMirrorAnswer(reply)
    const head = result?.head
    if (!head) {
      this.#giveBack(batch, reset, reply)
      return false
    }
    if (result.isRefused) {
      await this.#refused(batch, reset, head)
      return true
    }
    const missing = new Set(result.numbers.map((at) => batch.changes[at]![0]))
    for (const [request] of batch.changes) if (!missing.has(request)) this.#follower.wrote(request)
    position.wrote(head, result.reuse, reset ? 0 : isWhole ? sequence : undefined)
    if (head.life !== position.known!.life) await this.#lost(head, result)
    if (missing.size > 0) await this.#writeAgain(missing)
    return true
  }

  #giveBack({ changes }: MirrorBatch, reset: Reset | undefined, reply: RedisReply | undefined): void {
    const isHopeless = reply && 'error' in reply && !isToBeRepeated(reply.error)
    if (isHopeless) this.options.onFault('redis_write')
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
  async #lost(head: MirrorHead, { count, lastId }: MirrorAnswer): Promise<void> {
    if (this.#position.isOwnLife(head)) {
      const hadOne = this.#position.known!.life !== ''
      this.#position.known = { life: head.life, count, lastId }
      this.#follower.skipped()
      if (!hadOne) return
      await this.#follower.writeAllAgain()
    } else this.#mustLoad = 'lost'
  }

  /** Writes records again that Redis no longer has, unless other proxies have removed them. */
  async #writeAgain(requests: ReadonlySet<RequestId>): Promise<void> {
    for (const request of requests)
      if (this.options.replicaMirror.mirror.has(request)) this.#changes.put(request, 'rewritten')
    if (!this.#mustLoad) await this.#follow()
  }

  /** Loads the mirror from Redis, and queues what Redis may have lost. Returns false if that failed. */
  async #load(): Promise<boolean> {
    const why = this.#mustLoad
    const status = readMirrorAnswer(await this.ask(statusCommand(this.#keys)))
    if (!status) return false
    this.#mustLoad = undefined
    const { known } = this.#position
    const isSame = status.head?.life === known?.life && status.count >= (known?.count ?? 0)
    if (why === 'lost' && known && isSame && this.#isWhole(status)) return true
    this.#goOnFrom(status)
    // memory is as recent as what Redis has left: write it again, and Redis keeps the later of both
    const isLost = known && (!isSame || why === 'lost' || why === 'fault')
    if (isLost) await this.#follower.writeAllAgain()
    const before = new Set<RequestId>()
    await TimeSlices.each(this.options.replicaMirror.mirror.requestIds(), (request) => before.add(request))
    if (status.head && !(await this.#loadRecords(before, recordsOf(status)))) {
      this.#mustLoad = why
      return false
    }
    if (!isLost) await this.#follower.forgetUnseen(before)
    this.#isLoaded = true
    return true
  }

  #isWhole(status: MirrorAnswer): boolean {
    return recordsOf(status) >= this.options.replicaMirror.mirror.size - this.#changes.size
  }

  #goOnFrom({ head, count, lastId, reuse }: MirrorAnswer): void {
    const position = this.#position
    if (!position.adoptReuse(reuse)) this.options.onFault('redis_value')
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
    const { redis, onFault } = this.options
    return loadRecords(redis, this.#keys, count, (record) => {
      if (record) before.delete(record.request)
      if (!record || !this.#follower.take(record, false)) onFault('redis_value')
    })
  }
}

function recordsOf({ numbers: [records = 0] }: MirrorAnswer): number {
  return records
}
