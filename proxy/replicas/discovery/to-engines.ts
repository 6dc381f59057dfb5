import { isIP } from 'node:net'
import type { FoundEngine } from '../../config/read-files.ts'
import type { EnginePlace } from './resolve-engine.ts'

/**
 * Names the places that a name leads to, in an order that does not depend on how it was resolved: each by its address, by
 * its pod, or by the first labels of its name, of which there are as many as it takes, and its port if need be. A place
 * that was `given` a name keeps it, as long as it is there.
 */
export function namePlaces(places: readonly EnginePlace[], given: PlaceNames = new Map()): PlaceNames {
  const each = new Map(places.map((place) => [keyOf(place), place]))
  const kept = new Map([...given].filter(([key]) => each.has(key)))
  const possible = [...each.values()].flatMap(namesOf).toSorted()
  const taken = new Set([...possible.filter((name, i) => name === possible[i + 1]), ...kept.values()])
  const named = [...each].map(
    ([key, place]) => [key, kept.get(key) ?? namesOf(place).find((name) => !taken.has(name))!] as const,
  )
  return new Map(named.toSorted(([a], [b]) => (a < b ? -1 : 1)))
}

/** What places are called, by host and port. */
export type PlaceNames = ReadonlyMap<string, string>

/** Returns an engine for each place that the name of `named` leads to, called by the names of `namePlaces`. */
export function toEngines(
  { engine, tls }: FoundEngine,
  places: readonly EnginePlace[],
  names: PlaceNames = namePlaces(places),
): FoundEngine[] {
  const { hostname, protocol } = new URL(engine.url)
  const each = new Map(places.map((place) => [keyOf(place), place]))
  return [...names].map(([key, name]) => {
    const { host, port } = each.get(key)!
    const url = new URL(engine.url)
    url.hostname = host
    url.port = port
    const at = (address: string | undefined): string | undefined => address?.replace(`//${hostname}:`, `//${host}:`)
    const { events, replay, discover: _, ...rest } = engine
    const id = `${engine.id}-${name}`
    return {
      engine: { ...rest, id, url: url.href.replace(/\/$/, ''), events: at(events), replay: at(replay) },
      // the certificate is for the name, not for an address
      tls: protocol === 'https:' && engine.discover !== 'srv' ? { serverName: hostname, ...tls } : tls,
    }
  })
}

function keyOf({ host, port }: EnginePlace): string {
  return `${host}:${port}`
}

/** What a place may be called, the best first. The last cannot be another's: names of hosts have no underscores. */
function namesOf({ host, port, name }: EnginePlace): string[] {
  const own = name ?? (host.startsWith('[') ? host.slice(1, -1).replaceAll(':', '-') : host)
  const labels = own === host && !isIP(own) ? own.split('.') : [own]
  const names = labels.map((_, i) => labels.slice(0, i + 1).join('.'))
  return [...names, ...names.map((label) => `${label}-${port}`), `${own}_${port}`]
}
