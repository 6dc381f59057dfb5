import { adapterFor } from '#engine-adapters/adapter-for.ts'
import { usualLimits } from '../bounds/work-limits.ts'
import { defaultWording } from '../prompt/wording.ts'
import { readOptions } from '../request-options.ts'
import type { Mode } from '../settings.ts'
import type { Config, EngineConfig, ListenerTlsFiles, RecordConfig, RedisConfig } from './config.ts'
import { readListenAddress } from './read-arguments.ts'
import type { EngineSettings, Settings } from './settings.ts'

// nobody set these otherwise while they were settings
const groupWindowMilliseconds = 20
const keepAliveSeconds = 10
const checkSeconds = 5
const bodyStallSeconds = 30
const warmUpSeconds = 10
const waitingRequests = 10_000

/** Converts checked settings to the configuration that the proxy runs with. */
export function toConfig(settings: Settings): Config {
  const { chunks, hygiene, limits, options, health, keys } = settings
  return {
    listen: readListenAddress(settings.listen),
    tls: toTls(settings.tls),
    adminListen: readListenAddress(settings.admin.listen),
    // a token read from a file often ends in a newline, which no header can contain
    adminToken: settings.admin.token?.trim() || undefined,
    ...toFleet(settings),
    mode: toMode(settings),
    wording: { ...defaultWording, ...settings.annotations },
    options: readOptions(options),
    learn: settings.learn,
    templates: settings.templates,
    maxChunks: chunks.max_chunks,
    hygiene: { sortTools: hygiene.sort_tools, behindHistory: hygiene.behind_history },
    tenantsFrom: settings.tenants.from,
    trustedPeers: settings.tenants.trusted_peers,
    saltSecret: settings.tenants.salt_secret,
    keys: {
      file: keys.file,
      records: keys.entries,
      allowedPaths: keys.allow_engine_paths,
      forwardClientAuthorization: keys.forward_client_authorization,
    },
    bodyLimitBytes: limits.body_bytes,
    bodyStallSeconds,
    workLimits: usualLimits,
    groupWindowMilliseconds,
    inFlightPerReplica: limits.in_flight_per_replica,
    waitingRequests,
    maxWaitSeconds: limits.max_wait_seconds,
    warmUpSeconds: settings.warm_up ? warmUpSeconds : 0,
    pins: { tokens: settings.pins.tokens, tenantTokens: settings.pins.tokens / 2 },
    keepAliveSeconds,
    hasHeaders: settings.headers,
    drainDelaySeconds: settings.drain_delay_seconds,
    drainSeconds: settings.drain_seconds,
    readyz: health.readyz,
    health: { intervalSeconds: checkSeconds },
    redis: toRedis(settings.redis),
    record: toRecord(settings.record),
    logLevel: settings.logs.level,
    logPrompts: settings.logs.prompts,
  }
}

function toFleet({ engines, engine_api_key: engineApiKey, aliases }: Settings) {
  return {
    engines: toEngines(engines, engineApiKey),
    engineApiKey,
    aliases: new Map(aliases.map(({ name, models }) => [name, models])),
  }
}

/** Converts checked settings of engines; `sharedKey`: the key of those without one. */
export function toEngines(engines: readonly EngineSettings[], sharedKey: string | undefined): EngineConfig[] {
  const taken = new Set(engines.map(({ id }) => id))
  return engines.map(({ url, kind = 'openai', id, api_key = sharedKey, events, replay, models, discover, tls }) => ({
    url,
    kind,
    id: id ?? freeId(taken),
    apiKey: api_key,
    eventsUrl: events,
    replayUrl: replay,
    models,
    discover,
    tls,
  }))
}

/** The first of engine, engine-2, engine-3 … that no engine uses. */
function freeId(taken: Set<string | undefined>): string {
  let id = 'engine'
  for (let n = 2; taken.has(id); n++) id = `engine-${n}`
  taken.add(id)
  return id
}

function toTls({ cert, key, client_ca }: Settings['tls']): ListenerTlsFiles | undefined {
  return cert === undefined || key === undefined ? undefined : { cert, key, clientCa: client_ca }
}

function toRedis({ url, namespace, tls }: Settings['redis']): RedisConfig | undefined {
  if (url === undefined) return undefined
  return { url, namespace, tls }
}

function toRecord({ folder, text }: Settings['record']): RecordConfig | undefined {
  return folder === undefined ? undefined : { folder, hasText: text }
}

/** What may be moved without a setting: what can be proved on an engine, or else what a person confirms. */
function toMode({ mode, engines }: Settings): Mode {
  if (mode !== undefined) return typeof mode === 'boolean' ? toWord(mode) : mode
  return engines.length === 0 || engines.some(({ kind = 'openai' }) => adapterFor(kind).scoreAnswer) ? 'auto' : 'ask'
}

function toWord(isOn: boolean): 'on' | 'off' {
  return isOn ? 'on' : 'off'
}
