import { adapterFor } from '#engine-adapters/adapter-for.ts'
import { engineKinds } from '#engine-adapters/engine-adapter.ts'
import type { EngineSettings } from '../config.ts'
import { hasQuery, isHttpUrl, queryFault } from '../read-arguments.ts'

/** Addresses that an engine can listen on, but that nobody can connect to from elsewhere. */
const anywhere = ['*', '0.0.0.0', '[::]']
/** The kinds of engines whose events can be followed, as they are written. */
const publishing = engineKinds.filter((kind) => adapterFor(kind).publishesEvents).map((kind) => `kind=${kind}`)
const hostPattern = /^(\[[0-9a-fA-F:.]+\]|[A-Za-z0-9][\w.-]*)$/

/** Finds what cannot be used in an engine's addresses and kind, each with the setting at fault. */
export function findEngineFaults(engine: EngineSettings): [key: string, reason: string][] {
  const { url, kind = 'openai', events, replay, tls } = engine
  const faults: [string, string][] = []
  const inUrl = urlFault(engine)
  if (inUrl !== undefined) faults.push(['url', inUrl])
  if (replay !== undefined && events === undefined)
    faults.push(['replay', 'needs `events` beside it: say where the engine publishes them'])
  for (const [key, place] of Object.entries({ events, replay })) {
    const reason = place === undefined ? undefined : placeFault(place, url)
    if (reason !== undefined) faults.push([key, reason])
  }
  if (events !== undefined && !adapterFor(kind).publishesEvents)
    faults.push(['events', `need ${publishing.join(' or ')}: say which of them the engine is`])
  if (tls && !url.startsWith('https:')) faults.push(['tls', 'needs a url that begins with https://'])
  return faults
}

function urlFault({ url, discover }: EngineSettings): string | undefined {
  if (!isHttpUrl(url)) return `'${url}' is not a URL: write http://HOST:PORT`
  if (holdsLogin(url))
    return 'holds a user or a password, which are not sent: leave them out, and give the key as api_key'
  if (hasQuery(url)) return queryFault
  // not of the URL, which leaves out the usual port
  const namesPort = discover === 'srv' && /^[^/]*\/\/[^/]*:\d+(\/|$)/.test(url)
  return namesPort ? 'has a port, which SRV records name: leave it out' : undefined
}

/** Finds what is wrong with an address: ZeroMQ throws for some of these, and never connects to the others. */
function placeFault(place: string, engineUrl: string): string | undefined {
  const [, host = '', port = ''] = /^tcp:\/\/(.*):(\d+)$/.exec(place) ?? []
  const name = isHttpUrl(engineUrl) ? new URL(engineUrl).hostname : 'HOST'
  const isPort = Number(port) >= 1 && Number(port) <= 65_535
  const example = `as in tcp://${name}:${isPort ? port : 5557}`
  if (anywhere.includes(host)) return `'${host}' is where the engine listens: write the host where it runs, ${example}`
  if (!hostPattern.test(host))
    return `'${host}' is neither a host name nor an address: write where the engine runs, ${example}`
  if (!isPort) return `${port} is not a port: write one from 1 to 65535, ${example}`
  return undefined
}

function holdsLogin(url: string): boolean {
  const { username, password } = new URL(url)
  return username !== '' || password !== ''
}
