import { benchLatency, rate } from './bench-latency.ts'
import { benchSoak } from './bench-soak.ts'
import { benchStreams, streamPlans } from './bench-streams.ts'
import { benchThroughput } from './bench-throughput.ts'
import { printTable, report, say } from './print-table.ts'
import type { BodyShape } from './rag-bodies.ts'
import { type Sides, startSides } from './start-sides.ts'

const bodyShapes: readonly BodyShape[] = [
  { bytes: 1_000, blocks: 0 },
  { bytes: 1_000, blocks: 3 },
  { bytes: 240_000, blocks: 15 },
]

const ms = (duration: number): string => `${duration.toFixed(2)} ms`
const us = (duration: number): string => `${duration.toFixed(1)} µs`
const megabytes = (bytes: number): string => `${(bytes / 1e6).toFixed(0)} MB`
const maybe = (figure: number | undefined, show: (figure: number) => string): string =>
  figure === undefined ? '-' : show(figure)

/** Prints what the proxy adds to a request, compared with the direct path, nginx and a minimal proxy in Node. */
export async function printOverhead(): Promise<void> {
  const sides = await startSides()
  try {
    await printLatency(sides)
    await printThroughput(sides)
    await printStreams(sides)
  } finally {
    await sides.stop()
  }
}

async function printLatency(sides: Sides): Promise<void> {
  const rows: string[][] = []
  for (const shape of bodyShapes) {
    for (const { side, latency, added, cpu } of await benchLatency(sides, shape)) {
      const figures = [ms(latency.p50), ms(latency.p99), maybe(added?.p50, ms), maybe(added?.p99, ms), maybe(cpu, ms)]
      rows.push([`${shape.bytes / 1000} KB, ${shape.blocks} blocks`, side, ...figures])
    }
    report(`  ${shape.bytes} bytes with ${shape.blocks} blocks`)
  }
  printTable(
    `One request to an engine that takes no time, ${rate} a second, from the moment it was due`,
    ['body', 'way', 'p50', 'p99', 'added p50', 'added p99', 'CPU of the proxy'],
    rows,
  )
}

async function printThroughput(sides: Sides): Promise<void> {
  const shape = bodyShapes.at(-1)!
  const figures = await benchThroughput(sides, shape)
  printTable(
    `Requests of ${shape.bytes / 1000} KB with ${shape.blocks} blocks, as many as the proxy takes${figures.every(({ isPinned }) => isPinned) ? ' on one core' : ' (not pinned to one core)'}`,
    ['way', 'requests a second', 'CPU of the proxy', 'requests a second of CPU'],
    figures.map(({ side, perSecond, cpu }) => [
      side,
      perSecond.toFixed(0),
      maybe(cpu, ms),
      maybe(cpu, (perRequest) => (1_000 / perRequest).toFixed(0)),
    ]),
  )
  report('  throughput')
}

async function printStreams(sides: Sides): Promise<void> {
  const rows: string[][] = []
  for (const plan of streamPlans) {
    for (const figures of await benchStreams(sides, plan)) {
      const { side, events, pieces, mostOpen, cpu, memoryBefore, memoryPeak } = figures
      const arrived = `${events} of ${plan.streams * plan.events}`
      const perPiece = (events / pieces).toFixed(2)
      const memory = [maybe(memoryBefore, megabytes), maybe(memoryPeak, megabytes)]
      rows.push([`${mostOpen}`, `${plan.interval} ms`, side, arrived, perPiece, maybe(cpu, us), ...memory])
    }
    report(`  ${plan.streams} streams`)
  }
  printTable(
    'Streams open at once, one event each interval',
    ['streams', 'interval', 'way', 'events', 'events a piece', 'CPU of the proxy an event', 'memory before', 'at most'],
    rows,
  )
}

/** Prints how much memory the proxy holds over 200,000 requests. */
export async function printSoak(): Promise<void> {
  const rows: string[][] = []
  for await (const { requests, perSecond, least, most } of benchSoak()) {
    rows.push([String(requests), perSecond.toFixed(0), megabytes(least), megabytes(most)])
    report(`  ${requests} requests: ${megabytes(most)}`)
  }
  printTable('Memory of the proxy, no two requests alike', ['requests', 'a second', 'at least', 'at most'], rows)
  say('Most requests are of 1 KB, a tenth of 24 KB and a fiftieth of 240 KB.\n')
}
