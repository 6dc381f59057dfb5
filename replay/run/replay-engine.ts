import { movedSince } from '../cache/host-tier.ts'
import type { SimulatedCache } from '../cache/simulated-cache.ts'
import type { LatencyModel } from './latency-model.ts'
import type { PromptLayout } from './prompt-layout.ts'
import type { SentRequest } from './replay-run.ts'

/** Called when only the first `keptBlocks` blocks of a request, in the order sent, are cached. */
type CutListener = (sent: SentRequest, keptBlocks: number) => void

/** The engine of a replay: serves prompts from a simulated cache and counts the cached tokens. */
export class ReplayEngine {
  readonly #cache: SimulatedCache
  readonly #layout: PromptLayout
  readonly #onCut: CutListener
  readonly sent: SentRequest[] = []
  readonly #sentByNumber = new Map<number, SentRequest>()
  cachedTokens = 0
  promptTokens = 0
  /** modelled total wait of all requests */
  waitSeconds = 0
  readonly #latency: LatencyModel

  constructor(
    cache: SimulatedCache,
    layout: PromptLayout,
    latency: LatencyModel,
    onCut: CutListener = () => undefined,
  ) {
    this.#latency = latency
    this.#cache = cache
    this.#layout = layout
    this.#onCut = onCut
  }

  serve(sent: SentRequest): void {
    const { request, order } = sent
    const tokens = this.#layout.tokensOf(request, order)
    this.sent.push(sent)
    this.#sentByNumber.set(request.number, sent)
    const promptTokens = this.#layout.lengthOf(request, order)
    const before = { ...this.#cache.hostFigures }
    const cached = this.#cache.serve(request.number, request.tenant, tokens, promptTokens)
    this.promptTokens += promptTokens
    this.cachedTokens += cached
    this.waitSeconds += this.#latency.wait(promptTokens - cached, movedSince(before, this.#cache.hostFigures))
    for (const [number, length] of this.#cache.takeChanges()) this.#cut(this.#sentByNumber.get(number)!, length)
  }

  get hostFigures(): SimulatedCache['hostFigures'] {
    return this.#cache.hostFigures
  }

  #cut(sent: SentRequest, cachedTokens: number): void {
    this.#onCut(sent, this.#layout.blocksWithin(sent.request, sent.order, cachedTokens))
  }
}
