import type { IncomingMessage, ServerResponse } from 'node:http'
import { ProxyError } from '../common/errors.ts'
import { GatheredBytes } from '../common/gathered-bytes.ts'
import type { BodyShare } from './bounds/body-memory.ts'
import type { Leaving } from './bounds/client-left.ts'

/** Read and discard up to this much of an unwanted body: a client cut off while sending may never see its answer. */
const mostDropped = 256 * 1024 * 1024
/** How long a client may continue to send a discarded body once it has its answer. */
const longestMilliseconds = 10_000
/**
 * After this much of a body, other requests are served between its chunks. libuv reads up to 2 MB from a socket at a
 * time, and V8 marks part of its heap meanwhile, since bodies take memory outside it.
 */
const unpacedBytes = 256 * 1024
/** Others are served again after this many more bytes, not after each chunk: a chunk may be a single byte. */
const pacedBytes = 32 * 1024
/** A larger body waits this long between its chunks. An engine takes far longer to read such a prompt. */
const delayedBytes = 8 * 1024 * 1024
const pauseMilliseconds = 2

interface BodyBounds {
  /** in bytes */
  readonly limit: number
  /** no setting changes the limit */
  readonly isFixed?: boolean
  /** its share of the memory for all bodies; the caller releases it, also if it cannot be read */
  readonly share?: BodyShare | undefined
  /** aborts when the body is given up */
  readonly signal?: Leaving | undefined
}

/**
 * Reads a request's whole body. Rejects with `body_too_large` as soon as it is known to exceed `limit` bytes, and with
 * `queue_full` if the bodies of all requests together exceed their limit.
 */
export function readBody(incoming: IncomingMessage, bounds: BodyBounds): Promise<Buffer> {
  const { limit, share, signal } = bounds
  return new Promise((resolve, reject) => {
    const length = Number(incoming.headers['content-length'] ?? 0)
    // unread: a client that waits for `100 Continue` is spared the body
    if (length > limit) {
      reject(tooLarge(bounds))
      return
    }
    const gathered = new GatheredBytes()
    const pace = paceOf(incoming)
    const refuse = (error: unknown): void => {
      incoming.off('data', keep)
      gathered.take()
      reject(error)
      void dropBody(incoming)
    }
    const keep = (chunk: Buffer): void => {
      try {
        if (gathered.length + chunk.length > limit) throw tooLarge(bounds)
        share?.grow(chunk.length)
        gathered.add(chunk, length)
      } catch (error) {
        refuse(error)
        return
      }
      pace(chunk.length, length)
    }
    const giveUp = (): void => refuse(signal?.reason)
    signal?.addEventListener('abort', giveUp)
    incoming.on('data', keep)
    incoming.on('end', () => {
      signal?.removeEventListener('abort', giveUp)
      resolve(gathered.take())
    })
    incoming.on('error', reject)
    incoming.on('close', () => {
      if (!incoming.complete) reject(new Error('the client left before its request was whole'))
    })
  })
}

function tooLarge({ limit, isFixed }: BodyBounds): ProxyError {
  const setting = isFixed ? '' : ' (limits.body_bytes)'
  const message = `The request body is larger than ${limit} bytes, which is the limit here${setting}.`
  return new ProxyError('body_too_large', message)
}

/**
 * Pauses a large body between its parts, so that others are served: to be called with the length of each chunk, and that
 * of the whole body, if it is known.
 */
function paceOf(incoming: IncomingMessage): (bytes: number, length?: number) => void {
  let size = 0
  let unpaced = 0
  const goOn = (): void => void incoming.resume()
  return (bytes, length = 0) => {
    size += bytes
    unpaced += bytes
    if (size <= unpacedBytes || unpaced < pacedBytes) return
    unpaced = 0
    incoming.pause()
    if (Math.max(size, length) > delayedBytes) setTimeout(goOn, pauseMilliseconds)
    else setImmediate(goOn)
  }
}

/**
 * Reads and discards the rest of a request's body. Resolves when it has ended, complete or not. An answer that closes
 * the connection must not end before that. A client that sends more than `mostDropped` is cut off.
 */
export function dropBody(incoming: IncomingMessage): Promise<void> {
  return new Promise((resolve) => {
    if (incoming.complete || incoming.destroyed) {
      incoming.resume()
      resolve()
      return
    }
    const pace = paceOf(incoming)
    let dropped = 0
    incoming.on('data', (chunk: Buffer) => {
      dropped += chunk.length
      if (dropped > mostDropped) incoming.destroy()
      else pace(chunk.length)
    })
    incoming.on('end', resolve)
    incoming.on('error', () => resolve())
    incoming.on('close', resolve)
  })
}

/**
 * Answers a request whose body may still be arriving. The answer goes out at once and ends when the body has ended:
 * closing the connection earlier would reset it while the client is sending, and the client would never see the answer.
 * Waits for the body at most `milliseconds`. Resolves when the answer has ended.
 */
export async function endBehindBody(
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  body: Buffer | undefined,
  milliseconds: number = longestMilliseconds,
): Promise<void> {
  if (incoming.complete) {
    outgoing.end(body)
    incoming.resume()
    return
  }
  if (body) outgoing.write(body)
  const timer = setTimeout(() => outgoing.end(), milliseconds)
  const over = dropBody(incoming)
  // a body that was being piped to an engine is paused
  incoming.unpipe()
  incoming.resume()
  await over
  clearTimeout(timer)
  outgoing.end()
}

/** At least this much of a body must arrive in the time that is configured, unless less of it is left. */
const leastBytes = 16 * 1024
/** How often the body is checked in that time. */
const looks = 30

/**
 * Watches a request's body as it arrives, until its answer begins. Calls `onStall` with the error to answer if too
 * little of it came within `milliseconds`; 0: never. Time in which it is not read, because an engine does not take
 * more, does not count. Returns how to stop.
 */
export function watchBody(
  { incoming, outgoing }: { readonly incoming: IncomingMessage; readonly outgoing: ServerResponse },
  milliseconds: number,
  onStall: (error: ProxyError) => void,
): () => void {
  const { headers, socket } = incoming
  const hasBody = (headers['content-length'] ?? '0') !== '0' || headers['transfer-encoding'] !== undefined
  if (milliseconds === 0 || !hasBody) return () => {}
  let looked = 0
  let bytes = socket.bytesRead
  const look = (): void => {
    if (incoming.complete || incoming.destroyed || outgoing.headersSent) {
      clearInterval(timer)
      return
    }
    if (incoming.readableFlowing) looked += 1
    if (looked < looks) return
    if (socket.bytesRead - bytes < leastBytes) {
      clearInterval(timer)
      const message = `Less than ${leastBytes} bytes of the request body arrived in ${milliseconds / 1000} s, which is too slow here: send it again.`
      onStall(new ProxyError('body_too_slow', message, { headers: { connection: 'close' } }))
    }
    looked = 0
    bytes = socket.bytesRead
  }
  const timer = setInterval(look, milliseconds / looks).unref()
  return () => clearInterval(timer)
}
