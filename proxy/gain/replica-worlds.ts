import type { CacheSize } from '#engine-adapters/cache-config.ts'
import { ComparedCaches, type ComparedHit, type ComparedPrompt } from './compared-caches.ts'
import { PrefillRate } from './prefill-rate.ts'

/** How many requests may wait for their tokens; further ones are not followed, so that memory is bounded. */
const mostWaiting = 256

/** A request whose prompts, once they are known, are run when all that were sent before have been. */
interface Waiting {
  readonly onServed: (hit: ComparedHit | undefined) => void
  /** runs its prompts; undefined: they are not known yet */
  run: (() => ComparedHit | undefined) | undefined
}

/** The two worlds of one replica: prompts are run in the order they were sent, whenever their tokens arrive. */
export class ReplicaWorlds extends ComparedCaches {
  readonly rate: PrefillRate = new PrefillRate()
  readonly #waiting: Waiting[] = []

  /**
   * Takes the next turn for a request that is sent now; returns undefined if too many wait, and it cannot be followed.
   * Call the returned function once: with its prompts, or without if they cannot be known. `onServed` is told what the
   * two caches hold of them, or undefined.
   */
  takeTurn(
    onServed: (hit: ComparedHit | undefined) => void,
  ): ((prompts: readonly ComparedPrompt[] | undefined, shape: CacheSize) => void) | undefined {
    if (this.#waiting.length >= mostWaiting) return undefined
    const waiting: Waiting = { onServed, run: undefined }
    this.#waiting.push(waiting)
    return (prompts, shape) => {
      waiting.run = () => prompts && this.#serveAll(prompts, shape)
      while (this.#waiting[0]?.run) this.#serve(this.#waiting.shift()!)
    }
  }

  #serve({ run, onServed }: Waiting): void {
    let hit: ComparedHit | undefined
    try {
      hit = run!()
    } catch {
      // a fault of ours: the request is left out
    }
    onServed(hit)
  }

  #serveAll(prompts: readonly ComparedPrompt[], shape: CacheSize): ComparedHit {
    const all = { sent: 0, other: 0 }
    for (const prompt of prompts) {
      const { sent, other } = this.serve(prompt, shape)
      all.sent += sent
      all.other += other
    }
    return all
  }
}
