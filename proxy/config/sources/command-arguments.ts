import { InvalidArgumentError } from 'commander'
import { readNumber } from '../read-arguments.ts'

/** Turns what a reader of arguments throws into commander's usage error. */
export function argument<T>(read: (text: string) => T): (text: string) => T {
  return (text) => {
    try {
      return read(text)
    } catch (error) {
      throw new InvalidArgumentError((error as Error).message)
    }
  }
}

/** Reads a whole number of at least `least`. */
export function atLeast(least: number): (text: string) => number {
  return argument((text) => readNumber(text, least))
}

/** Reads the size of a cache in tokens, which may be `unlimited`. */
export function readCapacity(text: string): number {
  return text === 'unlimited' ? Number.POSITIVE_INFINITY : atLeast(1)(text)
}
