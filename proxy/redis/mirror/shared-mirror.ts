import { setImmediate as afterIo, setTimeout as pause } from 'node:timers/promises'
import type { RequestId } from '#index/context-block.ts'
import { TimeSlices } from '../../bounds/time-slices.ts'
import type { MirrorMode, ReplicaMirror } from '../../mirror/replica-mirror.ts'
import { evalBytesCommand, type RedisReply } from '../connection/redis-command.ts'
import type { RedisAccess } from '../connection/redis-connection.ts'
import { isToBeRepeated } from '../connection/redis-errors.ts'
import { forgetUnseen, requestsOf, writeAllAgain } from './compare-mirror.ts'
import { loadRecords } from './load-records.ts'
import { type MirrorBatch, takeBatch } from './mirror-batch.ts'
import { MirrorChanges, type Reset } from './mirror-changes.ts'
import { type FeedEntry, readFeed } from './mirror-feed.ts'
import { MirrorFollower, type Stamp } from './mirror-follower.ts'
import { type MirrorKeys, mirrorRedisKeys } from './mirror-keys.ts'
import { readMirrorStand } from './mirror-scripts.ts'
import { type MirrorHead, type MirrorStand, readStand, readWriteResult, type WriteResult } from './mirror-stand.ts'

export interface SharedMirrorOptions {
  readonly replicaMirror: Pick<ReplicaMirror, 'replica' | 'mirror' | 'tokens' | 'state' | 'adopt' | 'hold'>
  readonly redis: RedisAccess
  readonly namespace: string
  readonly ttlSeconds: number
  /** names this proxy's life, apart from all others */
  readonly proxy: string
  /** milliseconds since 1970: proxies compare theirs */
  readonly wallClock: () => number
  /** counts what Redis held and could not be relied on, or did not take */
  readonly onFault: (reason: 'redis_value' | 'redis_write') => void
  readonly pollMilliseconds?: number
}

/** What is known of the mirror in Redis. */
interface Known {
  readonly life: string
  readonly count: number
  readonly lastId: string
}

const defaultPollMilliseconds = 40
const retryMilliseconds = 250
/** Requests sent within so long lie together. */
const bucketMilliseconds = 4_000
const entriesPerRead = 32

/**
 * A replica's mirror that proxies share through Redis: what changes here is written behind, what changes elsewhere comes
 * in by a feed, and all of it is loaded at the start or when the feed is lost. Redis decides which of two beliefs is the
 * later one (mirror-scripts.ts); every proxy takes in what came out, in one order.
 */
export class SharedMirror {
  readonly #options: SharedMirrorOptions
  readonly #keys: MirrorKeys
  readonly #changes = new MirrorChanges()
  readonly #follower: MirrorFollower
  readonly #closing = new AbortController()
  #known: Known | undefined
  /** outlives what Redis has */
  #epoch = 1
  #generation = ''
  #born = 0
  /** the engine has begun anew, and Redis has not heard of it */
  #reset: Reset | undefined
  /** Redis may have lost something, or the feed has a gap */
  #mustLoad: 'start' | 'lost' | 'gap' | undefined = 'start'
  #lives = 0
  #inFlight = 0
  #isLoaded = false
  /** up to which Redis knows that the engine's reports were taken in */
  #toldSequence = 0
  #running: Promise<void> | undefined

