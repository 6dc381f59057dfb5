/** Width of each field of an entry, in bits. */
export interface HotnessBits {
  readonly fingerprint: number
  readonly clock: number
  readonly frequency: number
  readonly depth: number
}

/** Positions and maxima of the fields of an entry, fingerprint first. An entry is never 0, as its frequency is not. */
export interface EntryLayout {
  readonly fingerprintBits: number
  readonly fingerprintShift: number
  readonly clockShift: number
  readonly frequencyShift: number
  readonly mostClock: number
  readonly mostFrequency: number
  readonly mostDepth: number
}

/** Computes the layout of a 32-bit entry; default: eight bits per field. Throws a RangeError for invalid widths. */
export function toEntryLayout(bits: Partial<HotnessBits> = {}): EntryLayout {
  const { fingerprint, clock, frequency, depth } = { fingerprint: 8, clock: 8, frequency: 8, depth: 8, ...bits }
  const widths = { fingerprint, clock, frequency, depth }
  for (const [name, width] of Object.entries(widths)) {
    const least = { fingerprint: 4, clock: 1, frequency: 1, depth: 0 }[name]!
    if (Number.isInteger(width) && width >= least && width <= 16) continue
    throw new RangeError(`bits.${name} is ${width}: it must be a whole number from ${least} to 16`)
  }
  const sum = fingerprint + clock + frequency + depth
  if (sum > 32) throw new RangeError(`fields of ${sum} bits do not go into an entry of 32`)
  return {
    fingerprintBits: fingerprint,
    fingerprintShift: depth + frequency + clock,
    clockShift: depth + frequency,
    frequencyShift: depth,
    mostClock: 2 ** clock - 1,
    mostFrequency: 2 ** frequency - 1,
    mostDepth: 2 ** depth - 1,
  }
}
