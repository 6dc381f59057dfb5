/**
 * Only this many of the latest requests with a block count as its speakers, so that past popularity is forgotten.
 * Measured on five traces: 8 costs 1 % of the hit ratio in small caches, and 32 gains nothing over 16.
 */
const speakersPerBlock = 16

/** A past request that shares a block with the context being ordered. */
export interface SimilarRequest {
  /** its distinct blocks, by number */
  readonly blocks: readonly number[]
  /** how much it says about requests like the one being ordered */
  weight: number
  /** how many of its blocks are in the context and not placed yet */
  unplaced: number
}

/** A block of past requests. */
interface AskedBlock {
  /** how many remembered requests hold it */
  demand: number
  /** the latest 16 of these requests, latest last */
  readonly speakers: PastRequest[]
}

interface PastRequest extends SimilarRequest {
  /** number of the last question that used it */
  askedBy: number
}

const usualRequests = 1 << 16

const none: readonly never[] = []

/** A request in a window. A history that nobody else holds may go: it is not kept for the sake of its requests. */
interface Remembered {
  readonly history: WeakRef<Forgetting>
  readonly request: PastRequest
}

/** What a window tells that its request is dropped. */
interface Forgetting {
  forget(request: PastRequest): void
}

/** Bounds the memory of several histories together. The oldest request of all is forgotten first. */
export class HistoryWindow {
  readonly #capacity: number
  readonly #mostRequests: number
  readonly #remembered: (Remembered | undefined)[] = []
  /** entries before this index are forgotten */
  #oldest = 0
  #size = 0

  /** `capacity` counts requests and their blocks. The default holds 65,536 requests with 15 blocks on average. */
  constructor(capacity: number = 16 * usualRequests, mostRequests: number = usualRequests) {
    this.#capacity = capacity
    this.#mostRequests = mostRequests
  }

  /** Remembers a request of a history, which is told when it is dropped; at once if it does not fit. */
  add(request: PastRequest, history: WeakRef<Forgetting>): void {
    this.#remembered.push({ history, request })
    this.#size += 1 + request.blocks.length
    while (this.#size > this.#capacity || this.#remembered.length - this.#oldest > this.#mostRequests) {
      const oldest = this.#remembered[this.#oldest]!
      this.#remembered[this.#oldest++] = undefined
      this.#size -= 1 + oldest.request.blocks.length
      oldest.history.deref()?.forget(oldest.request)
    }
    if (this.#oldest > this.#remembered.length / 2) {
      this.#remembered.splice(0, this.#oldest)
      this.#oldest = 0
    }
  }
}

/**
 * The latest requests, whether or not an engine still holds them. They are the sample from which future requests are
 * predicted. Bounded by the window; for each block only the last 16 requests with it count.
 */
export class DemandHistory {
  readonly #window: HistoryWindow
  readonly #onForget: (blocks: readonly number[]) => void
  readonly #self: WeakRef<Forgetting> = new WeakRef(this)
  #requests = 0
  /** blocks of remembered requests, by number */
  readonly #blocks = new Map<number, AskedBlock>()
  #questions = 0

  /** `onForget` receives the blocks of each forgotten request. */
  constructor(window: HistoryWindow, onForget: (blocks: readonly number[]) => void) {
    this.#window = window
    this.#onForget = onForget
  }

  /** Number of distinct blocks in the remembered requests. */
  get blocks(): number {
    return this.#blocks.size
  }

  /** Number of remembered requests. */
  get requests(): number {
    return this.#requests
  }

  /** Adds a request, given as its distinct blocks by number. */
  record(blocks: readonly number[]): void {
    const request: PastRequest = { blocks, weight: 0, unplaced: 0, askedBy: 0 }
    this.#requests += 1
    for (const block of blocks) {
      const asked = this.#blocks.get(block)
      if (!asked) this.#blocks.set(block, { demand: 1, speakers: [request] })
      else {
        asked.demand += 1
        if (asked.speakers.length === speakersPerBlock) asked.speakers.shift()
        asked.speakers.push(request)
      }
    }
    this.#window.add(request, this.#self)
  }

  /** Returns the latest requests with a block, at most 16. */
  speakersOf(block: number): readonly SimilarRequest[] {
    return this.#blocks.get(block)?.speakers ?? none
  }

  /**
   * Weighs the latest requests that share a block with a context, in which −1 is a block never requested. A request's
   * weight is the square of its share of the context, in which rare blocks count more (self-information). Similar
   * requests share more blocks than those that reveal the similarity, and a hot block alone makes none similar. Returns
   * the speakers of each block; their weights are valid until the next call.
   */
  weigh(context: readonly number[]): (readonly SimilarRequest[])[] {
    this.#questions += 1
    const known = context.map((block) => this.#blocks.get(block))
    const rarity = known.map((block) => Math.log((this.#requests + 1) / ((block?.demand ?? 0) + 0.5)))
    const whole = rarity.reduce((sum, share) => sum + share, 0)
    const asked: SimilarRequest[] = []
    const speakers = known.map((block, i) => {
      const latest: readonly PastRequest[] = block?.speakers ?? none
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

  /** Called by the window, which drops the oldest first. */
  forget(request: PastRequest): void {
    this.#requests -= 1
    for (const block of request.blocks) {
      const asked = this.#blocks.get(block)!
      asked.demand -= 1
      // requests are forgotten oldest first, so this one can only be the first speaker
      if (asked.demand === 0) this.#blocks.delete(block)
      else if (asked.speakers[0] === request) asked.speakers.shift()
    }
    this.#onForget(request.blocks)
  }
}
