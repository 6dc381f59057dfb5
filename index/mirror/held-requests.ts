import type { MirroredPrompt, SharedPrompt } from '../cache-event.ts'
import { SharedBlocks } from '../columns/block-table.ts'
import { RequestTable } from '../columns/request-table.ts'
import type { RequestId } from '../context-block.ts'
import type { OrderingIndex } from '../ordering/ordering-index.ts'
import { HeldContexts } from './held-contexts.ts'
import { MirroredPrompts } from './mirrored-prompts.ts'
import { type MirroredRequest, MirroredRequests } from './mirrored-requests.ts'

/** How much is mirrored at most; the oldest requests go first. */
export interface MirrorBounds {
  readonly maxRequests: number
  readonly maxBlocks: number
}

/** Of a request when it is added. */
export interface HeldAtFirst {
  /** characters */
  readonly length: number
  readonly tokensPerCharacter: number | undefined
  /** It has been sent just now. */
  readonly isAsked: boolean
}

/** So many requests are remembered of which nothing is held any more: an engine may store one anew that it had lost. */
const maxFallen = 5_000

/**
 * How much of each mirrored request is held, in characters. Whenever that changes, the contexts behind each text and the
 * prefixes of prompts change with it.
 */
export class HeldRequests {
  readonly requests: MirroredRequests = new MirroredRequests()
  readonly prompts: MirroredPrompts
  readonly contexts: HeldContexts
  readonly #bounds: MirrorBounds
  readonly #onForgotten: (request: RequestId, time: number) => void
  readonly #table: SharedBlocks
  /** those that lost everything, the longest ago first */
  readonly #fallen = new RequestTable<MirroredRequest>()
  /** requests of which something is held */
  #holding = 0
  /** characters that requests hold behind the last of their prefixes */
  #tailLength = 0
  /** blocks of all requests, each as often as it was sent */
  #blocks = 0

