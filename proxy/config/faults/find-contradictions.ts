import { adapterFor } from '#engine-adapters/adapter-for.ts'
import { engineKinds } from '#engine-adapters/engine-adapter.ts'
import { readPeers } from '../../access/tenancy.ts'
import { readOptions } from '../../common/request-options.ts'
import { readTemplate } from '../../templates/cut/read-template.ts'
import type { EngineSettings, TlsFiles, WrittenConfig } from '../config.ts'
import { isHttpUrl, queryFault, readListenAddress } from '../read-arguments.ts'
import { readRedisUrl } from '../read-redis-url.ts'
import type { SettingFault, SettingPath } from './check-settings.ts'

/** Finds what no schema can express: settings that contradict each other, and texts that cannot be parsed. */
export function findContradictions(settings: WrittenConfig): SettingFault[] {
  const faults: SettingFault[] = []
  const add = (path: SettingPath, reason: string): unknown => faults.push({ path, reason })
  const tryTo = (path: SettingPath, read: () => unknown): void => {
    try {
      read()
    } catch (error) {
      add(path, (error as Error).message)
    }
  }
  tryTo(['listen'], () => readListenAddress(settings.listen))
  tryTo(['admin', 'listen'], () => readListenAddress(settings.admin.listen))
  if (settings.listen === settings.admin.listen && !settings.listen.endsWith(':0'))
    add(['admin', 'listen'], 'is where applications connect (listen): give each an address of its own')
  tryTo(['options'], () => {
    const { set, order } = readOptions(settings.options)
    if (set !== undefined || order !== undefined)
      throw new Error('set and order say something of one request: its sender states them in x-reprise-options')
  })
  const { url, tls } = settings.redis
  for (const reason of pairFaults(tls)) add(['redis', 'tls'], reason)
  tryTo(['redis', 'url'], () => {
    if (url !== undefined && !readRedisUrl(url).isTls && tls) add(['redis', 'tls'], 'is for a Redis behind rediss://')
  })
  for (const reason of pairFaults(settings.tls)) add(['tls'], reason)
  if (settings.tls.client_ca !== undefined && settings.tls.cert === undefined)
    add(['tls', 'client_ca'], 'needs cert and key beside it')
  if (settings.tenants.from === 'header' && settings.tenants.trusted_peers.length === 0)
    add(['tenants', 'from'], 'needs trusted_peers: nobody else may name a tenant')
  for (const [i, peer] of settings.tenants.trusted_peers.entries())
    tryTo(['tenants', 'trusted_peers', i], () => readPeers([peer]))
  faults.push(
    ...engineFaults(settings.engines),
    ...templateFaults(settings.templates),
    ...frameFaults(settings.hygiene),
  )
  for (const [i, { name, models }] of settings.aliases.entries()) {
    if (settings.aliases.findIndex((other) => other.name === name) < i)
      add(['aliases', i, 'name'], `another alias is called '${name}' too: list all its models in one`)
    // one that stands for itself first is a model with fall-backs
    const isAlone = (one: { name: string; models: readonly string[] }): boolean => !one.models.includes(one.name)
    const other = settings.aliases.find((one) => isAlone(one) && models.includes(one.name))
    if (other) add(['aliases', i, 'models'], `'${other.name}' is an alias itself: name the models it stands for`)
  }
  return faults
}

/** Finds what contradicts itself in the settings of engines. */
export function engineFaults(engines: readonly EngineSettings[]): SettingFault[] {
  const ids = engines.map(({ id }) => id?.toLowerCase())
  const urls = engines.map(({ url }) => (URL.canParse(url) ? new URL(url).href : undefined))
  return engines.flatMap((engine, i) => {
    const faults = findEngineFaults(engine)
    const [id, url] = [ids[i], urls[i]]
    const before = ids.indexOf(id)
    if (id !== undefined && before < i)
      faults.push(['id', `another engine is called '${engines[before]!.id}' too: give each its own, whatever its case`])
    if (id === 'gone') faults.push(['id', `'gone' is reserved: metrics count engines that have left as replica="gone"`])
    if (url !== undefined && urls.indexOf(url) < i) faults.push(['url', 'is named twice: name each engine once'])
    for (const reason of pairFaults(engine.tls)) faults.push(['tls', reason])
    return faults.map(([key, reason]) => ({ path: ['engines', i, key], reason }))
  })
}

function pairFaults({ cert, key }: Pick<TlsFiles, 'cert' | 'key'> = {}): string[] {
  if ((cert === undefined) === (key === undefined)) return []
  return [`has ${cert === undefined ? 'a key and no cert' : 'a cert and no key'}: both are needed`]
}

function templateFaults(templates: WrittenConfig['templates']): SettingFault[] {
  return templates.flatMap((template, i) => {
    const { name } = template
    const path = ['templates', i]
    if (name !== undefined && templates.findIndex((other) => other.name === name) < i)
      return [{ path: [...path, 'name'], reason: `another template is called '${name}' too` }]
    const read = readTemplate(template)
    return 'head' in read ? [] : read.map(({ key, reason }) => ({ path: [...path, key], reason }))
  })
}

function frameFaults({ behind_history: frames }: WrittenConfig['hygiene']): SettingFault[] {
  return frames.flatMap((frame, i) => {
    const words = frame.split('{any}')
    if (words.length <= 2 && words.every((part) => part.trim() !== '')) return []
    return [{ path: ['hygiene', 'behind_history', i], reason: 'has to have words, and at most one {any} between them' }]
  })
}

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
  const { username, password } = new URL(url)
  if (username !== '' || password !== '')
    return 'holds a user or a password, which are not sent: leave them out, and give the key as api_key'
  // not of the URL, which leaves out the usual port
  const namesPort = discover === 'srv' && /^[^/]*\/\/[^/]*:\d+(\/|$)/.test(url)
  return queryFault(url) ?? (namesPort ? 'has a port, which SRV records name: leave it out' : undefined)
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
