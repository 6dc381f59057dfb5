import { type CacheShape, ComparedCaches, type ComparedHit, type ComparedPrompt } from './compared-caches.ts'
import { PrefillRate } from './prefill-rate.ts'

/** How many requests may wait for their tokens; further ones are not followed, so that memory is bounded. */
const mostWaiting = 256

/** The two worlds of one replica: prompts are run in the order they were sent, whenever their tokens arrive. */
export class ReplicaWorlds {
  readonly rate: PrefillRate = new PrefillRate()
  readonly #caches = new ComparedCaches()
  #turn: Promise<unknown> = Promise.resolve()
  #waiting = 0

  /** Returns what the two caches hold of a request's prompts; undefined if they cannot be followed. Never rejects. */
  serve(
    prompts: Promise<readonly ComparedPrompt[] | undefined>,
    shape: () => CacheShape,
  ): Promise<ComparedHit | undefined> {
    // at once: their turn may come late, or never
    const followed = prompts.catch(() => undefined)
    if (this.#waiting >= mostWaiting) return Promise.resolve(undefined)
    this.#waiting += 1
    const served = this.#turn
      .then(() => followed)
      .then((known) => known && this.#serveAll(known, shape()))
      .catch(() => undefined)
      .finally(() => {
        this.#waiting -= 1
      })
    // otherwise the result of each would hold the one before it
    this.#turn = served.then(() => undefined)
    return served
  }

  /** Notes that the engine answered a prompt with this many tokens. */
  answered(prompt: ComparedPrompt, answerTokens: number): void {
    this.#caches.answered(prompt, answerTokens)
  }

  /** Forgets everything, because the engine has lost all it held. */
  clear(): void {
    this.#caches.clear()
  }

  #serveAll(prompts: readonly ComparedPrompt[], shape: CacheShape): ComparedHit {
    const hits = prompts.map((prompt) => this.#caches.serve(prompt, shape))
    const sum = (read: (hit: ComparedHit) => number): number => hits.reduce((total, hit) => total + read(hit), 0)
    return { sent: sum(({ sent }) => sent), other: sum(({ other }) => other) }
  }
}
