import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'

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

/** Appends the peer's address to `x-forwarded-for`. Returns no header if the request has none. */
export function forwardedFor({ headers, socket }: Pick<IncomingMessage, 'headers' | 'socket'>): Record<string, string> {
  const told = headers['x-forwarded-for']
  if (told === undefined || !socket.remoteAddress) return {}
  return { 'x-forwarded-for': `${told}, ${socket.remoteAddress.replace(/^::ffff:/, '')}` }
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
