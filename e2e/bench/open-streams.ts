import { setTimeout as delay } from 'node:timers/promises'
import type { Pool } from 'undici'

/** How many streams to open, and of what kind; `interval` is in milliseconds, 0: as fast as the engine writes. */
export interface StreamPlan {
  readonly streams: number
  readonly events: number
  readonly interval: number
}

/** What arrived. */
export interface StreamResult {
  readonly events: number
  /** chunks in which the events arrived; several events in one chunk cost less */
  readonly pieces: number
  /** the most streams open at once */
  readonly mostOpen: number
  readonly seconds: number
}

/** Connections opened per second: no faster than the server empties its accept queue. */
const opensPerSecond = 1_000

/** Opens streams and reads them all to their end. */
export async function openStreams(
  pool: Pool,
  { streams, events, interval }: StreamPlan,
  nextBody: () => Buffer,
): Promise<StreamResult> {
  const seen = { events: 0, pieces: 0, open: 0, mostOpen: 0 }
  const headers = {
    'content-type': 'application/json',
    'x-bench-events': String(events),
    'x-bench-interval': String(interval),
  }
  const read = async (): Promise<void> => {
    const response = await pool.request({ path: '/v1/chat/completions', method: 'POST', headers, body: nextBody() })
    seen.open += 1
    seen.mostOpen = Math.max(seen.mostOpen, seen.open)
    for await (const piece of response.body) {
      seen.pieces += 1
      seen.events += countEvents(piece)
    }
    seen.open -= 1
  }
  const begun = performance.now()
  const reads: Promise<void>[] = []
  for (let i = 0; i < streams; i++) {
    reads.push(read())
    if (i % 20 === 19) await delay(20_000 / opensPerSecond)
  }
  await Promise.all(reads)
  const { open: _open, ...result } = seen
  return { ...result, seconds: (performance.now() - begun) / 1_000 }
}

/** Counts events by line breaks: each ends with an empty line, and the engine's events contain no others. */
function countEvents(piece: Buffer): number {
  let lines = 0
  for (let at = piece.indexOf(10); at >= 0; at = piece.indexOf(10, at + 1)) lines += 1
  return lines / 2
}
