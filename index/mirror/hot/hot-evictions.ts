import type { MirroredPrompt, SentPrompt } from '../../cache-event.ts'
import { toPrefixSymbol } from '../../columns/prefix-symbol.ts'
import type { RequestId, ScopeId } from '../../context-block.ts'
import { LeafHeap } from '../../hotness/leaf-heap.ts'
import type { BeliefCut, BelievedCache } from '../believed-cache.ts'
import type { HotPolicy } from './eviction-policy.ts'
import { PrefixHeat } from './prefix-heat.ts'
import { nameOf, type Piece, PrefixRun } from './prefix-runs.ts'

/**
 * Assumed evictions of an engine that reported that it evicts by hotness but does not report evictions: it evicts the
 * leaf with the lowest priority, from its tail. While the engine reports evictions, this only counts requests.
 */
export class HotEvictions {
  readonly #cache: BelievedCache
  readonly #cut: BeliefCut
  readonly #heat: PrefixHeat
  readonly #leaves = new LeafHeap<PrefixRun>()
  /** undefined while the engine reports evictions */
  #root: PrefixRun | undefined
  /** total characters of all runs; unlike in the mirror, a partly evicted block counts once, not once per request */
  #length = 0
  #uses = 0
  #age = 0
  #tokensPerCharacter = 1

  constructor(cache: BelievedCache, cut: BeliefCut, policy: HotPolicy) {
    this.#cache = cache
    this.#cut = cut
    this.#heat = new PrefixHeat(policy)
  }

  /** Counts a request to an engine that reports evictions. */
  note({ prefixes, ends }: Pick<SentPrompt, 'prefixes' | 'ends'>): void {
    let start = 0
    for (const [i, end] of ends.entries()) {
      if (end > start) this.#heat.use(nameOf(toPrefixSymbol(prefixes[i]!), start))
      start = end
    }
    this.#heat.passRequest()
  }

