import { setImmediate as afterIo } from 'node:timers/promises'

/** Long enough that yielding costs little, short enough that a request does not notice. */
const sliceMilliseconds = 4

/** Lets other work run during a long task. */
export class TimeSlices {
  #since = performance.now()

  /** Whether it is time to `pass`. */
  get isOver(): boolean {
    return performance.now() - this.#since > sliceMilliseconds
  }

  /** Yields to the event loop. Resolves after other pending work. */
  async pass(): Promise<void> {
    await afterIo()
    this.#since = performance.now()
  }
}
