import { isIP } from 'node:net'
import type { FoundEngine } from '../config/read-files.ts'
import type { EnginePlace } from './resolve-engine.ts'

/**
 * Returns an engine for each place that the name of `named` leads to, in an order that does not depend on how the name
 * was resolved. Each is called by its address, by its pod, or by the first labels of its name, of which there are as many
 * as it takes, and its port if need be: `ID-10.0.0.7`, `ID-vllm-0`, `ID-vllm-0.zone-a`.
 */
export function toEngines({ engine, tls }: FoundEngine, places: readonly EnginePlace[]): FoundEngine[] {
  const { hostname, protocol } = new URL(engine.url)
  const each = new Map(places.map((place) => [`${place.host}:${place.port}`, place]))
  const names = [...each.values()].flatMap(namesOf).toSorted()
  const shared = new Set(names.filter((name, i) => name === names[i + 1]))
  return [...each].sort(byName).map(([, place]) => {
    const { host, port } = place
    const url = new URL(engine.url)
    url.hostname = host
    url.port = port
    const id = `${engine.id}-${namesOf(place).find((name) => !shared.has(name))}`
    const at = (address: string | undefined): string | undefined => address?.replace(`//${hostname}:`, `//${host}:`)
    const { eventsUrl, replayUrl, discover: _, ...rest } = engine
    return {
      engine: { ...rest, id, url: url.href.replace(/\/$/, ''), eventsUrl: at(eventsUrl), replayUrl: at(replayUrl) },
      // the certificate is for the name, not for an address
      tls: protocol === 'https:' && engine.discover !== 'srv' ? { serverName: hostname, ...tls } : tls,
    }
  })
}

/** What a place may be called, the best first. The last cannot be another's: names of hosts have no underscores. */
function namesOf({ host, port, name }: EnginePlace): string[] {
  const own = name ?? (host.startsWith('[') ? host.slice(1, -1).replaceAll(':', '-') : host)
  const labels = own === host && !isIP(own) ? own.split('.') : [own]
  const names = labels.map((_, i) => labels.slice(0, i + 1).join('.'))
  return [...names, ...names.map((label) => `${label}-${port}`), `${own}_${port}`]
}

function byName([a]: readonly [string, unknown], [b]: readonly [string, unknown]): number {
  return a < b ? -1 : 1
}
