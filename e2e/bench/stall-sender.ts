import { Pool } from 'undici'
import { pathOf, stallShapes } from './stall-shapes.ts'

/*
 * The child of `bench -- stall` that sends the large bodies, so that writing them holds up no measurement. Its parent
 * says which body, and then to whom: `{shape, bytes}` and `{url, times}`. It answers each line with one.
 */

/** The body that is sent next. */
export interface BodyOrder {
  readonly shape: string
  readonly bytes: number
}

/** Where it is sent, one behind the other. */
export interface SendOrder {
  readonly url: string
  readonly times: number
}

/** How long one took, from its first byte to the end of its answer, and why it was not rewritten. */
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
