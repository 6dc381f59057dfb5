import { setTimeout as delay } from 'node:timers/promises'
import { EventSubscriber } from '#engine-adapters/kv-events/event-subscriber.ts'
import { ReportedCache } from '#engine-adapters/kv-events/reported-cache.ts'
import { startChildServer } from './start-child-server.ts'

/** How fast an engine's own events are read, decoded and applied. */
export interface KvEventFigures {
  readonly blocks: number
  /** blocks stored and removed */
  readonly blocksPerSecond: number
  /** CPU time per block, in microseconds */
  readonly cpuMicroseconds: number
}

/** How long a lost batch delays the batches after it. */
export interface KvRepairFigures {
  readonly gaps: number
  /** the longest time between two batches, in milliseconds; they are published every 20 ms */
  readonly longestMilliseconds: number
}

const batches = 20_000
const pacedBatches = 300
const lostEvery = 100

/** Reads what another process publishes as fast as it can, over ZeroMQ. */
export async function benchKvEvents(): Promise<KvEventFigures> {
  let begun = 0
  let cpu = process.cpuUsage()
  const blocks = await follow([batches, 0], {
    onFirst: () => {
      begun = performance.now()
      cpu = process.cpuUsage()
    },
  })
  const seconds = (performance.now() - begun) / 1000
  const { user, system } = process.cpuUsage(cpu)
  return { blocks, blocksPerSecond: blocks / seconds, cpuMicroseconds: (user + system) / blocks }
}

/** Loses a batch now and then; it must be replayed before later batches are applied. */
export async function benchKvRepair(): Promise<KvRepairFigures> {
  let last: number | undefined
  let longest = 0
  let gaps = 0
  await follow([pacedBatches, lostEvery], {
    onBatch: (subscriber) => {
      const now = performance.now()
      longest = Math.max(longest, now - (last ?? now))
      last = now
      gaps = subscriber.order.gaps
    },
  })
  return { gaps, longestMilliseconds: longest }
}

interface Watcher {
  /** called after the first batch */
  onFirst?(): void
  onBatch?(subscriber: EventSubscriber): void
}

/** Follows the given number of batches to their end. Returns how many blocks were reported after the first batch. */
async function follow([count, lost]: readonly [number, number], watcher: Watcher): Promise<number> {
  const publisher = ['--import', 'tsx', 'e2e/bench/kv-publisher-double.ts', String(count), String(lost)]
  const { url: eventsUrl, adminUrl: replayUrl, stop } = await startChildServer(publisher)
  const cache = new ReportedCache(() => {})
  let blocks = 0
  let seen = 0
  const subscriber = new EventSubscriber({
    eventsUrl,
    replayUrl,
    onBatch: ({ events }) => {
      for (const event of events) {
        cache.apply(event)
        if (seen > 0 && event.type !== 'cleared') blocks += event.hashes.length
      }
      if (seen === 0) watcher.onFirst?.()
      seen += 1
      watcher.onBatch?.(subscriber)
    },
    onLost: () => cache.reset(),
    onFault: (error) => {
      throw error
    },
  })
  while (seen < count) await delay(1)
  await subscriber.close()
  stop()
  return blocks
}
