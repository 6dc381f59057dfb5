import { setImmediate as afterIo, setTimeout as pause } from 'node:timers/promises'
import type { RequestId } from '#index/context-block.ts'
import { TimeSlices } from '../../http/bounds/event-loop.ts'
import type { ReplicaMirror } from '../../replicas/mirror/replica-mirror.ts'
import { type MirrorEntry, type MirrorRecord, readEntry, writeEntry } from '../codec/mirror-entry.ts'
import { beginning, idBefore, idBehind } from '../log-ids.ts'
import { mirrorRedisKeys } from '../redis-keys.ts'
import { SharedPart, type SharedPartOptions, type StreamEntry } from '../shared-part.ts'
import { MirrorChanges } from './mirror-changes.ts'
import { type Age, MirrorFollower } from './mirror-follower.ts'
import { isLater, MirrorPosition, type Stamp } from './mirror-position.ts'

interface SharedMirrorOptions extends SharedPartOptions {
  readonly replicaMirror: Pick<ReplicaMirror, 'replica' | 'cache' | 'state' | 'adopt' | 'hold' | 'reuse' | 'adoptReuse'>
  /** milliseconds since 1970, since proxies compare them */
  readonly wallClock: () => number
  /** Called with what a turn threw: a bug in this program. Sharing then goes on. */
  readonly onError: (error: unknown) => void
  /** how long sharing pauses after such a fault */
  readonly faultMilliseconds?: number
}

/** What was in memory when the log was read again: if the log is not later, memory counts. */
interface Rereading {
  readonly unseen: Set<RequestId>
  readonly before: ReadonlySet<RequestId>
  readonly stamp: Stamp
}

const nothing = { generation: '', born: 0, sequence: 0, reuse: null }
const pollMilliseconds = 40
/** A turn that throws may throw each time, and each may have read a whole log. */
const defaultFaultMilliseconds = 5_000
const entriesPerRead = 32

/**
 * A replica's mirror that proxies share through a log in Redis: a stream in which each entry is what one proxy tells. A
 * proxy writes only behind an entry that it has read, so each entry is told in knowledge of all before it, and every
 * proxy that applies them in their order believes the same. The log forgets its oldest entries; whoever joins reads what
 * it has.
 */
export class SharedMirror extends SharedPart<SharedMirrorOptions> {
  readonly #key: string
  readonly #changes = new MirrorChanges()
  readonly #follower: MirrorFollower
  readonly #position: MirrorPosition
  readonly #unlisten: () => void
  /**
   * `anew`: the log is to be read from its beginning, and counts. `all`: likewise, but memory counts, too. `check`: like
   * `all`, but only if the log no longer has what was read last
   */
  #mustRead: 'anew' | 'all' | 'check' | undefined = 'anew'
  #isReadAnew = false
  #rereading: Rereading | undefined
  #inFlight = 0
  /** whether the mirror in Redis has been loaded */
  isLoaded = false

  constructor(options: SharedMirrorOptions) {
    super(options, pollMilliseconds)
    const { namespace, replicaMirror, redis, ttlSeconds, wallClock } = options
    this.#key = mirrorRedisKeys(namespace, replicaMirror.replica).log
    this.#position = new MirrorPosition(replicaMirror, ttlSeconds, wallClock)
    this.#follower = new MirrorFollower(replicaMirror.cache, this.#changes, this.#position)
    this.#unlisten = redis.listen({ onUp: () => {}, onLost: () => (this.#mustRead ??= 'check') })
  }

  /** Changes that are not in Redis yet. */
  get waiting(): number {
    return this.#inFlight + this.#changes.size + (this.#position.reset ? 1 : 0)
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
    this.#mustRead = this.isLoaded ? 'all' : 'anew'
    this.options.onError(error)
    return this.options.faultMilliseconds ?? defaultFaultMilliseconds
  }

