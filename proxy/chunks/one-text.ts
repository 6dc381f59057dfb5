import type { ChunkTable } from './chunk-table.ts'

/** Chunks that stand at one place: the same text, known from several sides. */
interface Place {
  readonly chunks: readonly number[]
}

/** Of chunks that were learned at the same time as others, so many places can be wrong. */
const unsurePlaces = 64
/** The seam of two batches that were learned at the same time may be so far apart. */
const unsureSeam = 4_096
/** Messages that were embedded one by one as memories: what answers them is not embedded. */
const alonePlaces = 8

/** Whether one chunk may go on where the other ends: it was given right behind it. */
export function mayGoOn(table: ChunkTable, before: Place, behind: Place): boolean {
  return before.chunks.some((from) =>
    behind.chunks.some((to) => {
      const given = table.orderOf(from, to)
      if (!given) return false
      const { places, isSeam, areAlone, isUnsure } = given
      if (places === 1) return true
      if (areAlone && places > 0 && places <= alonePlaces) return true
      return isUnsure && isSeam && Math.abs(places) <= (areAlone ? unsurePlaces : unsureSeam)
    }),
  )
}

/**
 * Whether chunks that stand as they were given are documents all the same. All of them were in one list in another order
 * before; or they are two among others, and each was seen without the other.
 */
export function wereApart(table: ChunkTable, group: readonly Place[], runLength: number): boolean {
  const lists = group.map(
    ({ chunks }) => new Set(chunks.map((chunk) => table.listOf(chunk)).filter((list) => list > 0)),
  )
  if (lists.some(({ size }) => size === 0)) return false
  if (group.length === 2 && runLength > 2) return true
  return [...lists[0]!].some((list) => lists.every((own) => own.has(list)))
}
