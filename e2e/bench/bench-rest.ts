import { setTimeout as pause } from 'node:timers/promises'
import { Pool } from 'undici'
import { printTable } from './print-table.ts'
import { cpuSeconds, residentBytes } from './process-usage.ts'
import { createBodies } from './rag-bodies.ts'
import { runClosedLoop, sendRequest } from './send-load.ts'
import { startChildServer } from './start-child-server.ts'
import { startReprise } from './start-sides.ts'

const restMilliseconds = 3_000
const requests = 5_000
const bodies = { bytes: 17_000, blocks: 15 }
/** The first requests, whose median is that of later ones. */
const first = 21

/** Prints what a proxy takes before the first request and after 5,000 of 17 KB, and how long until it serves. */
export async function printRest(): Promise<void> {
  const engine = await startChildServer(['--import', 'tsx', 'e2e/bench/instant-engine-double.ts'])
  const [direct, nextBody] = [new Pool(engine.url), createBodies(bodies)]
  // the client is compiled first
  await runClosedLoop(direct, nextBody, 1, (sent) => sent >= 500)
  const begun = performance.now()
  const reprise = await startReprise(engine.url)
  const [ready, cpu] = [performance.now() - begun, cpuSeconds(reprise.pid)]
  const pool = new Pool(reprise.url)
  try {
    await pause(restMilliseconds)
    const memory = (): string => `${((residentBytes(reprise.pid) ?? Number.NaN) / 2 ** 20).toFixed(0)} MB`
    const atRest = memory()
    const durations: number[] = []
    while (durations.length < first) {
      const sent = performance.now()
      await sendRequest(pool, nextBody())
      durations.push(performance.now() - sent)
    }
    const later = durations.toSorted((a, b) => a - b)[first >> 1]!
    await runClosedLoop(pool, nextBody, 8, (sent) => sent >= requests)
    printTable(
      'A proxy at rest, and after 5,000 requests of 17 KB',
      ['', ''],
      [
        ['memory at rest', atRest],
        ['memory after 5,000 requests', memory()],
        ['until it is ready / CPU', `${ready.toFixed(0)} ms / ${((cpu ?? Number.NaN) * 1_000).toFixed(0)} ms`],
        ['the first request / later ones', `${durations[0]!.toFixed(0)} ms / ${later.toFixed(0)} ms`],
      ],
    )
  } finally {
    await Promise.all([direct.destroy(), pool.destroy()])
    reprise.stop()
    engine.stop()
  }
}
