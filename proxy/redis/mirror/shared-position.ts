import type { MirrorMode, ReplicaMirror } from '../../mirror/replica-mirror.ts'
import type { BatchOptions } from './mirror-batch.ts'
import type { Reset } from './mirror-changes.ts'
import type { FeedEntry } from './mirror-feed.ts'
import type { Stamp } from './mirror-follower.ts'
import type { MirrorHead, WriteResult } from './mirror-stand.ts'

/** What is known of the mirror in Redis. */
interface Known {
  readonly life: string
  readonly count: number
  readonly lastId: string
}

/** Where a proxy stands with a mirror that it shares: which life of the engine, and up to which entry of the feed. */
export class SharedPosition {
  /** undefined until something was loaded */
  known: Known | undefined
  /** outlives what Redis has */
  epoch = 1
  /** the engine has begun anew, and Redis has not heard of it */
  reset: Reset | undefined
  readonly #replica: Pick<ReplicaMirror, 'state' | 'adopt'>
  readonly #proxy: string
  readonly #wallClock: () => number
  #generation = ''
  #born = 0
  #lives = 0
  /** up to which Redis knows that the engine's reports were taken in */
  #toldSequence = 0

  /** `proxy`: names this proxy's life; `wallClock`: milliseconds since 1970. */
  constructor(replica: Pick<ReplicaMirror, 'state' | 'adopt'>, proxy: string, wallClock: () => number) {
    this.#replica = replica
    this.#proxy = proxy
    this.#wallClock = wallClock
  }

  /** As of when something is believed now. */
  get stamp(): Stamp {
    const { generation = '', sequence } = this.#replica.state
    // until a reset is in Redis its epoch is the next one
    return { epoch: this.epoch + (this.reset ? 1 : 0), sequence: generation === this.#generation ? sequence : 0 }
  }

  /** What a batch has to meet in Redis to be taken; the life is one that it makes where there is none. */
  get fence(): BatchOptions['fence'] {
    return { epoch: this.epoch, life: this.#life, generation: this.#generation, born: this.#born }
  }

  /** Whether reports were taken in that Redis does not know of. */
  get hasNews(): boolean {
    return this.stamp.sequence !== this.#toldSequence
  }

  /** Whether the replica has begun anew since: until a reset is in Redis nobody knows its epoch, and it is the latest. */
  isPast({ epoch }: Stamp): boolean {
    return this.reset !== undefined || epoch < this.epoch
  }

  /** The engine has begun anew, as this proxy heard from it. */
  noteReset(type: Reset): void {
    const { generation = '' } = this.#replica.state
    if (generation !== this.#generation) {
      this.#generation = generation
      this.#born = this.#wallClock()
    }
    this.reset = this.reset === 'cleared' ? 'cleared' : type
  }

  /** Goes on where another proxy has got to with the engine's reports. */
  adopt({ generation, born, sequence }: Pick<MirrorHead, 'generation' | 'born' | 'sequence'>, mode: MirrorMode): void {
    const { state } = this.#replica
    if (generation === '' || this.reset) return
    this.#generation = generation
    this.#born = born
    if (generation === state.generation && sequence <= state.sequence) return
    this.#toldSequence = sequence
    this.#replica.adopt({ mode, generation, sequence })
  }

  /** All of an entry of the feed has been taken in. */
  took(entry: FeedEntry): void {
    if (entry.epoch === this.epoch) this.adopt(entry, 'exact')
    this.known = { ...this.known, life: entry.life, count: entry.count, lastId: entry.id }
  }

  /** A batch is about to be written: if Redis has lost its head, it makes a life of its own. */
  beginBatch(): void {
    this.#lives += 1
  }

  /** Redis has taken a batch; `toldSequence`: up to which it knows of reports now, undefined where that has not changed. */
  wrote({ head }: WriteResult, toldSequence: number | undefined): void {
    this.epoch = Math.max(this.epoch, head.epoch)
    if (toldSequence !== undefined) this.#toldSequence = toldSequence
  }

  /** Whether the batch under way has made the head that is there now. */
  isOwnLife(head: MirrorHead): boolean {
    return head.life === this.#life
  }

  get #life(): string {
    return `${this.#proxy}.${this.#lives}`
  }
}
