import { benchMirrorLatency, benchMirrorLoad, benchMirrorMemory } from './bench-mirror-redis.ts'
import { printTable, report, say } from './print-table.ts'

const requests = Number(process.env.REPRISE_BENCH_MIRRORED ?? 1_000_000)
const asked = { bytes: 600, seconds: 20, blockedMilliseconds: 50, addedMilliseconds: 5 }

/** Prints what a mirror of a million requests costs: in memory, and shared through a real redis-server. */
export async function printMirrorRedis(): Promise<void> {
  const rows: string[][] = []
  for (const [sharing, words] of [
    ['zipf', 'drawn by a Zipf distribution from a tenth as many blocks as requests'],
    ['apart', 'no two prompts share a block'],
  ] as const) {
    // prompts that share nothing take some gigabytes, so fewer of them are measured
    const memory = await benchMirrorMemory(sharing === 'zipf' ? requests : requests / 5, sharing)
    const bytes = memory.bytes / memory.requests
    const estimate = `its own estimate ${(memory.estimate / memory.requests).toFixed(0)}`
    const wanted = sharing === 'zipf' ? `≤ ${asked.bytes}` : '-'
    rows.push([
      `bytes a mirrored request of 15 blocks, ${memory.requests}: ${words} (${estimate})`,
      wanted,
      bytes.toFixed(0) + missed(sharing === 'zipf' && bytes > asked.bytes),
    ])
    report(`  memory, ${sharing}`)
  }
  const load = await benchMirrorLoad(requests)
  rows.push([
    `seconds to load ${load.requests} requests from Redis`,
    `≤ ${asked.seconds}`,
    load.seconds.toFixed(1) + missed(load.seconds > asked.seconds),
  ])
  const { blockedMilliseconds } = load
  rows.push([
    'longest that the event loop stood still meanwhile, ms',
    `≤ ${asked.blockedMilliseconds}`,
    blockedMilliseconds.toFixed(0) + missed(blockedMilliseconds > asked.blockedMilliseconds),
  ])
  report('  load')
  const { without, up, stopped } = await benchMirrorLatency()
  for (const [name, { p99 }] of [
    ['answers', up],
    ['is stopped for 5 s', stopped],
  ] as const) {
    const added = p99 - without.p99
    rows.push([
      `added p99 of a request while Redis ${name}, ms (${without.p99.toFixed(1)} without)`,
      `≤ ${asked.addedMilliseconds}`,
      added.toFixed(1) + missed(added > asked.addedMilliseconds),
    ])
  }
  printTable('The mirror of a replica, shared through Redis', ['', 'asked', 'reached'], rows)
  say(
    'Memory counts the heap and typed arrays, with the index that contexts are ordered by and the history it judges by.\n',
  )
}

function missed(isMissed: boolean): string {
  return isMissed ? ': **missed**' : ''
}
