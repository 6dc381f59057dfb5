import type { AverageDensity } from '../average-density.ts'
import type { MirroredPrompt, SharedPrompt } from '../cache-event.ts'
import { SharedBlocks } from '../columns/block-table.ts'
import { RequestTable } from '../columns/request-table.ts'
import type { RequestId } from '../context-block.ts'
import type { HistoryWindow } from '../ordering/demand-history.ts'
import type { PrefixOrdering } from '../ordering/prefix-ordering.ts'
import { HeldContexts } from './held-contexts.ts'
import { MirroredPrompts } from './mirrored-prompts.ts'
import { type MirroredRequest, MirroredRequests } from './mirrored-requests.ts'

/** Limits of a mirror; the oldest requests are dropped first. */
interface MirrorBounds {
  readonly maxRequests: number
  readonly maxBlocks: number
  /** hash seed that prevents clients from provoking collisions (block-table.ts) */
  readonly secret?: number
}

/** Settings of a mirror. */
export interface MirrorOptions extends MirrorBounds {
  /** bounds the demand that orders contexts; may be shared with other mirrors */
  readonly history?: HistoryWindow
  /** shared by all replicas of a model, so that their predictions are comparable */
  readonly average?: AverageDensity
}

/** Maximum number of remembered requests of which nothing is held any more. An engine may store a lost one again. */
const maxFallen = 5_000

/**
 * How much of each mirrored request is held, in characters. Whenever that changes, the held contexts and the prompt
 * prefixes are updated too.
 */
export class HeldRequests {
  readonly requests: MirroredRequests = new MirroredRequests()
  readonly prompts: MirroredPrompts
  readonly contexts: HeldContexts
  readonly #bounds: MirrorBounds
  readonly #onForgotten: (request: RequestId) => void
  readonly #table: SharedBlocks
  /** requests that lost everything; earliest first */
  readonly #fallen = new RequestTable<MirroredRequest>()
  /** number of requests of which something is held */
  #holding = 0
  /** characters that requests hold of blocks they hold in part, and after their last prefix */
  #tailLength = 0
  /** number of blocks in all requests, including repetitions */
  #blocks = 0