  /** Counts a request to an engine that does not report evictions: makes room for it and adds it. */
  sent(request: RequestId, prompt: SentPrompt, capacityTokens: number, inWhole = false): void {
    const root = this.#begin(request)
    const end = this.#insert(
      root,
      request,
      toPieces(request, { ...prompt, symbols: prompt.prefixes.map(toPrefixSymbol) }),
    )
    const path = end.path()
    for (const run of path) this.#leaves.remove(run)
    this.#makeRoom(capacityTokens, inWhole, new Set(path))
    for (const run of path) {
      this.#use(run)
      this.#heat.use(run.name)
    }
    if (end.children.size === 0) this.#offer(end)
    this.#heat.passRequest()
    this.#rekey()
  }

  /** Cuts beliefs until they fit. */
  fit(capacityTokens: number, inWhole = false): void {
    this.#begin(undefined)
    this.#makeRoom(capacityTokens, inWhole, new Set())
  }

  /** Drops the assumed tree, because the engine reports again. */
  close(): void {
    this.#root = undefined
    this.#length = 0
    for (const run of [...this.#leaves]) this.#leaves.remove(run)
  }

  /** Returns the tree of what is believed to be held. If it has to be built, the request being sent is left out. */
  #begin(sent: RequestId | undefined): PrefixRun {
    if (this.#root) return this.#root
    this.#root = new PrefixRun(undefined, 0, [])
    for (const request of this.#cache.requestIds()) {
      const held = request === sent ? undefined : this.#cache.heldOf(request)
      const prompt = held && this.#cache.promptOf(request)
      if (!prompt) continue
      const pieces = cutAt(toPieces(request, prompt), held.cachedLength)
      const end = this.#insert(this.#root, request, pieces)
      for (const run of end.path()) this.#use(run)
      if (end.parent && end.children.size === 0) this.#offer(end)
    }
    return this.#root
  }

  #insert(root: PrefixRun, request: RequestId, pieces: readonly Piece[]): PrefixRun {
    const { run, end, pieces: shared } = root.walk(pieces)
    if (run.parent && shared < run.pieces.length) this.#split(run, shared)
    const last = pieces.some((piece) => piece.end > end) ? run.extend(pieces) : run
    // `run` is no longer a leaf
    if (last !== run) {
      this.#leaves.remove(run)
      this.#length += last.length
    }
    last.requests.add(request)
    return last
  }

  #split(run: PrefixRun, pieces: number): void {
    const isLeaf = this.#leaves.has(run)
    this.#leaves.remove(run)
    const tail = run.split(pieces)
    this.#heat.adopt(tail.name, run.name, tail.uses)
    if (isLeaf) this.#offer(tail)
  }

  #makeRoom(capacityTokens: number, inWhole: boolean, running: ReadonlySet<PrefixRun>): void {
    for (;;) {
      const heldTokens = this.#cache.estimateTokens(this.#length)
      const leaf = this.#leaves.min
      if (heldTokens <= capacityTokens || !leaf) return
      const surplus = inWhole ? Number.POSITIVE_INFINITY : (heldTokens - capacityTokens) / this.#densityAt(leaf)
      if (surplus < leaf.length) this.#shorten(leaf, leaf.end - surplus)
      else this.#evict(leaf, running)
    }
  }

  #shorten(leaf: PrefixRun, end: number): void {
    this.#length -= leaf.end - end
    const symbol = leaf.shorten(end)
    this.#heat.adopt(nameOf(symbol, end), leaf.name, leaf.uses)
    this.#tell(leaf.requests, end)
    this.#offer(leaf)
  }

  #evict(leaf: PrefixRun, running: ReadonlySet<PrefixRun>): void {
    const parent = leaf.parent!
    this.#leaves.remove(leaf)
    this.#length -= leaf.length
    leaf.remove()
    this.#tell(leaf.requests, parent.end)
    // drop requests that the mirror has forgotten
    for (const request of leaf.requests) if (this.#cache.heldOf(request)) parent.requests.add(request)
    if (parent.parent && parent.children.size === 0 && !running.has(parent)) this.#offer(parent)
  }

  #tell(requests: Iterable<RequestId>, end: number): void {
    for (const request of requests) {
      const held = this.#cache.heldOf(request)
      if (!held || held.cachedLength <= end) continue
      this.#cut({ type: 'evicted', request, cachedTokens: Math.ceil(end * held.tokensPerCharacter) })
    }
  }

  #densityAt(leaf: PrefixRun): number {
    for (const request of leaf.requests) {
      const held = this.#cache.heldOf(request)
      if (held) this.#tokensPerCharacter = held.tokensPerCharacter
      if (held) break
    }
    return this.#tokensPerCharacter
  }

  #use(run: PrefixRun): void {
    this.#uses += 1
    run.uses += 1
    run.lastUse = this.#uses
  }

  #offer(run: PrefixRun): void {
    this.#leaves.put(run, this.#priorityOf(run), run.lastUse)
  }

  #priorityOf(run: PrefixRun): number {
    return this.#heat.priorityOf(run.name, Math.max(1, run.length * this.#densityAt(run)))
  }

  #rekey(): void {
    if (this.#heat.age === this.#age) return
    this.#age = this.#heat.age
    this.#leaves.rekey((run) => this.#priorityOf(run))
  }
}

/**
 * Cuts a prompt into pieces at the ends of its prefixes. The piece after the last prefix belongs to the request alone.
 */
function toPieces(
  request: RequestId,
  { symbols, ends, length }: Pick<MirroredPrompt, 'symbols' | 'ends' | 'length'>,
): Piece[] {
  const own = { symbol: toPrefixSymbol(`request ${request}` as string as ScopeId), end: length }
  const pieces = [...symbols.map((symbol, i) => ({ symbol, end: ends[i]! })), own]
  return pieces.filter(({ end }, i) => end > (pieces[i - 1]?.end ?? 0))
}

function cutAt(pieces: readonly Piece[], length: number): Piece[] {
  const whole = pieces.filter(({ end }) => end <= length)
  const next = pieces[whole.length]
  return next && (whole.at(-1)?.end ?? 0) < length ? [...whole, { symbol: next.symbol, end: length }] : whole
}
