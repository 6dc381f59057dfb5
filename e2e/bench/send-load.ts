import { setTimeout as delay } from 'node:timers/promises'
import type { Pool } from 'undici'

const path = '/v1/chat/completions'

/** Sends one request and reads its answer to the end. */
export async function sendRequest(pool: Pool, body: Buffer): Promise<void> {
  const headers = { 'content-type': 'application/json' }
  const response = await pool.request({ path, method: 'POST', headers, body })
  for await (const _chunk of response.body) {
    // read to the end
  }
  if (response.statusCode !== 200) throw new Error(`status ${response.statusCode}`)
}

/**
 * Sends at a constant rate, however long answers take. Durations, in milliseconds, count from the moment a request was
 * due, so that time spent waiting behind a slow request is included.
 */
export async function runOpenLoop(
  pool: Pool,
  nextBody: () => Buffer,
  { perSecond, seconds }: { perSecond: number; seconds: number },
): Promise<number[]> {
  const durations: number[] = []
  const answers: Promise<void>[] = []
  const begun = performance.now() + 10
  for (let i = 0; i < perSecond * seconds; i++) {
    const body = nextBody()
    const due = begun + (i * 1_000) / perSecond
    await waitUntil(due)
    answers.push(sendRequest(pool, body).then(() => void durations.push(performance.now() - due)))
  }
  await Promise.all(answers)
  return durations
}

/** Keeps `concurrency` requests in flight until `isOver(sent)`. Returns the number of requests sent. */
export async function runClosedLoop(
  pool: Pool,
  nextBody: () => Buffer,
  concurrency: number,
  isOver: (sent: number) => boolean,
): Promise<number> {
  let sent = 0
  const client = async (): Promise<void> => {
    while (!isOver(sent)) {
      sent += 1
      await sendRequest(pool, nextBody())
    }
  }
  await Promise.all(Array.from({ length: concurrency }, client))
  return sent
}

/** Timers can be a millisecond late, which is more than what is measured, so the last two milliseconds are polled. */
async function waitUntil(due: number): Promise<void> {
  const coarse = due - performance.now() - 2
  if (coarse > 0) await delay(coarse)
  while (performance.now() < due) await new Promise((resolve) => setImmediate(resolve))
}