  /** `onForgotten`: receives each request that is no longer mirrored. */
  constructor(
    bounds: MirrorBounds,
    createIndex: (blocks: SharedBlocks) => PrefixOrdering<MirroredRequest>,
    onForgotten: (request: RequestId) => void,
  ) {
    this.#bounds = bounds
    this.#onForgotten = onForgotten
    this.#table = new SharedBlocks(bounds.secret)
    this.prompts = new MirroredPrompts(this.#table, this.requests)
    this.contexts = new HeldContexts(createIndex, this.#table)
  }

  /** Number of requests of which something is held. */
  get holding(): number {
    return this.#holding
  }

  /** Characters held. Shared prefixes count once; parts of blocks and what ends a prompt count for each request. */
  get heldLength(): number {
    return this.prompts.heldLength + this.#tailLength
  }

  /** Estimated memory, without the contexts. */
  get bytes(): number {
    return this.requests.bytes + this.prompts.bytes + this.#table.bytes
  }

  /** Returns the tokens per character of a request; undefined until the engine has counted its tokens. */
  densityOf(number: MirroredRequest): number | undefined {
    return this.requests.densities.at(number) || undefined
  }

  /** Returns the prompt of a mirrored request. */
  promptOf(number: MirroredRequest): MirroredPrompt {
    const { ends, lengths } = this.requests
    return this.requests.keptPrompt(number) ?? this.prompts.promptAt(ends.at(number), lengths.at(number))
  }

  /** Adds a request, which must not be mirrored yet. `density`: its tokens per character, if they have been counted. */
  add(request: RequestId, prompt: SharedPrompt, heldLength: number, density = 0): MirroredRequest {
    const { end, isTold } = this.prompts.add(prompt)
    const blocks = countBlocks(prompt)
    const number = this.requests.add(request)
    this.requests.ends.set(number, end)
    this.requests.lengths.set(number, prompt.length)
    this.requests.blocks.set(number, blocks)
    this.requests.densities.set(number, density)
    if (!isTold) this.requests.keepPrompt(number, prompt)
    this.#blocks += blocks
    this.hold(number, heldLength, true)
    return number
  }

  /** Forgets the oldest requests until the bounds are met; a single request may exceed the bound on blocks. */
  trim(): void {
    const { maxRequests, maxBlocks } = this.#bounds
    while (this.requests.size > maxRequests || (this.#blocks > maxBlocks && this.requests.size > 1)) {
      this.forget(this.requests.oldest()!)
    }
  }

  /** Sets the tokens per character of a request. */
  count(number: MirroredRequest, density: number): void {
    const { ends, densities, heldLengths } = this.requests
    densities.set(number, density)
    this.prompts.count(ends.at(number), heldLengths.at(number), density)
  }

  /** Sets the held prefix of a request to `length` characters. `isAsked`: it was sent just now. */
  hold(number: MirroredRequest, length: number, isAsked = false): void {
    const { heldLengths, ends } = this.requests
    const before = heldLengths.at(number)
    if (before === length) return
    this.#tailLength -= this.prompts.countPart(number, 'delete')
    heldLengths.set(number, length)
    if (before === 0) this.#fallen.delete(number)
    this.#holding += Number(length > 0) - Number(before > 0)
    if (this.requests.keptPrompt(number)) this.#holdKept(number, before, length, isAsked)
    else if (length < before) this.#cut(number, before, length)
    else this.#grow(number, before, length, isAsked)
    this.prompts.hold(ends.at(number), before, length, this.densityOf(number))
    this.#tailLength += this.prompts.countPart(number, 'add')
  }

  /** Marks a request as holding nothing. If there are too many such requests, forgets up to two of the earliest. */
  fall(number: MirroredRequest): void {
    this.hold(number, 0)
    this.#fallen.delete(number)
    this.#fallen.add(number)
    for (let i = 0; i < 2 && this.#fallen.size > maxFallen; i++) {
      this.forget(this.requests.requestOf(this.#fallen.oldest()!))
    }
  }

  /** Marks all requests as holding nothing. They stay known: a sender that fell behind clears, then reports again. */
  clear(): void {
    const { ends, heldLengths } = this.requests
    for (const [, number] of this.requests.entries()) {
      this.prompts.countPart(number, 'delete')
      this.prompts.hold(ends.at(number), heldLengths.at(number), 0, undefined)
      heldLengths.set(number, 0)
      if (this.#fallen.find(number) === undefined) this.#fallen.add(number)
    }
    this.contexts.clear()
    this.#holding = 0
    this.#tailLength = 0
  }

  /** Stops mirroring a request, if it is mirrored. */
  forget(request: RequestId): void {
    const number = this.requests.find(request)
    if (number === undefined) return
    const { blocks, ends } = this.requests
    this.#fallen.delete(number)
    this.hold(number, 0)
    this.#blocks -= blocks.at(number)
    this.prompts.remove(ends.at(number))
    this.requests.delete(request)
    this.#onForgotten(request)
  }

  #holdKept(number: MirroredRequest, before: number, length: number, isAsked: boolean): void {
    for (const { scope, blocks, sizes, ends } of this.requests.keptPrompt(number)!.contexts) {
      const count = countUpTo(ends, length)
      if (count === countUpTo(ends, before)) continue
      const held = this.#table.acquireAll(blocks.slice(0, count), sizes)
      this.contexts.hold(number, scope, held, isAsked)
      for (const block of held) this.#table.release(block)
    }
  }

  #cut(number: MirroredRequest, before: number, length: number): void {
    this.prompts.eachCut(this.requests.ends.at(number), before, length, (scope, count) =>
      this.contexts.cut(number, scope, count),
    )
  }

  #grow(number: MirroredRequest, before: number, length: number, isAsked: boolean): void {
    this.prompts.eachGrown(this.requests.ends.at(number), before, length, (scope, blocks) =>
      this.contexts.hold(number, scope, blocks, isAsked),
    )
  }
}

function countBlocks({ contexts }: SharedPrompt): number {
  return contexts.reduce((sum, { blocks }) => sum + blocks.length, 0)
}

/** Returns how many of the ascending `ends` are at most `limit`; 0 if `limit` is 0. */
function countUpTo(ends: readonly number[], limit: number): number {
  let low = 0
  // with nothing held, not even an empty block at position 0 counts
  let high = limit > 0 ? ends.length : 0
  while (low < high) {
    const middle = (low + high) >> 1
    if (ends[middle]! <= limit) low = middle + 1
    else high = middle
  }
  return low
}
