import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

/** Less is not worth a collection, which holds up requests for some 50 ms. */
const worthwhileBytes = 128 * 1024 * 1024
/** Wait this long after the last large body, so that nothing is held up during a burst. */
const calmMilliseconds = 10_000

/**
 * Returns the memory of large bodies to the system once they are gone. V8 collects memory outside its heap only when
 * more is requested: after a burst of bodies a gigabyte would stay allocated until the next one.
 */
export class MemoryRelease {
  readonly #collect: () => void
  #most = 0
  #timer: NodeJS.Timeout | undefined

  constructor(collect: () => void) {
    this.#collect = collect
  }

  /** Notes how many bytes bodies take now. */
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
