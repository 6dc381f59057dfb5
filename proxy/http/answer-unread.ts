import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { clientAddress } from './forwarded-headers.ts'
import { endBehindBody } from './read-body.ts'

/** Input that was refused before it became a request. */
export interface UnreadRequest {
  /** undefined: the connection was closed without an answer */
  readonly status: number | undefined
  /** Node's code, as in `HPE_INVALID_METHOD`, or a `HeadFault` */
  readonly reason: string
  readonly client: string | undefined
}

/** Why a request is refused by its head alone, with the status. */
const statusOfFault = {
  MISSING_HOST: 400,
  SEVERAL_HOSTS: 400,
  UNKNOWN_EXPECTATION: 417,
  UNKNOWN_TRANSFER_CODING: 501,
  'Invalid URL': 400,
  'Invalid host header': 400,
  'Backslash in request path': 400,
} as const

type HeadFault = keyof typeof statusOfFault

/**
 * Returns why we refuse a request that Node accepts. Returns undefined if we do not. HTTP/1.1 requires exactly one host
 * (RFC 9112 §3.2). An engine would not learn of a transfer coding such as gzip. No expectation other than
 * `100-continue` can be met.
 */
export function findHeadFault({ url, headers, rawHeaders, httpVersion }: IncomingMessage): HeadFault | undefined {
  const isCurrent = httpVersion === '1.1'
  if (headers.host === undefined && isCurrent) return 'MISSING_HOST'
  if (countHosts(rawHeaders) > 1) return 'SEVERAL_HOSTS'
  const coding = headers['transfer-encoding'] ?? 'chunked'
  if (coding.trim().toLowerCase() !== 'chunked') return 'UNKNOWN_TRANSFER_CODING'
  const expected = headers.expect ?? '100-continue'
  if (isCurrent && !/(?:^|\W)100-continue(?:$|\W)/i.test(expected)) return 'UNKNOWN_EXPECTATION'
  return findTargetFault(headers.host || 'localhost', url!)
}

/** A name or an IPv4 address, maybe with a port of four digits or more. */
const PLAIN_HOST = /^[a-z0-9._-]+(?::(?:[1-5]\d{3,4}|[6-9]\d{3}))?$/
const PLAIN_TARGET = /^\/[!#$&-;=?-[\]_a-z~]*$/

/** Returns what is wrong with the address that a host and a target make; both must be read by all alike. */
function findTargetFault(host: string, target: string): HeadFault | undefined {
  if (PLAIN_HOST.test(host) && PLAIN_TARGET.test(target)) return undefined
  const [path = ''] = target.split('?', 1)
  if (path.includes('\\')) return 'Backslash in request path'
  const address = `http://${host}${target}`
  if (!target.startsWith('/') || !URL.canParse(address)) return 'Invalid URL'
  const { hostname } = new URL(address)
  const isHost = hostname.length === host.length || hostname === host.replace(/:\d+$/, '').toLowerCase()
  return PLAIN_HOST.test(host) || isHost ? undefined : 'Invalid host header'
}

function countHosts(rawHeaders: readonly string[]): number {
  let hosts = 0
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i]!
    if (name.length === 4 && name.toLowerCase() === 'host') hosts += 1
  }
  return hosts
}

const statuses: Readonly<Record<string, readonly [number, string]>> = {
  CONNECT: [405, 'Method Not Allowed'],
  ERR_HTTP_REQUEST_TIMEOUT: [408, 'Request Timeout'],
  HPE_CHUNK_EXTENSIONS_OVERFLOW: [413, 'Payload Too Large'],
  HPE_HEADER_OVERFLOW: [431, 'Request Header Fields Too Large'],
}
/** Error codes that mean the client has gone. */
const gone = new Set(['ECONNRESET', 'EPIPE', 'HPE_INVALID_EOF_STATE'])

/** How requests were refused whose body turned out not to be valid HTTP, by their responses. */
export const brokenOff: WeakMap<ServerResponse, UnreadRequest> = new WeakMap()

/**
 * Answers input that is not a valid request, as Node does by default, and closes its connection. Returns what to log;
 * undefined if the client left, or if `response`, the connection's last, is unfinished and so gets its own record.
 */
export function answerUnread(
  { code = 'unknown' }: NodeJS.ErrnoException,
  socket: Duplex,
  response: ServerResponse | undefined,
): UnreadRequest | undefined {
  const isAnswering = response !== undefined && !response.writableFinished
  const [status, phrase] = statuses[code] ?? [400, 'Bad Request']
  // after a head has been sent, the client would read this as part of that answer
  const isHeard = socket.writable && !(isAnswering && response.headersSent)
  if (isHeard) socket.write(`HTTP/1.1 ${status} ${phrase}\r\nconnection: close\r\ncontent-length: 0\r\n\r\n`)
  const connection = socket as Socket
  const client = clientAddress(connection)
  connection.on('error', () => {})
  connection.destroySoon()
  if (gone.has(code)) return undefined
  const unread = { status, reason: code, client }
  if (!isAnswering) return unread
  if (isHeard) brokenOff.set(response, unread)
  return undefined
}

/** Refuses a request by its head, and closes its connection once its body has ended. Returns what to log. */
export function refuseUnread(incoming: IncomingMessage, outgoing: ServerResponse, fault: HeadFault): UnreadRequest {
  const status = statusOfFault[fault]
  outgoing.writeHead(status, { connection: 'close', 'content-length': 0 }).flushHeaders()
  void endBehindBody(incoming, outgoing, undefined)
  return { status, reason: fault, client: clientAddress(incoming.socket) }
}
