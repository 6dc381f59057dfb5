import { HeldBatches } from './held-batches.ts'
import type { KvEventBatch } from './kv-event.ts'

/** What an order of batches is told to, and asks. */
export interface OrderListener {
  /** The next batch of this life of the engine. */
  onBatch(batch: KvEventBatch): void
  /** Nothing that was heard before holds any more. */
  onLost(reason: LossReason): void
  /** Asks for all batches from a sequence on: `replayed` for each, then `replayEnded`; or `replayFailed`. */
  askReplay(from: number): void
}

/**
 * Why all begins anew: the engine did, or what was missed cannot be had, or it can be had after all, and the engine tells
 * everything from its beginning on.
 */
export type LossReason = 'restarted' | 'missed' | 'found'

/** What was noticed so far. */
export interface OrderCounts {
  readonly gaps: number
  readonly repeats: number
  readonly restarts: number
}

/** Where an engine's batches stand: nothing came yet; all are here; some are on their way, or lost for good. */
export type OrderState = 'silent' | 'whole' | 'incomplete'

/** Replays that bring nothing nearer, after which a gap that is still there is taken to stay. */
const maxFruitless = 2

/**
 * Puts an engine's batches in order: repeats are dropped, gaps are filled by replays, and an engine that was restarted
 * is told by its clock (a sequence that was seen, at a later time) or by a replay that does not hold what was heard last.
 * Replays lose batches too: engines send them through a queue that drops what does not fit. So they are asked for again
 * from the first that is missing, for as long as that brings more.
 */
export class EventOrder {
  readonly #listener: OrderListener
  readonly #canReplay: boolean
  /** the last that was taken; -1: the engine's first comes next; undefined: whatever comes next */
  #last: number | undefined
  #lastTime = Number.NEGATIVE_INFINITY
  /** nothing is missing since the engine began, or was cleared */
  #isWhole = false
  #isReplaying = false
  /** a replay under way that only asks whether something was missed */
  #isCheck = false
  /** the connection was gone since: what comes next may be of another life */
  #isDoubtful = false
  /** it was gone, or back, while a replay was under way: this says nothing of what came after */
  #hasChanged = false
  /** the engine did not answer when it was last asked */
  #isUnanswered = false
  /** the replay under way holds what was heard last */
  #isVerified = false
  /** the replay under way began in the middle of a life that was not known: it has to be asked for anew */
  #isOfAnotherLife = false
  /** the replay under way has a gap, or more of it may have come had it not broken off */
  #isLossy = false
  /** the replay under way has brought what was missing first */
  #isFruitful = false
  /** in front of which batch something is missing; undefined: nothing is */
  #gapBefore: number | undefined
  /** replays that have not brought it nearer */
  #fruitless = 0
  /** the engine's beginning is missing, and was given up only because the engine did not answer */
  #isPastAskable = false
  /** the replay under way is for the engine's beginning */
  #isFromBeginning = false
  readonly #held = new HeldBatches()
  #counts = { gaps: 0, repeats: 0, restarts: 0 }

  constructor(listener: OrderListener, canReplay: boolean) {
    this.#listener = listener
    this.#canReplay = canReplay
  }

  get counts(): OrderCounts {
    return this.#counts
  }

  /** The sequence of the last batch that was taken. */
  get last(): number | undefined {
    return this.#last === -1 ? undefined : this.#last
  }

