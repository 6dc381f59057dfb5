import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import { ProxyError } from '../common/errors.ts'

/** Headers that belong to one connection (RFC 9110 §7.6.1). */
const hopByHop = new Set([
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
])

/**
 * The headers sent to the engine: the client's headers, except hop-by-hop headers, `host`, `expect` and reprise's own.
 * Those in `added` replace the client's headers of the same name.
 */
export function requestHeaders(rawHeaders: readonly string[], added: Readonly<Record<string, string>>): string[] {
  const listed = new Set<string>()
  for (let i = 0; i < rawHeaders.length; i += 2) {
    if (rawHeaders[i]!.toLowerCase() === 'connection') addListed(rawHeaders[i + 1]!, listed)
  }
  const headers: string[] = []
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i]!.toLowerCase()
    const isOurs = name === 'host' || name === 'expect' || name.startsWith('x-reprise-')
    if (isOurs || hopByHop.has(name) || listed.has(name) || Object.hasOwn(added, name)) continue
    headers.push(rawHeaders[i]!, rawHeaders[i + 1]!)
  }
  for (const [name, value] of Object.entries(added)) headers.push(name, value)
  return headers
}

const hopHeader = 'x-reprise-hops'
/** A chain of more proxies than this is a circle. */
const mostHops = 4
/** Headers that a proxy refuses, and that no engine heeds. */
export const endlessHops: Readonly<Record<string, string>> = { [hopHeader]: String(mostHops) }

/**
 * Says where a request comes from: how many proxies it has passed through, and the peer's address behind those in
 * `x-forwarded-for`, if the request has that.
 */
export function forwardedFor({ headers, socket }: Pick<IncomingMessage, 'headers' | 'socket'>): Record<string, string> {
  const hops = { [hopHeader]: String(hopsOf(headers) + 1) }
  const told = headers['x-forwarded-for']
  const address = clientAddress(socket)
  return told === undefined || !address ? hops : { ...hops, 'x-forwarded-for': `${told}, ${address}` }
}

/** Throws `loop_detected` if a request has passed through too many proxies: an engine of one of them leads back to it. */
export function refuseLoop({ headers }: Pick<IncomingMessage, 'headers'>): void {
  if (hopsOf(headers) < mostHops) return
  const message = `The request has passed through ${mostHops} proxies: one of their engines is a proxy that leads back to it. Give each engine its own url.`
  throw new ProxyError('loop_detected', message)
}

function hopsOf(headers: IncomingHttpHeaders): number {
  const hops = Number(headers[hopHeader])
  return Number.isInteger(hops) && hops > 0 ? hops : 0
}

/** The engine's headers or trailers for the client, without hop-by-hop headers. */
export function withoutHopByHop(headers: IncomingHttpHeaders): Record<string, string | string[]> {
  const kept: Record<string, string | string[]> = {}
  const listed = new Set<string>()
  addListed(headers.connection ?? '', listed)
  for (const [name, value] of Object.entries(headers)) {
    if (value !== undefined && !hopByHop.has(name) && !listed.has(name)) kept[name] = value
  }
  return kept
}

/** Adds the headers that a Connection header declares hop-by-hop. */
function addListed(connection: string, listed: Set<string>): void {
  for (const name of connection.split(',')) listed.add(name.trim().toLowerCase())
}

/** The client's address as it is logged; undefined if the connection has ended. */
export function clientAddress(socket: Pick<Socket, 'remoteAddress'> | null | undefined): string | undefined {
  return socket?.remoteAddress?.replace(/^::ffff:/, '')
}
