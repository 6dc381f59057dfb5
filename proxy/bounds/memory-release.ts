import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

/** Fewer bytes are not worth a collection, which holds up requests for some 50 ms. */
const worthwhileBytes = 128 * 1024 * 1024
/** Behind the last large body: while others come, nobody is held up. */
const calmMilliseconds = 10_000

/**
 * Has the memory of large bodies given back to the system once they are gone. V8 collects what is outside of its heap when
 * more is asked for: behind a burst of bodies a gigabyte stays, for as long as no other comes.
 */
export class MemoryRelease {
  readonly #collect: () => void
  #most = 0
  #timer: NodeJS.Timeout | undefined

  constructor(collect: () => void) {
    this.#collect = collect
  }

  /** Bodies take so many bytes from now on. */
  note(bytes: number): void {
    this.#most = Math.max(this.#most, bytes)
    if (this.#most < worthwhileBytes) return
    if (bytes > this.#most / 4) {
      clearTimeout(this.#timer)
      this.#timer = undefined
    } else {
      this.#timer ??= setTimeout(this.#release, calmMilliseconds).unref()
    }
  }

  readonly #release = (): void => {
    this.#timer = undefined
    this.#most = 0
    this.#collect()
  }
}

/** Collects all garbage at once. */
export function collectGarbage(): void {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  collect()
}
