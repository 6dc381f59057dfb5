import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import { pathPrefixOf } from '#engine-adapters/engine-client.ts'
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
  const names = rawHeaders.map((name, i) => (i % 2 === 0 ? name.toLowerCase() : ''))
  const listed = namedHopByHop(names.flatMap((name, i) => (name === 'connection' ? rawHeaders[i + 1]! : [])).join())
  const headers: string[] = []
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = names[i]!
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
  const listed = namedHopByHop(headers.connection)
  for (const [name, value] of Object.entries(headers)) {
    if (value !== undefined && !hopByHop.has(name) && !listed.has(name)) kept[name] = value
  }
  return kept
}

const none: ReadonlySet<string> = new Set()

/** Returns the headers that a Connection header declares hop-by-hop. */
function namedHopByHop(connection: string | undefined): ReadonlySet<string> {
  if (!connection || connection === 'keep-alive' || connection === 'close') return none
  return new Set(connection.split(',').map((name) => name.trim().toLowerCase()))
}

/** The client's address as it is logged; undefined if the connection has ended. */
export function clientAddress(socket: Pick<Socket, 'remoteAddress'> | null | undefined): string | undefined {
  return socket?.remoteAddress?.replace(/^::ffff:/, '')
}

/** Headers that name a resource of the engine. Engines fill them from the host they were called by. */
const located = ['location', 'content-location']

const ABSOLUTE = /^(?:https?:)?\/\/([^/?#\\]*)(.*)$/is

/**
 * Returns the headers of an engine's answer with URLs of the engine itself as path and query, without the path under
 * which the engine is configured: clients are not to learn the engine's address, and could not follow it.
 */
export function withRelativeLocations(
  headers: Record<string, string | string[]>,
  engineUrl: string,
): Record<string, string | string[]> {
  for (const name of located) {
    const value = headers[name]
    if (value === undefined) continue
    headers[name] = Array.isArray(value) ? value.map((one) => toRelative(one, engineUrl)) : toRelative(value, engineUrl)
  }
  return headers
}

function toRelative(location: string, engineUrl: string): string {
  const engine = new URL(engineUrl)
  const [, authority, rest = ''] = ABSOLUTE.exec(location) ?? []
  if (authority === undefined) return location.startsWith('/') ? withoutPrefix(location, engine) : location
  if (!isSameHost(authority, engine)) return location
  return withoutPrefix(/^[/\\]/.test(rest) ? rest : `/${rest}`, engine)
}

function withoutPrefix(path: string, engine: URL): string {
  const prefix = pathPrefixOf(engine)
  const isBelow = path.startsWith(prefix) && /^(?:[/?#]|$)/.test(path.slice(prefix.length))
  const own = prefix !== '' && isBelow ? path.slice(prefix.length).replace(/^(?!\/)/, '/') : path
  // two slashes at the beginning would name a host
  return /^[/\\]{2}/.test(own) ? `/.${own}` : own
}

/** Whether an authority is the engine's. The scheme does not count: an engine behind TLS may not know its own. */
function isSameHost(authority: string, engine: URL): boolean {
  const url = `${engine.protocol}//${authority}`
  return URL.canParse(url) && new URL(url).host === engine.host
}
