import { once } from 'node:events'
import { connect, type Socket } from 'node:net'

/** A connection on which a test writes and reads every byte itself. */
export interface RawClient {
  readonly socket: Socket
  /** all that has arrived so far */
  readonly received: string
  /** what had arrived when the connection ended, however it did */
  readonly ended: Promise<string>
  write(bytes: string | Buffer): void
  /** Resolves when `text` has arrived; rejects when the connection ends before. */
  until(text: string): Promise<void>
  /** Leaves without a goodbye. */
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

/** A POST request with a JSON body, byte for byte. */
export function rawPost(path: string, body: unknown, head: readonly string[] = []): string {
  const text = JSON.stringify(body)
  const lines = [`POST ${path} HTTP/1.1`, 'host: proxy', 'content-type: application/json', ...head]
  return `${lines.join('\r\n')}\r\ncontent-length: ${Buffer.byteLength(text)}\r\n\r\n${text}`
}
