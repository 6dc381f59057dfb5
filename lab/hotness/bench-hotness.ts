import { HotnessFilter } from './hotness-filter.ts'
import { hashText } from './murmur-hash.ts'

const count = 1_000_000

/** What the hotness filter costs, in nanoseconds per operation, and how full it gets. */
export interface HotnessFigures {
  readonly insert: number
  readonly touch: number
  readonly miss: number
  /** to hash a block id, which is done once for all these operations */
  readonly hash: number
  readonly bytes: number
  readonly load: number
  /** the longest insertion that doubled the filter, in milliseconds */
  readonly doubling: number
  /** the lowest load at which it doubled */
  readonly leastLoad: number
  /** the share of ids that were never noted but are found */
  readonly falsePositives: number
  readonly falsePositivesGrown: number
}

/** Fills one filter that has room for a million, and one that grows from its default size. */
export function benchHotness(): HotnessFigures {
  const ids = (name: string): string[] => Array.from({ length: count }, (_, i) => `${name}${i}`.padStart(22, 'x'))
  const [own, others] = [ids('a'), ids('b')]
  let hashes = new Uint32Array(count)
  const hash = timePerItem(() => {
    hashes = Uint32Array.from(own, (id) => hashText(id))
  })
  const strange = Uint32Array.from(others, (id) => hashText(id))
  // in a different order than they were inserted
  const shuffled = hashes.map((_, i) => hashes[(i * 7_919) % count]!)
  let filter = new HotnessFilter()
  const insert = timePerItem(() => {
    filter = new HotnessFilter({ capacity: count })
    for (const one of hashes) filter.note(one)
  })
  const { bytes, load } = filter
  const touch = timePerItem(() => {
    for (const one of shuffled) filter.note(one)
  })
  let found = 0
  const miss = timePerItem(() => {
    found = 0
    for (const one of strange) if (filter.frequencyOf(one) > 0) found += 1
  })
  const grown = growFrom(hashes)
  const falsePositivesGrown = strange.filter((one) => grown.filter.frequencyOf(one) > 0).length / count
  const { doubling, leastLoad } = grown
  return {
    insert,
    touch,
    miss,
    hash,
    bytes,
    load,
    doubling,
    leastLoad,
    falsePositives: found / count,
    falsePositivesGrown,
  }
}

function growFrom(hashes: Uint32Array): { filter: HotnessFilter; doubling: number; leastLoad: number } {
  const filter = new HotnessFilter()
  let [doubling, leastLoad] = [0, 1]
  for (const one of hashes) {
    const { load, bytes } = filter
    const begin = performance.now()
    filter.note(one)
    if (filter.bytes === bytes) continue
    doubling = Math.max(doubling, performance.now() - begin)
    leastLoad = Math.min(leastLoad, load)
  }
  return { filter, doubling, leastLoad }
}

/** CPU time per item, in nanoseconds: the shortest of four runs, since other programs may use the machine. */
function timePerItem(run: () => void): number {
  const times = Array.from({ length: 4 }, () => {
    const begin = process.cpuUsage()
    run()
    const { user, system } = process.cpuUsage(begin)
    return (user + system) * 1e3
  })
  return Math.min(...times) / count
}
