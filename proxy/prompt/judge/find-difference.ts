import { commonStart } from '#index/common-edges.ts'

/** Characters shown of each text from where they differ. */
const shown = 80

/** Where a message differs from another. */
interface Difference {
  /** index of the text */
  readonly place: number
  /** from which byte of it on; undefined: nothing differs, or with nothing to compare */
  readonly byte?: number
  readonly here?: string
  readonly instead_of?: string
}

/** Says where the texts of a message first differ from those of the earlier one that has most in common with them. */
export function findDifference(texts: readonly string[], earlier: readonly (readonly string[])[]): Difference {
  const begins = (other: readonly string[], count: number): boolean =>
    texts.slice(0, count).every((text, i) => text === other[i])
  const place = texts.findIndex((_, i) => !earlier.some((other) => begins(other, i + 1)))
  if (place < 0) return { place: 0 }
  const text = texts[place]!
  const [nearest] = earlier
    .filter((other) => begins(other, place))
    .map((other) => ({ other: other[place] ?? '', length: commonStart([text, other[place] ?? '']) }))
    .toSorted((a, b) => b.length - a.length)
  if (!nearest) return { place }
  // not within a character of two units
  const start = nearest.length - Number(text.codePointAt(nearest.length - 1)! > 0xffff)
  const from = (whole: string): string => whole.slice(start, start + shown)
  return { place, byte: Buffer.byteLength(text.slice(0, start)), here: from(text), instead_of: from(nearest.other) }
}