  get state(): OrderState {
    if (this.last === undefined && !this.#isWhole) return 'silent'
    return this.#isWhole && !this.#isDoubtful && !this.#isUnanswered && (!this.#isReplaying || this.#isCheck)
      ? 'whole'
      : 'incomplete'
  }

  /** Whether something is missing that the engine may tell again once it answers: worth a `check`. */
  get isPastAskable(): boolean {
    return this.#isPastAskable && !this.#isWhole
  }

  /** Asks whether anything was missed: at the start, when a connection is back, and in silence. */
  check(): void {
    if (!this.#canReplay) return
    if (this.#isReplaying) {
      this.#hasChanged = true
      return
    }
    if (this.#last === undefined) this.#last = -1
    this.#isFromBeginning = this.isPastAskable
    this.#replay(this.#isWhole)
  }

  /** The connection is gone: what comes next may be from another life, or leave a gap. */
  disconnected(): void {
    this.#isDoubtful = true
    this.#hasChanged = this.#isReplaying
    // of the life before, perhaps; of the same life a replay holds them
    this.#held.clear()
  }

  /** A batch as it is published. */
  published(sequence: number, batch: KvEventBatch): void {
    if (this.#isReplaying) this.#held.add(sequence, batch)
    else this.#take(sequence, batch)
  }

  /** A batch of the replay that was asked for. */
  replayed(sequence: number, batch: KvEventBatch): void {
    if (!this.#isReplaying || this.#isOfAnotherLife) return
    if (this.#isFromBeginning) this.#beginAnew(sequence)
    const last = this.#last ?? -1
    if (sequence < last) return
    if (sequence === last) {
      this.#verify(sequence, batch)
      return
    }
    if (sequence === last + 1 && (last < 0 || this.#isVerified)) {
      this.#isVerified = true
      this.#isFruitful = true
      this.#accept(sequence, batch)
      return
    }
    this.#isLossy = true
    this.#held.add(sequence, batch)
  }

  /** The engine has been asked for its beginning, and this comes first. */
  #beginAnew(sequence: number): void {
    this.#isFromBeginning = false
    this.#isPastAskable = false
    // what is known goes on: no more can be had
    if (sequence > 0) return
    this.#last = -1
    this.#lastTime = Number.NEGATIVE_INFINITY
    this.#listener.onLost('found')
  }

  /** Whether the replay holds what was heard last. */
  #verify(sequence: number, batch: KvEventBatch): void {
    this.#isVerified = batch.time === this.#lastTime
    if (this.#isVerified) return
    this.#restart()
    this.#isVerified = true
    if (sequence === 0) this.#accept(sequence, batch)
    else this.#isOfAnotherLife = true
  }

  /** The replay that was asked for is over. */
  replayEnded(): void {
    if (!this.#isReplaying) return
    if (!this.#hasChanged) this.#isDoubtful = false
    this.#isUnanswered = false
    if (this.#last !== undefined && this.#last >= 0 && !this.#isVerified) {
      // of what came later it is not known whether it is of the same life
      if (this.#isLossy) this.#isDoubtful = true
      else {
        this.#restart()
        this.#isOfAnotherLife = true
      }
    }
    if (this.#isOfAnotherLife) {
      this.#replay(false)
      return
    }
    // an engine that has published nothing holds nothing
    if (this.#last === -1 && !this.#isLossy) this.#isWhole = true
    this.#endReplay()
  }

  /** The engine did not answer the replay that was asked for. */
  replayFailed(): void {
    if (!this.#isReplaying) return
    this.#isUnanswered = true
    this.#isLossy = true
    if (this.#last === -1) this.#last = undefined
    this.#endReplay()
  }

  #take(sequence: number, batch: KvEventBatch): void {
    const last = this.#last
    if (last === undefined) {
      if (!this.#canReplay || (sequence === 0 && !this.#isDoubtful)) this.#accept(sequence, batch)
      else this.#fill(-1, sequence, batch)
    } else if (sequence === last + 1) {
      if (this.#isDoubtful && last >= 0 && this.#canReplay) this.#fill(last, sequence, batch)
      else this.#accept(sequence, batch)
    } else if (sequence > last) {
      this.#countGap(sequence)
      this.#fill(last, sequence, batch)
    } else if (batch.time > this.#lastTime) {
      this.#restart()
      this.#take(sequence, batch)
    } else this.#counts.repeats += 1
  }

  #countGap(before: number): void {
    if (before !== this.#gapBefore) this.#counts.gaps += 1
  }

  /** Something may be missing in front of a batch. */
  #fill(last: number, sequence: number, batch: KvEventBatch): void {
    if (sequence !== this.#gapBefore) this.#fruitless = 0
    else if (!this.#isLossy || !this.#isFruitful) this.#fruitless += 1
    this.#gapBefore = sequence
    this.#last = last
    if (this.#canReplay && this.#fruitless < maxFruitless) {
      this.#held.add(sequence, batch)
      this.#replay(false)
      return
    }
    this.#skip()
    this.#accept(sequence, batch)
  }

  #replay(isCheck: boolean): void {
    this.#isReplaying = true
    this.#isCheck = isCheck
    this.#isVerified = false
    this.#isOfAnotherLife = false
    this.#isLossy = false
    this.#isFruitful = false
    this.#listener.askReplay(this.#isFromBeginning ? 0 : Math.max(0, this.#last ?? 0))
  }

  #endReplay(): void {
    this.#isReplaying = false
    this.#isFromBeginning = false
    for (const { sequence, batch } of this.#held.take()) {
      // what was held may be of a life that has ended since; a gap among the others may begin another replay
      if (batch.time < this.#lastTime) this.#counts.repeats += 1
      else this.published(sequence, batch)
    }
    if (this.#isReplaying) return
    this.#gapBefore = undefined
    if (!this.#hasChanged) return
    this.#hasChanged = false
    this.check()
  }

  #accept(sequence: number, batch: KvEventBatch): void {
    this.#last = sequence
    this.#lastTime = batch.time
    if (!this.#isReplaying) {
      this.#gapBefore = undefined
      if (!this.#canReplay) this.#isDoubtful = false
    }
    if (sequence === 0 || batch.events.some(({ type }) => type === 'cleared')) this.#isWhole = true
    this.#listener.onBatch(batch)
  }

  #restart(): void {
    this.#counts.restarts += 1
    this.#last = -1
    this.#lastTime = Number.NEGATIVE_INFINITY
    this.#isWhole = true
    this.#listener.onLost('restarted')
  }

  /** What is missing will not come. With nothing heard before, nothing is lost, but what the engine holds is not known. */
  #skip(): void {
    const hadHeard = this.last !== undefined
    this.#isWhole = false
    this.#gapBefore = undefined
    this.#isPastAskable = this.#canReplay && this.#isUnanswered
    this.#isDoubtful = false
    this.#last = undefined
    if (hadHeard) this.#listener.onLost('missed')
  }
}
