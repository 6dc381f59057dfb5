import { InvalidArgumentError } from 'commander'

export function toPositiveInteger(text: string): number {
  const value = Number(text)
  if (!Number.isSafeInteger(value) || value < 1) throw new InvalidArgumentError('Not a positive whole number.')
  return value
}

/** A number of tokens, or undefined for `unlimited`. */
export function toCapacity(text: string): number | undefined {
  return text === 'unlimited' ? undefined : toPositiveInteger(text)
}
