import type { KvEventBatch } from './kv-event.ts'

/** Who is told of an engine's batches. */
export interface OrderListener {
  /** The next batch of the engine's current life, in order; a restart begins another life. */
  onBatch(batch: KvEventBatch): void
  /** Everything heard before is void. */
  onLost(reason: LossReason): void
  /** Requests all batches from a sequence on: call `replayed` for each, then `replayEnded`; or `replayFailed`. */
  askReplay(from: number): void
}

/**
 * Why what is known is discarded. `restarted`: the engine was restarted. `missed`: missed batches cannot be recovered.
 * `found`: they can be recovered after all, and the engine replays everything from its beginning.
 */
export type LossReason = 'restarted' | 'missed' | 'found'

/** State of an engine's batches. None received yet; none missing; or some still to come, or lost for good. */
type OrderState = 'silent' | 'whole' | 'incomplete'

/** At most this many batches are held while an earlier one is missing; dropped batches leave a gap. */
const maxHeld = 20_000

/** After this many replays without progress, a remaining gap is considered permanent. */
const maxFruitless = 2

/** A requested replay, and what it has shown so far. */
interface Replay {
  /** it only asks whether something was missed */
  readonly isCheck: boolean
  /** it is for the engine's first batches, of which none has come yet */
  isFromBeginning: boolean
  /** it contains the last batch heard */
  isVerified: boolean
  /** it began in the middle of an unknown life: it must be requested again */
  isOfAnotherLife: boolean
  /** it has a gap, or broke off when more might have come */
  isLossy: boolean
}

/** Something is missing between two batches. */
interface Gap {
  readonly after: number
  readonly before: number
  /** replays without progress */
  readonly fruitless: number
}

/**
 * Puts an engine's batches in order. Drops repeats, fills gaps by replays, and detects a restarted engine by its clock
 * (a known sequence with a later time) or by a replay without the last batch heard. Replays lose batches too: engines
 * send them through a queue that drops what does not fit. So a replay is requested again from the first missing batch,
 * while that makes progress.
 */
export class EventOrder {
  readonly #listener: OrderListener
  readonly #canReplay: boolean
  /** the last batch taken; -1: the engine's first batch comes next; undefined: any batch may come next */
  #last: number | undefined
  #lastTime = Number.NEGATIVE_INFINITY
  /** nothing is missing since the engine started or was cleared */
  #isWhole = false
  /** the connection was lost since the last batch: the next may be of another life */
  #isDoubtful = false
  /** the engine did not answer the last replay request */
  #isUnanswered = false
  /** the engine's first batches are missing, and were given up only because the engine did not answer */
  #isPastAskable = false
  #replay: Replay | undefined
  /** the connection was lost or restored during the current replay, which proves nothing about later batches */
  #hasChanged = false
  #gap: Gap | undefined
  /** how many gaps there were */
  gaps = 0
  /** batches that came before their turn, by sequence */
  readonly #held = new Map<number, KvEventBatch>()

  constructor(listener: OrderListener, canReplay: boolean) {
    this.#listener = listener
    this.#canReplay = canReplay
  }

  /** The sequence of the last batch taken. */
  get last(): number | undefined {
    return this.#last === -1 ? undefined : this.#last
  }

