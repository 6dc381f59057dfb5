import type { EngineKind } from '#engine-adapters/engine-adapter.ts'
import type { KeysConfig } from '../access/key-record.ts'
import type { TenantSource } from '../access/tenant.ts'
import type { WorkLimits } from '../bounds/work-limits.ts'
import type { HygieneSettings } from '../hygiene/apply-hygiene.ts'
import type { Wording } from '../prompt/wording.ts'
import type { RequestOptions } from '../request-options.ts'
import type { Mode } from '../settings.ts'
import type { TemplateText } from '../templates/cut/read-template.ts'
import type { DeclaredTemplate } from '../templates/declared-templates.ts'

/** Where a server listens. */
export interface ListenAddress {
  readonly host: string
  readonly port: number
}

/** Files with which we and an engine authenticate each other. */
export interface EngineTlsFiles {
  /** the authorities to trust, instead of the system's */
  readonly ca?: string | undefined
  readonly cert?: string | undefined
  readonly key?: string | undefined
}

export interface EngineConfig {
  readonly url: string
  readonly kind: EngineKind
  /** unique among the engines */
  readonly id: string
  /** sent as bearer token, instead of the client's */
  readonly apiKey?: string | undefined
  readonly tls?: EngineTlsFiles | undefined
  /** where the engine publishes its cache events, and where it replays them: tcp://HOST:PORT */
  readonly eventsUrl?: string | undefined
  readonly replayUrl?: string | undefined
  /** the models it serves; undefined: it is asked */
  readonly models?: readonly string[] | undefined
  /** its URL's host stands for several engines: one at each of its addresses, or at each target of its SRV records */
  readonly discover?: 'addresses' | 'srv' | 'endpoints' | undefined
}

/** The files of a TLS listener; with `clientCa`, every client must present a certificate issued by it. */
export interface ListenerTlsFiles {
  readonly cert: string
  readonly key: string
  readonly clientCa?: string | undefined
}

/** Redis, where state survives restarts and is shared between proxies. */
export interface RedisConfig {
  readonly url: string
  /** the same for all proxies that share state */
  readonly namespace: string
  /** how long unused state is kept; not a setting: for tests */
  readonly ttlSeconds?: number
  /** how long a request waits for a read from Redis; not a setting: for tests on a busy machine */
  readonly readMilliseconds?: number
  readonly tls?: EngineTlsFiles | undefined
}

/** Where a trace of the requests is written. */
export interface RecordConfig {
  readonly folder: string
  readonly hasText: boolean
}

/** What `reprise serve` runs with. */
export interface Config {
  readonly listen: ListenAddress
  /** undefined: plain HTTP */
  readonly tls: ListenerTlsFiles | undefined
  readonly adminListen: ListenAddress
  readonly adminToken: string | undefined
  /** empty: the embedded emulator */
  readonly engines: readonly EngineConfig[]
  /** the key of engines that are given none of their own */
  readonly engineApiKey?: string | undefined
  /** the models that a name stands for, the preferred one first */
  readonly aliases: ReadonlyMap<string, readonly string[]>
  readonly mode: Mode
  readonly wording: Wording
  /** defaults for what requests do not set in `x-reprise-options` */
  readonly options: RequestOptions
  /** whether borders are learnt from traffic: those of chunks, and those that no rule knows */
  readonly learn: boolean
  /** how applications write lists of blocks, in the order in which they are tried */
  readonly templates: readonly TemplateText[]
  readonly maxChunks: number
  readonly hygiene: HygieneSettings
  readonly tenantsFrom: TenantSource
  /** addresses and ranges (CIDR) whose `x-reprise-tenant` counts */
  readonly trustedPeers: readonly string[]
  /** the secret from which the cache salts of tenants are derived */
  readonly saltSecret?: string | undefined
  readonly keys: KeysConfig
  readonly bodyLimitBytes: number
  /** time in which more of a body must arrive; 0: any */
  readonly bodyStallSeconds: number
  readonly workLimits: WorkLimits
  readonly groupWindowMilliseconds: number
  readonly inFlightPerReplica: number
  readonly waitingRequests: number
  /** how long a request may wait before it is sent */
  readonly maxWaitSeconds: number
  /** how long an engine that comes beside others is warmed; 0: not at all */
  readonly warmUpSeconds: number
  /** how many tokens of prompts `cache_control` marks may pin; `tokens` 0: they pin nothing */
  readonly pins: {
    readonly tokens: number
    readonly tenantTokens: number
    /** not a setting: for tests */
    readonly refreshSeconds?: number
  }
  /** silence after which a stream gets a comment line; 0: never */
  readonly keepAliveSeconds: number
  /** whether answers have `x-reprise-` headers */
  readonly hasHeaders: boolean
  /** how long requests are still accepted after the proxy was told to stop */
  readonly drainDelaySeconds: number
  readonly drainSeconds: number
  /** whether `readyz` covers only the proxy, or also an engine that takes requests */
  readonly readyz: 'proxy' | 'engine'
  readonly health: {
    readonly intervalSeconds: number
    /** not a setting: for tests */
    readonly timeoutSeconds?: number
  }
  /** not a setting: for tests */
  readonly breaker?: { readonly failuresInARow: number; readonly openMilliseconds: number }
  /** not a setting: for tests; undefined: as a pod reaches it */
  readonly kubernetes?: { readonly url: string; readonly folder: string }
  /** undefined: all state is in memory */
  readonly redis?: RedisConfig | undefined
  /** undefined: nothing is recorded */
  readonly record?: RecordConfig | undefined
  readonly logLevel: string
  /** whether logs may hold text of prompts */
  readonly logPrompts: boolean
}

/** What requests go by: the configuration, which can change while the proxy runs, and what follows from it. */
export interface Settings extends Omit<Config, 'templates'> {
  readonly templates: readonly DeclaredTemplate[]
  /** whether the first words of blocks are kept for the control plane */
  readonly keepsWords: boolean
  /** whether the caller's API key is meant for us and must not reach the engine */
  readonly keepsClientKey: boolean
}
