import { benchCallbacks } from './bench-callbacks.ts'
import { benchKvEvents, benchKvRepair } from './bench-kv-events.ts'
import { printTable, report } from './print-table.ts'

const count = (figure: number): string => Math.round(figure).toLocaleString('en-US')
const us = (duration: number): string => `${duration.toFixed(1)} µs`
const ms = (duration: number): string => `${duration.toFixed(0)} ms`
const mark = (isReached: boolean): string => (isReached ? '' : ': **missed**')

const leastEvictions = 100_000
const leastBlocks = 200_000
const mostAdded = 2
const mostRepair = 2_000

/** Prints how fast engine reports are processed, and how soon lost ones are repaired. */
export async function printMirror(): Promise<void> {
  const callbacks = await benchCallbacks()
  report('  callbacks')
  const events = await benchKvEvents()
  report('  KV events')
  const repair = await benchKvRepair()
  const { evictionsPerSecond, cpuMicroseconds, pacedPerSecond, quietP99, busyP99, repairMilliseconds } = callbacks
  const added = busyP99 - quietP99
  const cpuPerSecond = cpuMicroseconds === undefined ? undefined : 1e6 / cpuMicroseconds
  printTable(
    'What engines report',
    ['', 'asked', 'reached'],
    [
      [
        'evictions a second, one after the other',
        `≥ ${count(leastEvictions)}`,
        `${count(evictionsPerSecond)}${mark(evictionsPerSecond >= leastEvictions)}`,
      ],
      ...(cpuMicroseconds === undefined || cpuPerSecond === undefined
        ? []
        : [
            [
              'CPU of the proxy for one, storing again included',
              `≤ ${us(1e6 / leastEvictions)}`,
              `${us(cpuMicroseconds)}${mark(cpuPerSecond >= leastEvictions)}`,
            ],
          ]),
      [
        `p99 added to 100 requests a second, beside ${count(pacedPerSecond)} evictions a second`,
        `≤ ${ms(mostAdded)}`,
        `${ms(added)} (${ms(quietP99)} → ${ms(busyP99)})${mark(added <= mostAdded)}`,
      ],
      [
        'from a gap to exact, by a snapshot of 50,000 requests',
        `≤ ${ms(mostRepair)}`,
        `${ms(repairMilliseconds)}${mark(repairMilliseconds <= mostRepair)}`,
      ],
      [
        'blocks of KV events a second, over ZeroMQ',
        `≥ ${count(leastBlocks)}`,
        `${count(events.blocksPerSecond)}${mark(events.blocksPerSecond >= leastBlocks)}`,
      ],
      [
        'CPU for one',
        `≤ ${us(1e6 / leastBlocks)}`,
        `${us(events.cpuMicroseconds)}${mark(events.cpuMicroseconds <= 1e6 / leastBlocks)}`,
      ],
      [
        `the longest a batch waited for one that was lost, of ${repair.gaps}, by a replay`,
        `≤ ${ms(mostRepair)}`,
        `${ms(repair.longestMilliseconds)}${mark(repair.longestMilliseconds <= mostRepair)}`,
      ],
    ],
  )
}