  /** Returns whether Redis answered everything. */
  protected async exchange(): Promise<boolean> {
    if (this.#mustRead === 'check' && !(await this.#check())) return false
    const why = this.#mustRead
    if (!(await (why === 'anew' || why === 'all' ? this.#readAll(why) : this.#follow()))) return false
    if (this.#changes.takeOverflow())
      await this.#follower.writeAgain(this.options.replicaMirror.cache.mirror.requestIds())
    return this.#write()
  }

  /** Finds out whether the log still has what was read last. Returns false if Redis does not tell. */
  async #check(): Promise<boolean> {
    const position = this.#position
    const entries = position.id === beginning ? [] : await this.readStream(this.#key, idBefore(position.id), 1)
    const last = entries?.[0]
    if (entries) this.#mustRead = last && position.isAt(last.id, readOf(last)) ? undefined : 'all'
    return entries !== undefined
  }

  /** Reads the log from its beginning, and queues what is in memory alone: Redis has lost it. Returns false if that failed. */
  async #readAll(why: 'anew' | 'all'): Promise<boolean> {
    const before = new Set<RequestId>()
    this.#isReadAnew = why === 'anew'
    if (!this.#isReadAnew) {
      await TimeSlices.each(this.options.replicaMirror.cache.mirror.requestIds(), (request) => before.add(request))
      this.#rereading = { before, unseen: new Set(before), stamp: this.#position.stamp }
      this.#position.tellAgain()
    }
    this.#position.goBack()
    this.#mustRead = undefined
    const isRead = await this.#follow(true)
    const unseen = this.#rereading?.unseen ?? []
    this.#rereading = undefined
    this.#isReadAnew = false
    if (!isRead) this.#mustRead = this.#mustRead === 'anew' ? 'anew' : why
    else await this.#follower.writeAgain(unseen)
    this.isLoaded ||= isRead
    return isRead
  }

  /** Applies the log up to its end. Returns false if that failed. `fromBeginning`: whatever its entries say of each other. */
  async #follow(fromBeginning = false): Promise<boolean> {
    const slices = new TimeSlices()
    for (;;) {
      const entries = await this.readStream(this.#key, this.#position.id, entriesPerRead)
      if (!entries) return false
      for (const stored of entries) {
        const entry = readOf(stored)
        if (entry && this.#mustReadFirst(entry, fromBeginning)) return false
        if (entry) await this.#takeEntry(entry, slices)
        else this.options.onFault('redis_value')
        this.#position.passed(stored.id, entry)
      }
      if (entries.length < entriesPerRead) return true
    }
  }

  async #takeEntry(entry: MirrorEntry, slices: TimeSlices): Promise<void> {
    this.#begin(entry)
    for (const record of entry.records) {
      if (!this.#follower.take(record, this.#ageOf(entry, record), entry)) this.options.onFault('redis_value')
      if (record.prompt) this.#rereading?.unseen.delete(record.request)
      if (slices.isOver) await slices.pass()
    }
    // only now has everything up to this entry been applied
    if (!this.#position.isAheadOf(entry)) this.#position.adopt(entry, this.isLoaded ? 'exact' : 'degraded')
  }

  /** Whether the log is to be read from its beginning before an entry can be applied. */
  #mustReadFirst(entry: MirrorEntry, fromBeginning: boolean): boolean {
    const position = this.#position
    const isOutrun = position.isOutrunBy(entry)
    if (!isOutrun && (fromBeginning || position.isNext(entry))) return false
    if (isOutrun) position.reset = undefined
    this.#mustRead = isOutrun ? 'anew' : 'all'
    return true
  }

  /** Applies the reset that an entry tells of, unless this proxy knows it, or of a later one. */
  #begin(entry: MirrorEntry): void {
    const position = this.#position
    const reset = position.resetOf(entry)
    const isKnown = this.#rereading && !isLater(entry, this.#rereading.stamp)
    if (!reset || isKnown || position.isAheadOf(entry)) return
    position.reset = undefined
    this.#rereading = this.#rereading && { ...this.#rereading, before: new Set() }
    this.#follower.begin(reset, this.#isReadAnew)
  }

  #ageOf(entry: MirrorEntry, { request }: MirrorRecord): Age {
    const position = this.#position
    if (position.isAheadOf(entry)) return 'past'
    const { before, stamp } = this.#rereading ?? {}
    const isRemembered = before?.has(request) && !isLater(entry, stamp!)
    if (isRemembered || isLater(position.stamp, entry)) return 'earlier'
    return isLater(entry, position.stamp) ? 'later' : 'as late'
  }

  async #write(): Promise<boolean> {
    while ((this.waiting > 0 || this.#position.hasNews) && !this.#mustRead) {
      // other pending work goes first, above all requests
      await afterIo()
      if (!this.options.redis.isUp) return false
      if (!(await this.#writeEntry())) return false
    }
    return true
  }

  /** Writes an entry, or reads what others have written meanwhile. Returns whether Redis answered. */
  async #writeEntry(): Promise<boolean> {
    const position = this.#position
    // the first entry of a log says nothing: two proxies may write one
    const isFirst = position.id === beginning
    const anew = isFirst ? undefined : position.reset
    // what is believed since a reset can be told only behind it
    const records = isFirst || anew ? [] : this.#changes.take(this.options.replicaMirror.cache)
    const isWhole = !isFirst && !anew && this.#changes.size === 0
    const entry: MirrorEntry = { ...position.head, ...(isFirst && nothing), anew, isWhole, records }
    const before = position.id
    const id = idBehind(before, this.options.wallClock())
    if (anew) position.reset = undefined
    this.#inFlight = records.length + (anew ? 1 : 0)
    const trim = ['MINID', '~', position.oldestId]
    const appending = this.append(this.#key, id, trim, writeEntry(entry)).finally(() => {
      this.#inFlight = 0
    })
    const appended = await appending.catch((fault: unknown) => {
      this.#giveBack(entry)
      throw fault
    })
    if (appended === 'overtaken' || appended === 'unknown') this.#giveBack(entry, appended === 'unknown')
    // what others have written meanwhile: there is something, or Redis does not answer
    if (appended === 'overtaken') return (await this.#follow()) && position.id !== before
    if (appended === 'unknown' || appended === 'refused') return false
    if (isFirst) return this.#follow()
    // Redis has lost what was before
    if (appended === 'alone') this.#mustRead = 'all'
    position.passed(id, entry)
    position.wrote(entry)
    return true
  }

  #giveBack({ anew, records }: MirrorEntry, mayBeWritten = true): void {
    if (anew && this.#position.reset !== 'cleared') this.#position.reset = anew
    for (const { request, kind } of records) {
      this.#changes.putBack(request, kind === 'sent' && mayBeWritten ? 'known' : kind)
    }
  }
}

function readOf({ fields }: StreamEntry): MirrorEntry | undefined {
  return readEntry(fields[1])
}