  /** `secret`: see block-table.ts; `onForgotten`: hears of a request that is mirrored no longer, and of its time. */
  constructor(
    bounds: MirrorBounds & { readonly secret?: number },
    createIndex: (blocks: SharedBlocks) => OrderingIndex<MirroredRequest>,
    onForgotten: (request: RequestId, time: number) => void,
  ) {
    this.#bounds = bounds
    this.#onForgotten = onForgotten
    this.#table = new SharedBlocks(bounds.secret)
    this.prompts = new MirroredPrompts(this.#table)
    this.contexts = new HeldContexts(createIndex, this.#table)
  }

  /** Requests of which something is held. */
  get holding(): number {
    return this.#holding
  }

  /** Characters of all that is held: what several share counts once, but for what stands behind a prompt's blocks. */
  get heldLength(): number {
    return this.prompts.heldLength + this.#tailLength
  }

  /** An estimate of the memory they take, but for their contexts. */
  get bytes(): number {
    return this.requests.bytes + this.prompts.bytes + this.#table.bytes
  }

  /** Tokens a character of a request; undefined until the engine has counted them. */
  densityOf(number: MirroredRequest): number | undefined {
    return this.requests.densities.at(number) || undefined
  }

  /** The prompt of a request. */
  promptOf(number: MirroredRequest): MirroredPrompt {
    const { ends, lengths } = this.requests
    return this.requests.keptPrompt(number) ?? this.prompts.promptAt(ends.at(number), lengths.at(number))
  }

  /** Mirrors a request that is not mirrored. */
  add(request: RequestId, prompt: SharedPrompt, held: HeldAtFirst): MirroredRequest {
    const { end, isTold } = this.prompts.add(prompt)
    const blocks = countBlocks(prompt)
    const number = this.requests.add(request, end, prompt.length, blocks)
    this.requests.densities.set(number, held.tokensPerCharacter ?? 0)
    if (!isTold) this.requests.keepPrompt(number, prompt)
    this.#blocks += blocks
    this.hold(number, held.length, held.isAsked)
    return number
  }

  /** Forgets the oldest requests while there are more than the bounds allow. */
  trim(): void {
    const { maxRequests, maxBlocks } = this.#bounds
    while (this.requests.size > maxRequests || (this.#blocks > maxBlocks && this.requests.size > 1)) {
      this.forget(this.requests.oldest()!)
    }
  }

  /** From now on a request has so many tokens a character. */
  count(number: MirroredRequest, density: number): void {
    const { ends, densities, heldLengths } = this.requests
    densities.set(number, density)
    this.prompts.count(ends.at(number), heldLengths.at(number), density)
  }

  /** From now on a request holds the first `length` characters of its prompt; `isAsked`: it has been sent just now. */
  hold(number: MirroredRequest, length: number, isAsked = false): void {
    const { heldLengths, ends } = this.requests
    const before = heldLengths.at(number)
    if (before === length) return
    heldLengths.set(number, length)
    if (before === 0) this.#fallen.delete(number)
    this.#holding += Number(length > 0) - Number(before > 0)
    if (this.requests.keptPrompt(number)) this.#holdKept(number, before, length, isAsked)
    else if (length < before) this.#cut(number, before, length)
    else this.#grow(number, before, length, isAsked)
    const known = this.prompts.hold(ends.at(number), before, length, this.densityOf(number))
    this.#tailLength += length - before - known
  }

  /** A request holds nothing now; of too many such requests those that fell first are forgotten, by and by. */
  fall(number: MirroredRequest): void {
    this.hold(number, 0)
    this.#fallen.delete(number)
    this.#fallen.add(number)
    for (let i = 0; i < 2 && this.#fallen.size > maxFallen; i++) {
      this.forget(this.requests.idOf(this.#fallen.oldest()!))
    }
  }

  /** No request holds anything. All stay known: a sender that fell behind clears before it tells all it holds anew. */
  clear(): void {
    const { ends, heldLengths } = this.requests
    for (const [, number] of this.requests.entries()) {
      this.prompts.hold(ends.at(number), heldLengths.at(number), 0, undefined)
      heldLengths.set(number, 0)
      if (this.#fallen.find(number) === undefined) this.#fallen.add(number)
    }
    this.contexts.clear()
    this.#holding = 0
    this.#tailLength = 0
  }

  /** Mirrors a request no longer, if it was. */
  forget(request: RequestId): void {
    const number = this.requests.find(request)
    if (number === undefined) return
    const { blocks, times, ends } = this.requests
    this.#fallen.delete(number)
    this.hold(number, 0)
    this.#blocks -= blocks.at(number)
    this.prompts.remove(ends.at(number))
    this.requests.delete(request)
    this.#onForgotten(request, times.at(number))
  }

  #holdKept(number: MirroredRequest, before: number, length: number, isAsked: boolean): void {
    for (const { scope, blocks, sizes, ends } of this.requests.keptPrompt(number)!.contexts) {
      const count = countUpTo(ends, length)
      if (count === countUpTo(ends, before)) continue
      this.contexts.hold(number, scope, blocks.slice(0, count), sizes.slice(0, count), isAsked)
    }
  }

  #cut(number: MirroredRequest, before: number, length: number): void {
    this.prompts.eachCut(this.requests.ends.at(number), before, length, (scope, count) =>
      this.contexts.cut(number, scope, count),
    )
  }

  #grow(number: MirroredRequest, before: number, length: number, isAsked: boolean): void {
    this.prompts.eachGrown(this.requests.ends.at(number), before, length, (scope, blocks) =>
      this.contexts.holdNumbers(number, scope, blocks, isAsked),
    )
  }
}

function countBlocks({ contexts }: SharedPrompt): number {
  return contexts.reduce((sum, { blocks }) => sum + blocks.length, 0)
}

/** How many of the ascending `ends` are at most `limit`. */
function countUpTo(ends: readonly number[], limit: number): number {
  let low = 0
  // of nothing nothing is held, not even what ends where all begins
  let high = limit > 0 ? ends.length : 0
  while (low < high) {
    const middle = (low + high) >> 1
    if (ends[middle]! <= limit) low = middle + 1
    else high = middle
  }
  return low
}