  get state(): OrderState {
    if (this.last === undefined && !this.#isWhole) return 'silent'
    const isWaiting = this.#replay !== undefined && !this.#replay.isCheck
    return this.#isWhole && !this.#isDoubtful && !this.#isUnanswered && !isWaiting ? 'whole' : 'incomplete'
  }

  /** Whether something is missing that the engine may replay once it answers, so that a `check` is worthwhile. */
  get isPastAskable(): boolean {
    return this.#isPastAskable && !this.#isWhole
  }

  /** Asks whether anything was missed: at the start, when the connection is restored, and in silence. */
  check(): void {
    if (!this.#canReplay) return
    this.#last ??= -1
    if (this.#replay) this.#hasChanged = true
    else this.#ask(this.#isWhole, this.isPastAskable)
  }

  /** The connection is lost: the next batch may be of another life, or leave a gap. */
  disconnected(): void {
    this.#isDoubtful = true
    this.#hasChanged = this.#replay !== undefined
    // held batches may be of the life that ended; if it did not, a replay contains them
    this.#held.clear()
  }

  /** Takes a batch as it is published. */
  published(sequence: number, batch: KvEventBatch): void {
    const last = this.#last
    if (this.#replay) this.#hold(sequence, batch)
    else if (last !== undefined && sequence <= last) {
      if (batch.time <= this.#lastTime) return
      this.#restart()
      this.published(sequence, batch)
    } else {
      const isNext = sequence === (last ?? -1) + 1
      const isCertain = this.#canReplay ? isNext && (last === -1 || !this.#isDoubtful) : isNext || last === undefined
      if (isCertain) this.#accept(sequence, batch)
      else this.#fill(sequence, batch)
    }
  }

  /** Takes a batch of the requested replay. */
  replayed(sequence: number, batch: KvEventBatch): void {
    const replay = this.#replay
    if (!replay || replay.isOfAnotherLife) return
    if (replay.isFromBeginning) {
      replay.isFromBeginning = false
      this.#isPastAskable = false
      // otherwise the engine no longer has its first batches: keep what is known
      if (sequence === 0) this.#forget('found')
    }
    const last = this.#last ?? -1
    if (sequence < last) return
    if (sequence === last) this.#verify(replay, sequence, batch)
    else if (sequence === last + 1 && (last < 0 || replay.isVerified)) {
      replay.isVerified = true
      this.#accept(sequence, batch)
    } else {
      replay.isLossy = true
      this.#hold(sequence, batch)
    }
  }

  /** Checks whether the replay contains the last batch heard; otherwise the engine was restarted. */
  #verify(replay: Replay, sequence: number, batch: KvEventBatch): void {
    replay.isVerified = true
    if (batch.time === this.#lastTime) return
    this.#restart()
    if (sequence === 0) this.#accept(sequence, batch)
    else replay.isOfAnotherLife = true
  }

  /** The requested replay is complete. */
  replayEnded(): void {
    const replay = this.#replay
    if (!replay) return
    if (!this.#hasChanged) this.#isDoubtful = false
    this.#isUnanswered = false
    if (this.last !== undefined && !replay.isVerified) {
      // it is unknown whether later batches are of the same life
      if (replay.isLossy) this.#isDoubtful = true
      else {
        this.#restart()
        replay.isOfAnotherLife = true
      }
    }
    if (replay.isOfAnotherLife) {
      this.#ask(false)
      return
    }
    // an engine that has published nothing caches nothing
    if (this.#last === -1 && !replay.isLossy) this.#isWhole = true
    this.#endReplay()
  }

  /** The engine did not answer the requested replay. */
  replayFailed(): void {
    if (!this.#replay) return
    this.#isUnanswered = true
    this.#last = this.last
    this.#endReplay()
  }

  /** Fills a gap before a batch by a replay; gives up what is missing if replays do not help. */
  #fill(before: number, batch: KvEventBatch): void {
    const after = this.#last ?? -1
    const known = this.#gap?.before === before ? this.#gap : undefined
    // of what came before the first batch heard, and of what may be of another life, nothing is known to be missing
    if (!known && this.#last !== undefined && before > after + 1) this.gaps += 1
    const fruitless = known ? known.fruitless + (known.after >= after ? 1 : 0) : 0
    this.#last = after
    if (this.#canReplay && fruitless < maxFruitless) {
      this.#gap = { after, before, fruitless }
      this.#hold(before, batch)
      this.#ask(false)
      return
    }
    this.#isWhole = false
    this.#isPastAskable = this.#canReplay && this.#isUnanswered
    this.#isDoubtful = false
    // if nothing was heard before, nothing is lost, but the engine's cache remains unknown
    if (after >= 0) this.#listener.onLost('missed')
    this.#accept(before, batch)
  }

  #ask(isCheck: boolean, isFromBeginning = false): void {
    this.#replay = { isCheck, isFromBeginning, isVerified: false, isOfAnotherLife: false, isLossy: false }
    this.#listener.askReplay(isFromBeginning ? 0 : Math.max(0, this.#last ?? 0))
  }

  #endReplay(): void {
    this.#replay = undefined
    const held = [...this.#held].sort(([a, one], [b, other]) => one.time - other.time || a - b)
    this.#held.clear()
    for (const [sequence, batch] of held) {
      // a held batch may be of a life that has ended since; a gap among the others may start another replay
      if (batch.time >= this.#lastTime) this.published(sequence, batch)
    }
    if (this.#replay) return
    this.#gap = undefined
    if (!this.#hasChanged) return
    this.#hasChanged = false
    this.check()
  }

  /** Of two batches with the same sequence it keeps the later one: the other's life has ended. */
  #hold(sequence: number, batch: KvEventBatch): void {
    const known = this.#held.get(sequence)
    if (known ? known.time < batch.time : this.#held.size < maxHeld) this.#held.set(sequence, batch)
  }

  #accept(sequence: number, batch: KvEventBatch): void {
    this.#last = sequence
    this.#lastTime = batch.time
    if (!this.#replay) this.#gap = undefined
    if (!this.#canReplay) this.#isDoubtful = false
    if (sequence === 0 || batch.events.some(({ type }) => type === 'cleared')) this.#isWhole = true
    this.#listener.onBatch(batch)
  }

  #restart(): void {
    this.#isWhole = true
    this.#forget('restarted')
  }

  #forget(reason: LossReason): void {
    this.#last = -1
    this.#lastTime = Number.NEGATIVE_INFINITY
    this.#listener.onLost(reason)
  }
}
