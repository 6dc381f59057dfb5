import { pathPrefixOf } from '#engine-adapters/engine-client.ts'

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
  try {
    return new URL(`${engine.protocol}//${authority}`).host === engine.host
  } catch {
    return false
  }
}
