import type { IncomingMessage } from 'node:http'
import { ProxyError } from './errors.ts'

/** So much of what nobody wants is still read: a client that is cut off while it sends may never see its answer. */
const mostDropped = 256 * 1024 * 1024

/** Reads a request's whole body; rejects with `body_too_large` as soon as it is known to be over `limit` bytes. */
export function readBody(incoming: IncomingMessage, limit: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const refuse = (): void => {
      incoming.off('data', keep)
      chunks.length = 0
      reject(
        new ProxyError('body_too_large', `The request body is larger than ${limit} bytes, which is the limit here.`),
      )
      void dropBody(incoming)
    }
    const chunks: Buffer[] = []
    let size = 0
    const keep = (chunk: Buffer): void => {
      size += chunk.length
      chunks.push(chunk)
      if (size > limit) refuse()
    }
    if (Number(incoming.headers['content-length'] ?? 0) > limit) {
      refuse()
      return
    }
    incoming.on('data', keep)
    incoming.on('end', () => resolve(Buffer.concat(chunks)))
    incoming.on('error', reject)
    incoming.on('close', () => reject(new Error('the client left before its request was whole')))
  })
}

/**
 * Reads and forgets what is still to come of a request; resolves when it is over, whole or not. An answer that ends the
 * connection must not end before. A client that sends on and on is cut off.
 */
export function dropBody(incoming: IncomingMessage): Promise<void> {
  return new Promise((resolve) => {
    if (incoming.complete || incoming.destroyed) {
      incoming.resume()
      resolve()
      return
    }
    let dropped = 0
    incoming.on('data', (chunk: Buffer) => {
      dropped += chunk.length
      if (dropped > mostDropped) incoming.destroy()
    })
    incoming.on('end', resolve)
    incoming.on('error', () => resolve())
    incoming.on('close', resolve)
  })
}
