import type { IncomingMessage } from 'node:http'
import { ProxyError } from '../common/errors.ts'
import type { BodyShare } from './bounds/body-memory.ts'
import { BodyPieces } from './bounds/body-pieces.ts'
import type { Leaving } from './bounds/client-left.ts'
import { allocateLarge } from './large-buffers.ts'

/** Read and discard up to this much of an unwanted body: a client cut off while sending may never see its answer. */
const mostDropped = 256 * 1024 * 1024
/** Copying more than this at once would hold up other requests. */
const copiedBytes = 1024 * 1024
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
  /** its share of the memory for all bodies; released if it cannot be read */
  readonly share?: BodyShare | undefined
  /** Waits until other requests have been served. */
  readonly turn?: (() => Promise<void>) | undefined
  /** aborts when the body is given up */
  readonly signal?: Leaving | undefined
}

/**
 * Reads a request's whole body. Rejects with `body_too_large` as soon as it is known to exceed `limit` bytes, and with
 * `queue_full` if the bodies of all requests together exceed their limit.
 */
export async function readBody(incoming: IncomingMessage, bounds: BodyBounds): Promise<Buffer> {
  const { share, turn } = bounds
  try {
    const received = await readChunks(incoming, bounds)
    return Buffer.isBuffer(received) ? received : await join(received, turn)
  } catch (error) {
    share?.release()
    throw error
  }
}

/** Reads the chunks of a body. A large body with a content length is returned as one buffer. */
function readChunks(incoming: IncomingMessage, { limit, share, signal }: BodyBounds): Promise<Buffer[] | Buffer> {
  return new Promise((resolve, reject) => {
    const refuse = (error: unknown): void => {
      incoming.off('data', keep)
      pieces.take()
      whole = undefined
      reject(error)
      void dropBody(incoming)
    }
    const tooLarge = (): ProxyError =>
      new ProxyError(
        'body_too_large',
        `The request body is larger than ${limit} bytes, which is the limit here (limits.body_bytes).`,
      )
    const pieces = new BodyPieces()
    const pace = new Pace(incoming)
    const length = Number(incoming.headers['content-length'] ?? 0)
    let whole: Buffer | undefined
    let size = 0
    const write = (chunk: Buffer): void => {
      if (whole) chunk.copy(whole, size - chunk.length)
      else pieces.push(chunk)
      if (whole || size < copiedBytes || length <= copiedBytes) return
      // a separate allocation is returned to the system at once; that of thousands of chunks is not
      whole = allocateLarge(length)
      let at = 0
      for (const one of pieces.take()) at += one.copy(whole, at)
    }
    const keep = (chunk: Buffer): void => {
      size += chunk.length
      if (size > limit) {
        refuse(tooLarge())
        return
      }
      try {
        share?.grow(chunk.length)
        write(chunk)
      } catch (error) {
        refuse(error)
        return
      }
      pace.note(chunk.length, length)
    }
    // unread: a client that waits for `100 Continue` is spared the body
    if (length > limit) {
      reject(tooLarge())
      return
    }
    const giveUp = (): void => refuse(signal?.reason)
    signal?.addEventListener('abort', giveUp)
    incoming.on('data', keep)
    incoming.on('end', () => {
      signal?.removeEventListener('abort', giveUp)
      resolve(whole ?? pieces.take())
      // the listeners stay as long as the request
      whole = undefined
    })
    incoming.on('error', reject)
    incoming.on('close', () => reject(new Error('the client left before its request was whole')))
  })
}

/** Pauses a large body between its parts, so that others are served. */
class Pace {
  readonly #incoming: IncomingMessage
  #size = 0
  #unpaced = 0

  constructor(incoming: IncomingMessage) {
    this.#incoming = incoming
  }

  /** Call with each chunk's length. `length`: of the whole body, if it is known. */
  note(bytes: number, length = 0): void {
    this.#size += bytes
    this.#unpaced += bytes
    if (this.#size <= unpacedBytes || this.#unpaced < pacedBytes) return
    this.#unpaced = 0
    this.#incoming.pause()
    const goOn = (): void => void this.#incoming.resume()
    if (Math.max(this.#size, length) > delayedBytes) setTimeout(goOn, pauseMilliseconds)
    else setImmediate(goOn)
  }
}

/** Joins the chunks and empties the array, so that copied chunks can be freed. */
async function join(chunks: Buffer[], turn: BodyBounds['turn']): Promise<Buffer> {
  const size = chunks.reduce((sum, { length }) => sum + length, 0)
  if (size <= copiedBytes || !turn) return Buffer.concat(chunks.splice(0))
  const whole = allocateLarge(size)
  let at = 0
  let copied = copiedBytes
  chunks.reverse()
  for (let chunk = chunks.pop(); chunk; chunk = chunks.pop()) {
    if (copied >= copiedBytes) {
      await turn()
      copied = 0
    }
    chunk.copy(whole, at)
    at += chunk.length
    copied += chunk.length
  }
  return whole
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
    const pace = new Pace(incoming)
    let dropped = 0
    incoming.on('data', (chunk: Buffer) => {
      dropped += chunk.length
      if (dropped > mostDropped) incoming.destroy()
      else pace.note(chunk.length)
    })
    incoming.on('end', resolve)
    incoming.on('error', () => resolve())
    incoming.on('close', resolve)
  })
}
