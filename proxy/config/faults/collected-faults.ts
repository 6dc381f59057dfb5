import { ConfigError } from '../../common/errors.ts'

/** The faults of several readings, so that one that fails hides none of the others. */
export class CollectedFaults {
  readonly #lines: string[] = []

  /** Returns what is read. If that throws a ConfigError, keeps its lines and returns undefined. */
  collect<T>(read: () => T): T | undefined {
    try {
      return read()
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error
      this.#lines.push(...error.message.split('\n'))
      return undefined
    }
  }

  /** Throws a ConfigError with a line for each fault, if there are any. */
  throwAny(): void {
    if (this.#lines.length > 0) throw new ConfigError(this.#lines.join('\n'))
  }
}
