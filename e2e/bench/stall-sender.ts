import { Pool } from 'undici'
import { pathOf, stallShapes } from './stall-shapes.ts'

/*
 * The child process of `bench -- stall` that sends the large bodies, so that writing them delays no measurement. Its
 * parent sends it `{shape, bytes}` to prepare a body, then `{url, times}` to send it. It answers each message with one.
 */

/** The body to prepare. */
export interface BodyOrder {
  readonly shape: string
  readonly bytes: number
}

/** Where to send the prepared body, and how many times, one after another. */
export interface SendOrder {
  readonly url: string
  readonly times: number
}

/** The mean time from a request's first byte to the end of its answer, and why the last one was not rewritten. */
export interface SentReport {
  readonly milliseconds: number
  readonly skipped: string
}

let path = ''
let body: Buffer = Buffer.alloc(0)

process.on('message', (order: BodyOrder | SendOrder) => {
  if ('shape' in order) {
    path = pathOf(order.shape)
    body = stallShapes[order.shape]!(order.bytes)
    process.send!({})
  } else void send(order).then((report) => process.send!(report))
})

async function send({ url, times }: SendOrder): Promise<SentReport> {
  const pool = new Pool(url)
  const begun = performance.now()
  let skipped = ''
  for (let i = 0; i < times; i++) {
    const headers = { 'content-type': 'application/json' }
    const response = await pool.request({ path, method: 'POST', headers, body })
    await response.body.dump()
    skipped = String(response.headers['x-reprise-skipped'] ?? response.statusCode)
  }
  const milliseconds = (performance.now() - begun) / times
  await pool.destroy()
  return { milliseconds, skipped }
}
