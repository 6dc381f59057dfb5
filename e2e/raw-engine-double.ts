import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'

/** How an engine double treats a connection: each callback may answer, reset or do nothing. */
export interface RawBehaviour {
  onConnection?(socket: Socket): void
  /** the head has arrived, but perhaps not the whole body */
  onHead?(socket: Socket, head: string): void
  onRequest?(socket: Socket, head: string, body: Buffer): void
}

/** An engine double for tests that choose every byte on the connection, valid or not. */
export interface RawEngineDouble {
  readonly url: string
  /** all connections opened to it, in order */
  readonly sockets: Socket[]
  /** the connections on which any part of a request arrived */
  readonly used: ReadonlySet<Socket>
  /** number of requests that arrived completely */
  readonly requestCount: number
  behave(behaviour: RawBehaviour): void
  close(): Promise<void>
}

/** Returns the bytes of a complete answer from an engine. */
export function rawAnswer(body: string | Buffer, head = 'content-type: application/json'): Buffer {
  const bytes = Buffer.from(body)
  return Buffer.concat([Buffer.from(`HTTP/1.1 200 OK\r\n${head}\r\ncontent-length: ${bytes.length}\r\n\r\n`), bytes])
}

export async function startRawEngineDouble(first: RawBehaviour = {}): Promise<RawEngineDouble> {
  const sockets: Socket[] = []
  const used = new Set<Socket>()
  let behaviour = first
  let requestCount = 0
  const server = createServer((socket) => {
    sockets.push(socket)
    // resets are expected
    socket.on('error', () => {})
    socket.once('data', () => used.add(socket))
    behaviour.onConnection?.(socket)
    const readNext = (buffered: Buffer): void => {
      readRequest(socket, buffered, {
        onHead: (head) => behaviour.onHead?.(socket, head),
        onRequest: (head, body, rest) => {
          // the proxy asks by itself, at times that no test can know; a client says who it is
          const isOfProxy = head.startsWith('GET /v1/models ') && !/^user-agent:/im.test(head)
          if (isOfProxy) socket.end('HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\nconnection: close\r\n\r\n')
          else {
            requestCount += 1
            behaviour.onRequest?.(socket, head, body)
          }
          readNext(rest)
        },
      })
    }
    readNext(Buffer.alloc(0))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    sockets,
    used,
    get requestCount() {
      return requestCount
    },
    behave: (next) => {
      behaviour = next
    },
    close: async () => {
      server.close()
      for (const socket of sockets) socket.destroy()
      await once(server, 'close')
    },
  }
}

interface RequestEvents {
  onHead(head: string): void
  onRequest(head: string, body: Buffer, rest: Buffer): void
}

/** Reads one request from a connection, by content-length or in chunks. */
function readRequest(socket: Socket, buffered: Buffer, { onHead, onRequest }: RequestEvents): void {
  let received = buffered
  let head: string | undefined
  const read = (chunk: Buffer): void => {
    received = received.length === 0 ? chunk : Buffer.concat([received, chunk])
    if (head === undefined) {
      const end = received.indexOf('\r\n\r\n')
      if (end < 0) return
      head = received.subarray(0, end).toString()
      received = received.subarray(end + 4)
      onHead(head)
    }
    const length = bodyLength(head, received)
    if (length === undefined || received.length < length) return
    socket.off('data', read)
    onRequest(head, received.subarray(0, length), received.subarray(length))
  }
  socket.on('data', read)
  if (buffered.length > 0) read(Buffer.alloc(0))
}

function bodyLength(head: string, received: Buffer): number | undefined {
  const declared = /^content-length: *(\d+)/im.exec(head)?.[1]
  if (declared !== undefined) return Number(declared)
  if (!/^transfer-encoding: *chunked/im.test(head)) return 0
  const end = received.indexOf('0\r\n\r\n')
  return end < 0 ? undefined : end + 5
}
