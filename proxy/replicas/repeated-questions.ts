import { getOrMake } from '#index/get-or-make.ts'

/** Asks each of some replicas something again and again, one question at a time. */
export class RepeatedQuestions<T extends object> {
  readonly #ask: (target: T) => Promise<void>
  readonly #asked = new WeakMap<T, { at: number; asking: Promise<void> | undefined }>()

  /** `ask` never rejects. */
  constructor(ask: (target: T) => Promise<void>) {
    this.#ask = ask
  }

  /**
   * Asks unless it was asked within `pause` milliseconds. Resolves when the question under way, if any, is answered.
   * `first`: after how many milliseconds a target is asked that is new.
   */
  askAfter(pause: number, target: T, now: number, first = 0): Promise<void> {
    const asked = getOrMake(this.#asked, target, () => ({ at: now + first - pause, asking: undefined }))
    if (asked.asking === undefined && now - asked.at >= pause) {
      asked.at = now
      asked.asking = this.#ask(target).then(() => {
        asked.asking = undefined
      })
    }
    return asked.asking ?? Promise.resolve()
  }
}