  constructor(options: SharedMirrorOptions) {
    const { namespace, replicaMirror, redis, wallClock } = options
    this.#options = options
    this.#keys = mirrorRedisKeys(namespace, replicaMirror.replica)
    this.#follower = new MirrorFollower(replicaMirror, this.#changes, {
      stamp: () => this.#stamp,
      // until a reset is in Redis nobody knows its epoch: it is later than all there are
      isPast: ({ epoch }) => this.#reset !== undefined || epoch < this.#epoch,
      bucketNow: () => Math.floor(wallClock() / bucketMilliseconds),
      onReset: (type) => this.#onReset(type),
    })
    redis.listen({
      onUp: () => {},
      onLost: () => {
        this.#mustLoad ??= 'lost'
      },
    })
  }

  /** Changes that Redis has not heard of. */
  get waiting(): number {
    return this.#inFlight + this.#toWrite
  }

  get #toWrite(): number {
    return this.#changes.size + (this.#reset ? 1 : 0)
  }

  /** Whether what Redis had has been loaded. */
  get isLoaded(): boolean {
    return this.#isLoaded
  }

  /** Begins to load, to follow and to write; what engines report waits until what Redis has is loaded. */
  start(): void {
    const { redis, replicaMirror, onFault } = this.#options
    const first = redis.isUp ? this.#turn() : Promise.resolve()
    replicaMirror.hold(first)
    // none of it rejects but by a fault of ours: memory goes on without
    this.#running = first.then(() => this.#run()).catch(() => onFault('redis_value'))
  }

  /** Writes no more after what can be written in so many milliseconds. */
  async close(milliseconds: number): Promise<void> {
    const until = performance.now() + milliseconds
    while (this.#running && this.#options.redis.isUp && this.waiting > 0 && performance.now() < until) await pause(5)
    this.#closing.abort()
    await this.#running
  }

  get #stamp(): Stamp {
    const { generation = '', sequence } = this.#options.replicaMirror.state
    // until a reset is in Redis its epoch is the next one
    return { epoch: this.#epoch + (this.#reset ? 1 : 0), sequence: generation === this.#generation ? sequence : 0 }
  }

  #onReset(type: Reset): void {
    const { generation = '' } = this.#options.replicaMirror.state
    if (generation !== this.#generation) {
      this.#generation = generation
      this.#born = this.#options.wallClock()
    }
    this.#reset = this.#reset === 'cleared' ? 'cleared' : type
  }

  async #run(): Promise<void> {
    const { signal } = this.#closing
    const { redis, pollMilliseconds = defaultPollMilliseconds } = this.#options
    while (!signal.aborted) {
      await pause(pollMilliseconds, undefined, { signal, ref: false }).catch(() => {})
      if (signal.aborted || !redis.isUp) continue
      if (!(await this.#turn())) await pause(retryMilliseconds, undefined, { signal, ref: false }).catch(() => {})
    }
  }

  /** Whether Redis took and told everything. */
  async #turn(): Promise<boolean> {
    if (this.#mustLoad && !(await this.#load())) return false
    // what is news here goes first: what others wrote before counts no longer
    if (!this.#reset && !(await this.#follow())) return false
    if (this.#changes.takeOverflow()) await writeAllAgain(this.#options.replicaMirror.mirror, this.#changes)
    return this.#write()
  }

  /** Takes in what proxies wrote, up to its end. */
  async #follow(): Promise<boolean> {
    const slices = new TimeSlices()
    for (;;) {
      const args = ['COUNT', entriesPerRead, 'STREAMS', this.#keys.feed, this.#known!.lastId]
      const reply = await this.#send({ key: this.#keys.feed, name: 'xreadBuffer', args })
      if (!reply || 'error' in reply) return false
      const entries = readFeed(reply.value)
      for (const entry of entries) {
        // it was heard meanwhile that the replica has begun anew
        if (this.#reset) return true
        if (!(await this.#takeEntry(entry, slices))) return false
      }
      if (entries.length < entriesPerRead) return true
    }
  }

  /** Whether it is the next one, and can be relied on. */
  async #takeEntry(entry: FeedEntry | undefined, slices: TimeSlices): Promise<boolean> {
    const known = this.#known!
    if (!entry) this.#options.onFault('redis_value')
    if (!entry || entry.count !== known.count + 1) {
      this.#mustLoad ??= 'gap'
      return false
    }
    const isOwn = entry.proxy === this.#options.proxy
    if (entry.epoch > this.#epoch) {
      if (entry.anew) this.#follower.begin(entry.anew)
      this.#epoch = entry.epoch
    }
    for (const record of entry.records) {
      if (!this.#follower.take(record, isOwn)) this.#options.onFault('redis_value')
      if (slices.isOver) await slices.pass()
    }
    // only now is all of it known up to there
    if (entry.epoch === this.#epoch) this.#adopt(entry, 'exact')
    this.#known = { ...known, life: entry.life, count: entry.count, lastId: entry.id }
    return true
  }

  /** Goes on where another proxy has got to with the engine's reports. */
  #adopt({ generation, born, sequence }: Pick<MirrorHead, 'generation' | 'born' | 'sequence'>, mode: MirrorMode): void {
    const { state } = this.#options.replicaMirror
    if (generation === '' || this.#reset) return
    this.#generation = generation
    this.#born = born
    if (generation === state.generation && sequence <= state.sequence) return
    this.#toldSequence = sequence
    this.#options.replicaMirror.adopt({ mode, generation, sequence })
  }

  async #write(): Promise<boolean> {
    while ((this.#toWrite > 0 || this.#stamp.sequence !== this.#toldSequence) && !this.#mustLoad) {
      // whatever is under way, requests first of all, goes before
      await afterIo()
      if (!this.#options.redis.isUp) return false
      if (!(await this.#writeBatch())) return false
    }
    return true
  }

  /** Whether it was answered. */
  async #writeBatch(): Promise<boolean> {
    const reset = this.#reset
    const { sequence } = this.#stamp
    const batch = this.#takeBatch(reset)
    const isWhole = this.#toWrite === 0
    this.#reset = undefined
    this.#inFlight = batch.changes.length + (reset ? 1 : 0)
    const reply = await this.#send(batch.command)
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
    this.#epoch = Math.max(this.#epoch, result.head.epoch)
    if (reset) this.#toldSequence = 0
    else if (isWhole) this.#toldSequence = sequence
    if (result.head.life !== this.#known!.life) await this.#lost(result)
    if (result.missing.length > 0) await this.#writeAgain(result.missing.map((at) => batch.changes[at]![0]))
    return true
  }

  #takeBatch(reset: Reset | undefined): MirrorBatch {
    const { ttlSeconds, proxy, replicaMirror } = this.#options
    this.#lives += 1
    return takeBatch(this.#changes, replicaMirror, this.#keys, {
      stamp: this.#stamp,
      fence: { epoch: this.#epoch, life: this.#life, generation: this.#generation, born: this.#born },
      reset,
      proxy,
      ttlSeconds,
    })
  }

  /** What a head is to be known by that has to be made by the batch under way. */
  get #life(): string {
    return `${this.#options.proxy}.${this.#lives}`
  }

  #giveBack({ changes }: MirrorBatch, reset: Reset | undefined, reply: RedisReply | undefined): void {
    const isHopeless = reply && 'error' in reply && !isToBeRepeated(reply.error)
    if (isHopeless) this.#options.onFault('redis_write')
    if (reset && this.#reset !== 'cleared') this.#reset = reset
    if (!isHopeless) for (const [request, change] of changes) this.#changes.putBack(request, change)
  }

  /** The replica has begun anew, as others know better: what is there counts. */
  async #refused(batch: MirrorBatch, reset: Reset | undefined, head: MirrorHead): Promise<void> {
    this.#giveBack(batch, undefined, undefined)
    if (reset) this.#follower.begin('replaced')
    if (reset || !(await this.#follow()) || this.#epoch < head.epoch) this.#mustLoad ??= 'gap'
  }

  /** Redis had no head, or another one: it has lost what it had. */
  async #lost({ head, count, id }: WriteResult): Promise<void> {
    if (head.life === this.#life) {
      const hadOne = this.#known!.life !== ''
      this.#known = { life: head.life, count, lastId: id }
      if (!hadOne) return
      await writeAllAgain(this.#options.replicaMirror.mirror, this.#changes)
    } else this.#mustLoad = 'lost'
  }

  /** What Redis has no longer, unless others have said that it is gone. */
  async #writeAgain(requests: readonly RequestId[]): Promise<void> {
    for (const request of requests) if (this.#options.replicaMirror.mirror.has(request)) this.#changes.put(request, 'r')
    if (!this.#mustLoad) await this.#follow()
  }

  /** Loads what Redis has, and finds out what it has lost. */
  async #load(): Promise<boolean> {
    const why = this.#mustLoad
    const { head: headKey, feed, buckets } = this.#keys
    const stand = readStand(await this.#send(evalBytesCommand(readMirrorStand, [headKey, feed, buckets], [])))
    if (!stand) return false
    this.#mustLoad = undefined
    const known = this.#known
    const isSame = stand.head?.life === known?.life && stand.count >= (known?.count ?? 0)
    if (why === 'lost' && known && isSame && this.#isWhole(stand)) return true
    this.#goOnFrom(stand)
    // what memory has is as new as what Redis has left: it is written again, and Redis keeps the later of both
    const isLost = known && (!isSame || why === 'lost')
    if (isLost) await writeAllAgain(this.#options.replicaMirror.mirror, this.#changes)
    const before = await requestsOf(this.#options.replicaMirror.mirror)
    if (stand.head && !(await this.#loadRecords(before, stand.records))) {
      this.#mustLoad = why
      return false
    }
    if (!isLost) await forgetUnseen(before, this.#changes, this.#follower)
    this.#isLoaded = true
    return true
  }

  #isWhole({ records }: MirrorStand): boolean {
    return records >= this.#options.replicaMirror.mirror.size - this.#changes.size
  }

  #goOnFrom({ head, count, lastId }: MirrorStand): void {
    const isFirst = this.#known === undefined
    this.#known = { life: head?.life ?? '', count, lastId }
    if (!head || head.epoch < this.#epoch) return
    // what this proxy heard itself, and Redis has not heard of yet, stays
    if (!isFirst && head.epoch > this.#epoch && !this.#reset) this.#follower.begin('replaced')
    this.#epoch = head.epoch
    this.#adopt(head, 'degraded')
  }

  #loadRecords(before: Set<RequestId>, count: number): Promise<boolean> {
    const { redis, onFault } = this.#options
    return loadRecords(redis, this.#keys, count, (record) => {
      before.delete(record.request)
      if (!this.#follower.take(record, false)) onFault('redis_value')
    })
  }

  async #send(command: Parameters<RedisAccess['write']>[0][number]): Promise<RedisReply | undefined> {
    const [reply] = await this.#options.redis.write([command])
    return reply
  }
}
