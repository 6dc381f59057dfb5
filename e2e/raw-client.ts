import { once } from 'node:events'
import { connect, type Socket } from 'node:net'

/** A connection on which a test reads and writes raw bytes. */
export interface RawClient {
  readonly socket: Socket
  /** everything received so far */
  readonly received: string
  /** resolves with everything received when the connection ends, in whatever way */
  readonly ended: Promise<string>
  write(bytes: string | Buffer): void
  /** Resolves when `text` has arrived; rejects if the connection ends first. */
  until(text: string): Promise<void>
  /** Resets the connection. */
  reset(): void
}

export async function connectRaw(url: string): Promise<RawClient> {
  const { hostname, port } = new URL(url)
  const socket = connect({ host: hostname, port: Number(port), noDelay: true })
  const chunks: Buffer[] = []
  const received = (): string => Buffer.concat(chunks).toString('latin1')
  socket.on('data', (chunk) => chunks.push(chunk))
  socket.on('error', () => {})
  const ended = new Promise<string>((resolve) => {
    socket.on('close', () => resolve(received()))
  })
  await once(socket, 'connect')
  return {
    socket,
    get received() {
      return received()
    },
    ended,
    write: (bytes) => {
      socket.write(bytes)
    },
    until: (text) =>
      new Promise((resolve, reject) => {
        const check = (): void => {
          if (received().includes(text)) resolve()
        }
        socket.on('data', check)
        void ended.then(() => reject(new Error(`ended without '${text}': ${received()}`)))
        check()
      }),
    reset: () => {
      socket.resetAndDestroy()
    },
  }
}

/** Returns the bytes of a POST request with a JSON body. */
export function rawPost(path: string, body: unknown, head: readonly string[] = []): string {
  const text = JSON.stringify(body)
  const lines = [`POST ${path} HTTP/1.1`, 'host: proxy', 'content-type: application/json', ...head]
  return `${lines.join('\r\n')}\r\ncontent-length: ${Buffer.byteLength(text)}\r\n\r\n${text}`
}
