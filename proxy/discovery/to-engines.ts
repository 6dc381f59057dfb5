import type { FoundEngine } from '../config/read-files.ts'
import type { EnginePlace } from './resolve-engine.ts'

/**
 * Returns an engine for each place that the name of `named` leads to, in an order that does not depend on how the name
 * was resolved. Each is called by its address, or by the first label of its name: `ID-10.0.0.7`, `ID-vllm-0`.
 */
export function toEngines({ engine, tls }: FoundEngine, places: readonly EnginePlace[]): FoundEngine[] {
  const { hostname, protocol } = new URL(engine.url)
  const taken = new Set<string>()
  return [...places].sort(byPlace).flatMap(({ host, port }) => {
    const url = new URL(engine.url)
    url.hostname = host
    url.port = port
    const label = labelOf(host)
    const id = [`${engine.id}-${label}`, `${engine.id}-${label}-${port}`].find((free) => !taken.has(free))
    // the same place twice
    if (id === undefined) return []
    taken.add(id)
    const at = (place: string | undefined): string | undefined => place?.replace(`//${hostname}:`, `//${host}:`)
    const { eventsUrl, replayUrl, discover: _, ...rest } = engine
    return [
      {
        engine: { ...rest, id, url: url.href.replace(/\/$/, ''), eventsUrl: at(eventsUrl), replayUrl: at(replayUrl) },
        // the certificate is for the name, not for an address
        tls: protocol === 'https:' && engine.discover === 'addresses' ? { serverName: hostname, ...tls } : tls,
      },
    ]
  })
}

function labelOf(host: string): string {
  if (host.startsWith('[')) return host.slice(1, -1).replaceAll(':', '-')
  return /^[\d.]+$/.test(host) ? host : host.split('.', 1)[0]!
}

function byPlace(a: EnginePlace, b: EnginePlace): number {
  const [one, other] = [a, b].map(({ host, port }) => `${host}:${port}`)
  return one! < other! ? -1 : 1
}
