/**
 * As many of the latest requests that held a block speak for it: popularity that is over is forgotten. Measured on five
 * traces: 8 cost 1 % of the hit ratio in small caches, 32 gain nothing over 16.
 */
const speakersPerBlock = 16

/** A request of the past that holds a block of the context that is being ordered. */
export interface SimilarRequest {
  /** its different blocks, by number */
  readonly blocks: readonly number[]
  /** how much it says about requests like the one being ordered */
  weight: number
  /** how many blocks of the context it holds that are not placed yet */
  unplaced: number
}

/** A block of past requests. */
interface AskedBlock {
  /** how many of the requests remembered hold it */
  demand: number
  /** the latest of them, latest last */
  readonly speakers: PastRequest[]
}

interface PastRequest extends SimilarRequest {
  /** the question that last asked for it */
  askedBy: number
}

const usualRequests = 1 << 16

/** Bounds what several histories remember together: the oldest of all is forgotten first. */
export class HistoryWindow {
  readonly #capacity: number
  readonly #mostRequests: number
  readonly #remembered: ({ readonly size: number; readonly forget: () => void } | undefined)[] = []
  /** those in front of it are forgotten */
  #oldest = 0
  #size = 0

  /** `capacity`: requests and their blocks, in all; by default 65,536 requests, of 15 blocks on average at most. */
  constructor(capacity: number = 16 * usualRequests, mostRequests: number = usualRequests) {
    this.#capacity = capacity
    this.#mostRequests = mostRequests
  }

  /** A request of so many blocks is remembered from now on, until `forget` is called: at once, if it cannot be held. */
  add(blocks: number, forget: () => void): void {
    const size = 1 + blocks
    this.#remembered.push({ size, forget })
    this.#size += size
    while (this.#size > this.#capacity || this.#remembered.length - this.#oldest > this.#mostRequests) {
      const oldest = this.#remembered[this.#oldest]!
      this.#remembered[this.#oldest++] = undefined
      this.#size -= oldest.size
      oldest.forget()
    }
    if (this.#oldest > this.#remembered.length / 2) {
      this.#remembered.splice(0, this.#oldest)
      this.#oldest = 0
    }
  }
}

/**
 * What has been asked for lately, whether or not an engine still holds it: the sample from which the requests to come
 * are judged. Bounded by its window, and of each block by the last 16 requests that held it.
 */
export class DemandHistory {
  readonly #window: HistoryWindow
  readonly #onForget: (blocks: readonly number[]) => void
  #requests = 0
  /** blocks that requests remembered hold, by number */
  readonly #blocks = new Map<number, AskedBlock>()
  #questions = 0

  /** `onForget` is told of the blocks of a request that is remembered no longer. */
  constructor(window: HistoryWindow, onForget: (blocks: readonly number[]) => void) {
    this.#window = window
    this.#onForget = onForget
  }

  /** How many different blocks the requests remembered hold. */
  get blocks(): number {
    return this.#blocks.size
  }

  /** How many requests are remembered. */
  get requests(): number {
    return this.#requests
  }

  /** Adds a request, its different blocks by number. */
  record(blocks: readonly number[]): void {
    const request: PastRequest = { blocks, weight: 0, unplaced: 0, askedBy: 0 }
    this.#requests += 1
    for (const block of blocks) {
      const asked = this.#blocks.get(block)
      if (!asked) this.#blocks.set(block, { demand: 1, speakers: [request] })
      else {
        asked.demand += 1
        if (asked.speakers.length === 2 * speakersPerBlock) asked.speakers.splice(0, speakersPerBlock)
        asked.speakers.push(request)
      }
    }
    this.#window.add(blocks.length, () => this.#forget(request))
  }

  /** The latest requests that hold a block, 16 at most. */
  speakersOf(block: number): readonly SimilarRequest[] {
    const speakers = this.#blocks.get(block)?.speakers ?? []
    return speakers.length > speakersPerBlock ? speakers.slice(-speakersPerBlock) : speakers
  }

  /**
   * Weighs the latest requests that share a block with a context (−1: a block never asked for): the square of the
   * share they have of it, where a block counts the more the rarer it is (its self-information). Requests that are
   * alike share more blocks than those they are known by, and a hot block alone makes nobody alike. Returns the
   * speakers of each block; their weights hold until the next question.
   */
  weigh(context: readonly number[]): (readonly SimilarRequest[])[] {
    this.#questions += 1
    const rarity = context.map((block) =>
      Math.log((this.#requests + 1) / ((this.#blocks.get(block)?.demand ?? 0) + 0.5)),
    )
    const whole = rarity.reduce((sum, share) => sum + share, 0)
    const asked: SimilarRequest[] = []
    const speakers = context.map((block, i) => {
      const latest = block < 0 ? [] : (this.speakersOf(block) as readonly PastRequest[])
      for (const request of latest) {
        if (request.askedBy !== this.#questions) {
          request.askedBy = this.#questions
          request.weight = 0
          request.unplaced = 0
          asked.push(request)
        }
        request.weight += rarity[i]!
        request.unplaced += 1
      }
      return latest
    })
    for (const request of asked) request.weight = (request.weight / whole) ** 2
    return speakers
  }

  #forget(request: PastRequest): void {
    this.#requests -= 1
    for (const block of request.blocks) {
      const asked = this.#blocks.get(block)!
      asked.demand -= 1
      // the oldest request is the one that is forgotten
      if (asked.demand === 0) this.#blocks.delete(block)
      else if (asked.speakers[0] === request) asked.speakers.shift()
    }
    this.#onForget(request.blocks)
  }
}
