import { type CacheShape, ComparedCaches, type ComparedHit, type ComparedPrompt } from './compared-caches.ts'
import { PrefillRate } from './prefill-rate.ts'

/** Requests whose tokens are waited for; one that comes beyond is not followed, so that memory is bounded. */
const mostWaiting = 256

/** The two worlds of one replica: prompts are run in the order in which they were sent, whenever their tokens come. */
export class ReplicaWorlds {
  readonly rate: PrefillRate = new PrefillRate()
  readonly #caches = new ComparedCaches()
  #turn: Promise<unknown> = Promise.resolve()
  #waiting = 0

  /** What the two caches have of a request's prompts; undefined when they cannot be followed. Never rejects. */
  serve(
    prompts: Promise<readonly ComparedPrompt[] | undefined>,
    shape: () => CacheShape,
  ): Promise<ComparedHit | undefined> {
    if (this.#waiting >= mostWaiting) return Promise.resolve(undefined)
    this.#waiting += 1
    const served = this.#turn
      .then(() => prompts)
      .then((known) => known && this.#serveAll(known, shape()))
      .catch(() => undefined)
      .finally(() => {
        this.#waiting -= 1
      })
    // the result of each would hold the one before it
    this.#turn = served.then(() => undefined)
    return served
  }

  /** The engine has answered a prompt in so many tokens. */
  answered(prompt: ComparedPrompt, answerTokens: number): void {
    this.#caches.answered(prompt, answerTokens)
  }

  /** The engine has lost all it held. */
  clear(): void {
    this.#caches.clear()
  }

  #serveAll(prompts: readonly ComparedPrompt[], shape: CacheShape): ComparedHit {
    const hits = prompts.map((prompt) => this.#caches.serve(prompt, shape))
    const sum = (read: (hit: ComparedHit) => number): number => hits.reduce((total, hit) => total + read(hit), 0)
    return { sent: sum(({ sent }) => sent), other: sum(({ other }) => other) }
  }
}
