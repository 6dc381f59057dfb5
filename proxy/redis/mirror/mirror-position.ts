import { randomInt } from 'node:crypto'
import type { MirrorMode, ReplicaMirror } from '../../replicas/mirror/replica-mirror.ts'
import type { MirrorEntry, Reset } from '../codec/mirror-entry.ts'
import { beginning } from '../log-ids.ts'
import { costOf } from './mirror-changes.ts'

/** How old a belief is: from which generation of the engine, and up to which sequence its reports are in it. */
export type Stamp = Pick<MirrorEntry, 'generation' | 'born' | 'sequence'>

type ReportedReplica = Pick<ReplicaMirror, 'state' | 'adopt' | 'reuse' | 'adoptReuse'>

/** Entries of a log that are kept or dropped together. */
interface Stretch {
  readonly first: string
  readonly since: number
  until: number
  cost: number
}

/** A log keeps this much of what `costOf` counts: about 60,000 requests, and what became of them. */
const keptCost = 800_000
/** A record costs at least 1 for each so many bytes of its prompt, so that a log keeps less than 300 MB. */
const bytesPerCost = 360
const stretches = 64
const highestTag = 2 ** 47

/** How far this proxy has come: in the log, and in what the engine reported. */
export class MirrorPosition {
  /** a reset of the engine that is not in the log yet */
  reset: Reset | undefined
  readonly #replica: ReportedReplica
  readonly #ttlMilliseconds: number
  readonly #wallClock: () => number
  /** of the last entry that was applied */
  id: string = beginning
  #tag: number | undefined
  #stretches: Stretch[] = []
  #generation = ''
  #born = 0
  /** the sequence up to which the log has what the engine's reports changed; undefined: it is to be told again */
  #told: number | undefined = 0

  /** `wallClock`: milliseconds since 1970. */
  constructor(replica: ReportedReplica, ttlSeconds: number, wallClock: () => number) {
    this.#replica = replica
    this.#ttlMilliseconds = ttlSeconds * 1000
    this.#wallClock = wallClock
  }

  /** Whether an entry is the one that was applied last. */
  isAt(id: string, entry: MirrorEntry | undefined): boolean {
    return id === this.id && entry?.tag === this.#tag
  }

  /** Whether an entry follows the one that was applied last, so that none is missing. */
  isNext({ before }: MirrorEntry): boolean {
    return this.#tag === undefined || before === this.#tag
  }

  /** The log is read again from its beginning. */
  goBack(): void {
    this.id = beginning
    this.#tag = undefined
    this.#stretches = []
  }

  /** The oldest entry that is to be kept. */
  get oldestId(): string {
    return this.#stretches[0]?.first ?? beginning
  }

  /** An entry was applied, or written. */
  passed(id: string, entry: MirrorEntry | undefined): void {
    this.id = id
    this.#tag = entry?.tag
    if (entry) this.#keep(id, entry)
  }

  /** The stamp of what is believed now. */
  get stamp(): Stamp {
    const { generation = '', sequence } = this.#replica.state
    const isOfOne = generation === this.#generation
    return { generation: this.#generation, born: this.#born, sequence: isOfOne ? sequence : 0 }
  }

  /** What an entry written now says besides its records. */
  get head(): Omit<MirrorEntry, 'records' | 'isWhole' | 'anew'> {
    const { reuse = null } = this.#replica
    const chain = { tag: randomInt(highestTag), before: this.#tag ?? 0, at: this.#wallClock() }
    return { ...chain, ...this.stamp, reuse }
  }

  /** Whether reports were applied that the log does not know of. */
  get hasNews(): boolean {
    return this.stamp.sequence !== (this.#told ?? -1)
  }

  /** Notes a reset that this proxy heard of from the engine. */
  noteReset(type: Reset): void {
    const { generation = '' } = this.#replica.state
    if (generation !== this.#generation) {
      this.#generation = generation
      this.#born = this.#wallClock()
    }
    this.reset = this.reset === 'cleared' ? 'cleared' : type
  }

  /** Whether this proxy knows of a later reset than the writer of an entry did. */
  isAheadOf({ generation, born, sequence }: MirrorEntry): boolean {
    if (!this.#isOfSameLife(generation)) return this.#born > born
    return this.reset !== undefined && this.stamp.sequence >= sequence
  }

  /** Whether a reset that this proxy has applied counts for nothing, since an entry is of later reports, and of no reset. */
  isOutrunBy(entry: MirrorEntry): boolean {
    return this.reset !== undefined && !this.resetOf(entry) && !this.isAheadOf(entry)
  }

  /** Returns the reset that an entry tells of, which may be that the engine is another one; undefined: none. */
  resetOf({ anew, generation }: MirrorEntry): Reset | undefined {
    return anew ?? (this.#generation === '' || this.#isOfSameLife(generation) ? undefined : 'replaced')
  }

  /** A proxy that no engine has reported to, nor another proxy, names no generation. */
  #isOfSameLife(generation: string): boolean {
    return generation === '' || generation === this.#generation
  }

  /** Goes on from where the writer of an entry is with the engine's reports. */
  adopt({ generation, born, sequence, isWhole, reuse }: MirrorEntry, mode: MirrorMode): void {
    if (this.reset || generation === '') return
    const { state } = this.#replica
    this.#generation = generation
    this.#born = born
    this.#replica.adoptReuse(reuse)
    const told = isWhole ? sequence : 0
    if (generation === state.generation && told <= state.sequence) return
    this.#told = told
    this.#replica.adopt({ mode, generation, sequence: told })
  }

  /** An entry was written. */
  wrote({ anew, isWhole, sequence }: MirrorEntry): void {
    if (anew) this.#told = 0
    else if (isWhole) this.#told = sequence
  }

  /** What is known of the engine is told again, even if nothing else is. */
  tellAgain(): void {
    this.#told = undefined
  }

  #keep(id: string, { at, records }: MirrorEntry): void {
    const costs = records.map(({ kind, prompt }) => {
      return Math.max(costOf(kind), Math.ceil((prompt?.length ?? 0) / bytesPerCost))
    })
    const cost = costs.reduce((sum, own) => sum + own, 1)
    const last = this.#stretches.at(-1)
    const isRoom = last && last.cost < keptCost / stretches && at - last.since < this.#ttlMilliseconds / stretches
    if (isRoom) Object.assign(last, { until: at, cost: last.cost + cost })
    else this.#stretches.push({ first: id, since: at, until: at, cost })
    const all = this.#stretches.reduce((sum, stretch) => sum + stretch.cost, 0)
    const [oldest] = this.#stretches
    const isOld = oldest!.until < this.#wallClock() - this.#ttlMilliseconds || all - oldest!.cost > keptCost
    if (isOld && this.#stretches.length > 1) this.#stretches.shift()
  }
}

/** Whether a stamp is later than another. Two proxies may have heard of a generation at different times. */
export function isLater(one: Stamp, other: Stamp): boolean {
  return one.generation === other.generation ? one.sequence > other.sequence : one.born > other.born
}
