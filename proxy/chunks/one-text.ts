import type { GivenOrder } from './table/chunk-columns.ts'
import type { ChunkTable } from './table/chunk-table.ts'

/** The chunks at one place: the same text, known in several scopes. */
interface Place {
  readonly chunks: readonly number[]
}

/** By how many places the order of chunks can be wrong if others were learned at the same time. */
const unsurePlaces = 64
/** How far apart the two sides of a seam can be if both batches were learned at the same time. */
const unsureSeam = 4_096
/** How far apart messages can be that were embedded one by one as memories: what answers them is not embedded. */
const alonePlaces = 8

/** If a text was cut at its paragraphs, a rule between two chunks was itself given as a chunk. */
const ruledPlaces = 3

/** Whether one chunk may continue the other: it was given right after it, apart from what separates them. */
export function mayGoOn(table: ChunkTable, before: Place, behind: Place, isRuled = false): boolean {
  // between two candidates nothing shows a border
  const areCandidates = [before, behind].every(({ chunks }) => chunks.every((chunk) => !table.columns.isSure(chunk)))
  if (areCandidates) return true
  return before.chunks.some((from) => behind.chunks.some((to) => mayFollow(table.columns.orderOf(from, to), isRuled)))
}

function mayFollow(given: GivenOrder | undefined, isRuled: boolean): boolean {
  if (!given) return false
  const { places, isSeam, areAlone, isUnsure, isEitherWay } = given
  // a single text has one order
  if (isEitherWay) return false
  const most = areAlone ? alonePlaces : isRuled ? ruledPlaces : 1
  if (places > 0 && places <= most) return true
  return isUnsure && isSeam && Math.abs(places) <= (areAlone ? unsurePlaces : unsureSeam)
}

/**
 * Whether chunks in the order they were given in are separate documents all the same: either all of them were in one
 * list in another order before, or they are two among others and each was seen without the other. One request is not
 * enough for that: each has to be known from two, with different questions and among different neighbours.
 */
export function wereApart(table: ChunkTable, group: readonly Place[], runLength: number): boolean {
  if (!group.every(({ chunks }) => chunks.some((chunk) => table.columns.isApart(chunk)))) return false
  const lists = group.map(
    ({ chunks }) => new Set(chunks.map((chunk) => table.listOf(chunk)).filter((list) => list > 0)),
  )
  if (lists.some(({ size }) => size === 0)) return false
  if (group.length === 2 && runLength > 2) return true
  return [...lists[0]!].some((list) => lists.every((own) => own.has(list)))
}

/**
 * Whether chunks are one text although not each of them was given right after the one before it, because the text
 * repeats itself. This holds if most were, the stretches follow one another, and nothing from far away is among them.
 */
export function areMostlyInOrder(
  table: ChunkTable,
  run: readonly Place[],
  groups: readonly { readonly from: number; readonly to: number }[],
): boolean {
  if (2 * (run.length - groups.length) <= run.length - 1) return false
  const orders = run.map(({ chunks }) => table.columns.orderOf(run[0]!.chunks[0]!, chunks[0]!)?.places)
  if (orders.some((places) => places === undefined || Math.abs(places) > farPlaces + 4 * run.length)) return false
  const starts = groups.filter(({ from, to }) => to > from).map(({ from }) => orders[from]!)
  return starts.every((start, i) => i === 0 || start > starts[i - 1]!)
}

const farPlaces = 16
