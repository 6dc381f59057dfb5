import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { clientAddress } from './client-address.ts'

/** What was refused before it was a request that anybody could be told of. */
export interface UnreadRequest {
  readonly status: number
  /** Node's code, as in `HPE_INVALID_METHOD` */
  readonly reason: string
  /** the address that it came from */
  readonly client: string | undefined
}

const statuses: Readonly<Record<string, readonly [number, string]>> = {
  CONNECT: [405, 'Method Not Allowed'],
  ERR_HTTP_REQUEST_TIMEOUT: [408, 'Request Timeout'],
  HPE_CHUNK_EXTENSIONS_OVERFLOW: [413, 'Payload Too Large'],
  HPE_HEADER_OVERFLOW: [431, 'Request Header Fields Too Large'],
}
/** It is the client that has gone. */
const gone = new Set(['ECONNRESET', 'EPIPE', 'HPE_INVALID_EOF_STATE'])

/**
 * Answers what is no request, as Node does where nobody listens, and ends its connection. Returns what is to be told of
 * it; undefined where the client left, or `response`, the connection's last, is on its way: it has a record of its own.
 */
export function answerUnread(
  { code = 'unknown' }: NodeJS.ErrnoException,
  socket: Duplex,
  response: ServerResponse | undefined,
): UnreadRequest | undefined {
  const isAnswering = response !== undefined && !response.writableFinished
  const [status, phrase] = statuses[code] ?? [400, 'Bad Request']
  // behind a head, it would be taken for a piece of that answer
  const isHeard = socket.writable && !(isAnswering && response.headersSent)
  if (isHeard) socket.write(`HTTP/1.1 ${status} ${phrase}\r\nconnection: close\r\ncontent-length: 0\r\n\r\n`)
  const connection = socket as Socket
  const client = clientAddress(connection)
  connection.on('error', () => {})
  connection.destroySoon()
  return isAnswering || gone.has(code) ? undefined : { status, reason: code, client }
}
