import type { TreeCache } from '#index/tree-cache/tree-cache.ts'
import type { ReplayRequest } from '../replay-request.ts'
import type { PromptLayout } from './prompt-layout.ts'
import type { SentRequest } from './replay-run.ts'

/** Called when only the first `keptBlocks` blocks of a request, in the order sent, are cached. */
type CutListener = (request: ReplayRequest, keptBlocks: number) => void

/** The engine of a replay: serves prompts from a simulated cache and counts the cached tokens. */
export class ReplayEngine {
  readonly #cache: TreeCache
  readonly #layout: PromptLayout
  readonly #onCut: CutListener
  readonly sent: SentRequest[] = []
  readonly #sentByNumber = new Map<number, SentRequest>()
  cachedTokens = 0
  promptTokens = 0

  constructor(cache: TreeCache, layout: PromptLayout, onCut: CutListener) {
    this.#cache = cache
    this.#layout = layout
    this.#onCut = onCut
  }

  serve(sent: SentRequest): void {
    const { request, order } = sent
    const tokens = this.#layout.tokensOf(request, order)
    this.sent.push(sent)
    this.#sentByNumber.set(request.number, sent)
    this.promptTokens += tokens.length
    this.cachedTokens += this.#cache.serve(request.number, request.tenant, tokens)
    for (const [number, length] of this.#cache.takeChanges()) {
      const { request, order } = this.#sentByNumber.get(number)!
      this.#onCut(request, this.#layout.blocksWithin(request, order, length))
    }
  }
}
