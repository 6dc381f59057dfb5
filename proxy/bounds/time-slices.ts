import { setImmediate as afterIo } from 'node:timers/promises'

/** Long enough that passing costs little, short enough that a request does not notice. */
const sliceMilliseconds = 4

/** Lets others go on while something long is done. */
export class TimeSlices {
  #since = performance.now()

  /** Whether it is time to `pass`. */
  get isOver(): boolean {
    return performance.now() - this.#since > sliceMilliseconds
  }

  /** Whatever else is there to be done is done before it resolves. */
  async pass(): Promise<void> {
    await afterIo()
    this.#since = performance.now()
  }
}
