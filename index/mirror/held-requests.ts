import type { AverageDensity } from '../average-density.ts'
import type { MirroredPrompt } from '../cache-event.ts'
import { SharedBlocks } from '../columns/block-table.ts'
import { RequestTable } from '../columns/request-table.ts'
import type { RequestId } from '../context-block.ts'
import { countUpTo } from '../count-up-to.ts'
import type { HistoryWindow } from '../ordering/demand-history.ts'
import type { PrefixOrdering } from '../ordering/prefix-ordering.ts'
import { HeldContexts } from './held-contexts.ts'
import { type HeldContext, MirroredPrompts } from './mirrored-prompts.ts'
import { type MirroredRequest, MirroredRequests } from './mirrored-requests.ts'

/** Settings of a mirror. */
export interface MirrorOptions {
  /** limits of the mirror; the oldest requests are dropped first */
  readonly maxRequests: number
  readonly maxBlocks: number
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
  readonly #bounds: MirrorOptions
  readonly #onForgotten: (request: RequestId) => void
  readonly #table = new SharedBlocks()
  /** the contexts of prompts of which the tree knows other ones: those of another prompt with the same text */
  readonly #odd = new Map<MirroredRequest, readonly HeldContext[]>()
  /** requests that lost everything; earliest first */
  readonly #fallen = new RequestTable<MirroredRequest>()
  /** number of requests of which something is held */
  holding = 0
  /** characters that requests hold of blocks they hold in part, and after their last prefix */
  #tailLength = 0
  /** number of blocks in all requests, including repetitions */
  #blocks = 0

  /** `onForgotten`: receives each request that is no longer mirrored. */
  constructor(
    bounds: MirrorOptions,
    createIndex: (blocks: SharedBlocks) => PrefixOrdering<MirroredRequest>,
    onForgotten: (request: RequestId) => void,
  ) {
    this.#bounds = bounds
    this.#onForgotten = onForgotten
    this.prompts = new MirroredPrompts(this.#table, this.requests)
    this.contexts = new HeldContexts(() => createIndex(this.#table))
  }

  /** Characters held. Shared prefixes count once; parts of blocks and what ends a prompt count for each request. */
  get heldLength(): number {
    return this.prompts.heldLength + this.#tailLength
  }

  /** Estimated memory, without the contexts. */
  get bytes(): number {
    return this.requests.bytes + this.prompts.bytes + this.#table.bytes + this.#odd.size * bytesPerOddPrompt
  }

  /** Returns the tokens per character of a request; undefined until the engine has counted its tokens. */
  densityOf(number: MirroredRequest): number | undefined {
    return this.requests.densities.at(number) || undefined
  }

  /** Returns the prompt of a mirrored request. Block sizes are those of the first user of each block. */
  promptOf(number: MirroredRequest): MirroredPrompt {
    const contexts = this.#contextsOf(number).map(({ scope, blocks, ends }) => {
      const sizes = blocks.map((block) => this.#table.sizes[block]!)
      return { scope, ends, blocks: blocks.map((block) => this.#table.idOf(block)), sizes }
    })
    return {
      contexts,
      ...this.prompts.prefixesTo(this.requests.ends.at(number)),
      length: this.requests.lengths.at(number),
    }
  }

  /** Adds a request, which must not be mirrored yet. `density`: its tokens per character, if they have been counted. */
  add(request: RequestId, prompt: MirroredPrompt, heldLength: number, density = 0): MirroredRequest {
    const blocks = prompt.contexts.map((context) => this.#table.acquireAll(context.blocks, context.sizes))
    const contexts = prompt.contexts.map(({ scope, ends }, i) => ({ scope, blocks: blocks[i]!, ends }))
    const end = this.prompts.add(prompt, blocks)
    const count = blocks.reduce((sum, { length }) => sum + length, 0)
    const number = this.requests.add(request)
    this.requests.ends.set(number, end)
    this.requests.lengths.set(number, prompt.length)
    this.requests.blocks.set(number, count)
    this.requests.densities.set(number, density)
    if (areAlike(this.prompts.contextsOf(end), contexts)) this.#release(contexts)
    else this.#odd.set(number, contexts)
    this.#blocks += count
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
    this.holding += Number(length > 0) - Number(before > 0)
    this.#holdContexts(number, before, length, isAsked)
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
    this.holding = 0
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
    this.#release(this.#odd.get(number) ?? [])
    this.#odd.delete(number)
    this.requests.delete(request)
    this.#onForgotten(request)
  }

  #holdContexts(number: MirroredRequest, before: number, length: number, isAsked: boolean): void {
    // with nothing held, not even an empty block at position 0 counts
    for (const { scope, blocks, ends } of this.#contextsOf(number, Math.min(before, length) || -1)) {
      const count = length > 0 ? countUpTo(ends, length) : 0
      if (count === (before > 0 ? countUpTo(ends, before) : 0)) continue
      if (length < before) this.contexts.cut(number, scope, count)
      else this.contexts.hold(number, scope, blocks.slice(0, count), isAsked)
    }
  }

  /** Returns the contexts of a prompt, of which those that end within its first `from` characters may be left out. */
  #contextsOf(number: MirroredRequest, from?: number): readonly HeldContext[] {
    return this.#odd.get(number) ?? this.prompts.contextsOf(this.requests.ends.at(number), from)
  }

  #release(contexts: readonly HeldContext[]): void {
    for (const { blocks } of contexts) for (const block of blocks) this.#table.release(block)
  }
}

function areAlike(some: readonly HeldContext[], others: readonly HeldContext[]): boolean {
  const isSame = (one: HeldContext, { scope, blocks, ends }: HeldContext): boolean =>
    one.scope === scope &&
    one.blocks.length === blocks.length &&
    one.blocks.every((block, i) => block === blocks[i] && one.ends[i] === ends[i])
  return some.length === others.length && some.every((one, i) => isSame(one, others[i]!))
}

const bytesPerOddPrompt = 1_000
