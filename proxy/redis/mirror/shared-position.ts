import { tryJson } from '#engine-adapters/json-object.ts'
import type { MirrorMode, ReplicaMirror } from '../../replicas/mirror/replica-mirror.ts'
import { isReuseReport, toReport } from '../../replicas/reports/reuse-report.ts'
import type { Reset } from './mirror-changes.ts'
import type { FeedEntry } from './mirror-feed.ts'
import type { MirrorHead } from './mirror-scripts.ts'

/** How often a replica has been reset, and the sequence up to which its reports have been applied. */
export interface Stamp {
  readonly epoch: number
  readonly sequence: number
}

type PositionedMirror = Pick<ReplicaMirror, 'state' | 'adopt' | 'reuse' | 'applied' | 'adoptReuse'>

/** The known state of the mirror in Redis. */
interface Known {
  readonly life: string
  readonly count: number
  readonly lastId: string
}

/** A proxy's position in a shared mirror: the engine's generation, the epoch and the last applied entry of the feed. */
export class SharedPosition {
  /** undefined until something has been loaded */
  known: Known | undefined
  /** kept even if Redis loses its data */
  epoch = 1
  /** a reset of the engine that Redis does not know of yet */
  reset: Reset | undefined
  readonly #replica: PositionedMirror
  readonly #proxy: string
  readonly #wallClock: () => number
  #generation = ''
  #born = 0
  #lives = 0
  /** the sequence up to which Redis knows the engine's reports to be applied */
  #toldSequence = 0
  /** what Redis says of reuse, and the number of the engine's snapshots that it reflects */
  #reuse = ''
  #toldSnapshots = 0
  #snapshotsInBatch = 0

  /** `proxy`: unique id of this run of this proxy; `wallClock`: milliseconds since 1970. */
  constructor(replica: PositionedMirror, proxy: string, wallClock: () => number) {
    this.#replica = replica
    this.#proxy = proxy
    this.#wallClock = wallClock
  }

  /** The stamp of what is believed now. */
  get stamp(): Stamp {
    const { generation = '', sequence } = this.#replica.state
    // until a reset is in Redis, its epoch is the next one
    return { epoch: this.epoch + (this.reset ? 1 : 0), sequence: generation === this.#generation ? sequence : 0 }
  }

  /** What Redis compares to accept a batch. `life` is for the head that the batch creates if there is none. */
  get fence(): Omit<MirrorHead, 'sequence'> {
    return { epoch: this.epoch, life: this.#life, generation: this.#generation, born: this.#born }
  }

  /** Whether reports were applied that Redis does not know of. */
  get hasNews(): boolean {
    const hasLostReuse = this.#reuse === '' && this.#replica.reuse !== undefined
    return this.stamp.sequence !== this.#toldSequence || this.#hasReuseNews || hasLostReuse
  }

  /** Whether the replica was reset after a stamp. A reset that is not in Redis yet is later than any epoch. */
  isPast({ epoch }: Stamp): boolean {
    return this.reset !== undefined || epoch < this.epoch
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

  /** Continues from the state that another proxy has reached with the engine's reports. */
  adopt({ generation, born, sequence }: Pick<MirrorHead, 'generation' | 'born' | 'sequence'>, mode: MirrorMode): void {
    const { state } = this.#replica
    if (generation === '' || this.reset) return
    this.#generation = generation
    this.#born = born
    if (generation === state.generation && sequence <= state.sequence) return
    this.#toldSequence = sequence
    this.#replica.adopt({ mode, generation, sequence })
  }

  /** An entry of the feed has been applied completely. */
  took(entry: FeedEntry): void {
    if (entry.epoch === this.epoch) this.adopt(entry, 'exact')
    this.known = { ...this.known, life: entry.life, count: entry.count, lastId: entry.id }
  }

  /** What to write about reuse at any position, and 1 if the engine has said it since; otherwise what Redis has stays. */
  get reuse(): readonly [report: string, isNews: number] {
    const { reuse } = this.#replica
    if (this.#hasReuseNews) return [JSON.stringify(reuse ? toReport(reuse) : null), 1]
    return [reuse ? JSON.stringify(toReport(reuse)) : '', 0]
  }

  /** Goes by what Redis says of reuse, unless the engine has said something here since. Returns false if that is invalid. */
  adoptReuse(text: string): boolean {
    if (this.#hasReuseNews || text === this.#reuse) return true
    this.#reuse = text
    const report = tryJson(text)
    const isValid = report === null || isReuseReport(report)
    if (isValid) this.#replica.adoptReuse(report)
    return isValid || text === ''
  }

  get #hasReuseNews(): boolean {
    return this.#replica.applied.snapshot !== this.#toldSnapshots
  }

  /** A batch is about to be written. If Redis has lost the head, the batch creates one with a new life. */
  beginBatch(): void {
    this.#lives += 1
    this.#snapshotsInBatch = this.#replica.applied.snapshot
  }

  /** Redis has accepted a batch. `toldSequence`: the sequence that Redis knows now; undefined if unchanged. */
  wrote(head: MirrorHead, reuse: string, toldSequence: number | undefined): void {
    this.epoch = Math.max(this.epoch, head.epoch)
    this.#toldSnapshots = this.#snapshotsInBatch
    this.adoptReuse(reuse)
    if (toldSequence !== undefined) this.#toldSequence = toldSequence
  }

  /** Whether the current batch created the given head. */
  isOwnLife(head: MirrorHead): boolean {
    return head.life === this.#life
  }

  get #life(): string {
    return `${this.#proxy}.${this.#lives}`
  }
}
