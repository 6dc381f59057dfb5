import { Pool } from 'undici'
import { residentBytes } from './process-usage.ts'
import { createBodies, createChance } from './rag-bodies.ts'
import { runClosedLoop } from './send-load.ts'
import { startChildServer } from './start-child-server.ts'
import { startReprise } from './start-sides.ts'

/** How much memory the proxy holds after `requests` requests. */
export interface SoakFigures {
  readonly requests: number
  readonly perSecond: number
  /** the smallest and largest sample in this part of the run, in bytes */
  readonly least: number
  readonly most: number
}

const parts = 20
const concurrency = 8
const samplesEvery = 250

/** Sends requests, no two alike, and watches memory: most are of 1 KB, a tenth of 24 KB and a fiftieth of 240 KB. */
export async function* benchSoak(requests = 200_000): AsyncGenerator<SoakFigures> {
  const engine = await startChildServer(['--import', 'tsx', 'e2e/bench/instant-engine-double.ts'])
  const reprise = await startReprise(engine.url)
  const pool = new Pool(reprise.url)
  const nextBody = createMix()
  try {
    for (let part = 1; part <= parts; part++) {
      const samples: number[] = []
      const sampler = setInterval(() => samples.push(residentBytes(reprise.pid) ?? Number.NaN), samplesEvery)
      const begun = performance.now()
      const sent = await runClosedLoop(pool, nextBody, concurrency, (count) => count >= requests / parts)
      const perSecond = (sent * 1_000) / (performance.now() - begun)
      clearInterval(sampler)
      samples.push(residentBytes(reprise.pid) ?? Number.NaN)
      const [least, most] = [Math.min(...samples), Math.max(...samples)]
      yield { requests: (requests / parts) * part, perSecond, least, most }
    }
  } finally {
    await pool.destroy()
    reprise.stop()
    engine.stop()
  }
}

function createMix(): () => Buffer {
  const chance = createChance(4)
  const plain = createBodies({ bytes: 1_000, blocks: 0 }, 4)
  const small = createBodies({ bytes: 1_000, blocks: 3 }, 5)
  const medium = createBodies({ bytes: 24_000, blocks: 15 }, 6)
  const large = createBodies({ bytes: 240_000, blocks: 15 }, 7)
  return () => {
    const luck = chance(100)
    if (luck < 2) return large()
    if (luck < 12) return medium()
    return luck < 56 ? small() : plain()
  }
}
