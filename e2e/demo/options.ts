import { InvalidArgumentError } from 'commander'

export function toPositiveInteger(text: string): number {
  const value = Number(text)
  if (!Number.isSafeInteger(value) || value < 1) throw new InvalidArgumentError('Not a positive whole number.')
  return value
}

/** Parses a number of tokens; `unlimited` is infinite. */
export function toCapacity(text: string): number {
  return text === 'unlimited' ? Number.POSITIVE_INFINITY : toPositiveInteger(text)
}
