import type { IncomingMessage } from 'node:http'
import { ProxyError } from './errors.ts'

/** Reads a request's whole body; rejects with `body_too_large` as soon as it is known to be over `limit` bytes. */
export function readBody(incoming: IncomingMessage, limit: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const tooLarge = (): void => {
      // what is still to come is read and dropped, so that the client gets to read the answer
      incoming.removeAllListeners('data')
      incoming.resume()
      const message = `The request body is larger than ${limit} bytes, which is the limit here.`
      reject(new ProxyError('body_too_large', message, { headers: { connection: 'close' } }))
    }
    if (Number(incoming.headers['content-length'] ?? 0) > limit) {
      tooLarge()
      return
    }
    const chunks: Buffer[] = []
    let size = 0
    incoming.on('data', (chunk: Buffer) => {
      size += chunk.length
      chunks.push(chunk)
      if (size > limit) tooLarge()
    })
    incoming.on('end', () => resolve(Buffer.concat(chunks)))
    incoming.on('error', reject)
    incoming.on('close', () => reject(new Error('the client left before its request was whole')))
  })
}
