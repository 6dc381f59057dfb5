import type { FoundEngine } from '../config/read-files.ts'
import type { EnginePlace } from './resolve-engine.ts'

/**
 * Returns an engine for each place that the name of `named` leads to, in an order that does not depend on how the name
 * was resolved. Each is called by its address, by the first label of its name, or by its pod: `ID-10.0.0.7`, `ID-vllm-0`.
 */
export function toEngines({ engine, tls }: FoundEngine, places: readonly EnginePlace[]): FoundEngine[] {
  const { hostname, protocol } = new URL(engine.url)
  const taken = new Set<string>()
  const each = new Map(places.map((place) => [`${place.host}:${place.port}`, place]))
  return [...each].sort(byName).map(([, { host, port, name }]) => {
    const url = new URL(engine.url)
    url.hostname = host
    url.port = port
    const label = name ?? labelOf(host)
    const id = `${engine.id}-${label}${taken.has(label) ? `-${port}` : ''}`
    taken.add(label)
    const at = (place: string | undefined): string | undefined => place?.replace(`//${hostname}:`, `//${host}:`)
    const { eventsUrl, replayUrl, discover: _, ...rest } = engine
    return {
      engine: { ...rest, id, url: url.href.replace(/\/$/, ''), eventsUrl: at(eventsUrl), replayUrl: at(replayUrl) },
      // the certificate is for the name, not for an address
      tls: protocol === 'https:' && engine.discover !== 'srv' ? { serverName: hostname, ...tls } : tls,
    }
  })
}

function labelOf(host: string): string {
  if (host.startsWith('[')) return host.slice(1, -1).replaceAll(':', '-')
  return /^[\d.]+$/.test(host) ? host : host.split('.', 1)[0]!
}

function byName([a]: readonly [string, unknown], [b]: readonly [string, unknown]): number {
  return a < b ? -1 : 1
}
