import { adapterFor } from '#engine-adapters/adapter-for.ts'
import type { EngineKind } from '#engine-adapters/engine-adapter.ts'
import type { KeysConfig } from '../access/api-keys.ts'
import type { TenantSource } from '../access/tenancy.ts'
import type { Mode, RequestOptions } from '../common/request-options.ts'
import { usualLimits, type WorkLimits } from '../http/bounds/work-limits.ts'
import type { HygieneSettings } from '../prompt/hygiene/order-tools.ts'
import type { Wording } from '../prompt/wording.ts'
import type { TemplateText } from '../templates/cut/read-template.ts'
import type { DeclaredTemplate } from '../templates/declared-templates.ts'

/** Files with which we and a server authenticate each other. */
export interface TlsFiles {
  readonly ca?: string | undefined
  readonly cert?: string | undefined
  readonly key?: string | undefined
}

/** One engine as the configuration names it. */
export interface EngineSettings {
  readonly url: string
  readonly kind?: EngineKind
  readonly id?: string
  readonly api_key?: string | undefined
  readonly events?: string | undefined
  readonly replay?: string | undefined
  readonly models?: readonly string[] | undefined
  readonly discover?: 'addresses' | 'srv' | 'endpoints' | undefined
  readonly tls?: TlsFiles | undefined
}

/** One engine, with an id that no other has, its kind, and the key that it is sent. */
export interface EngineConfig extends EngineSettings {
  readonly kind: EngineKind
  readonly id: string
}

/** Redis, where state survives restarts and is shared between proxies; without a URL, all state is in memory. */
export interface RedisConfig {
  readonly url?: string | undefined
  readonly namespace: string
  /** whether tokens of prompts are kept there */
  readonly share_tokens?: boolean
  readonly tls?: TlsFiles | undefined
  /** how long unused state is kept, and how long a request waits for a read; not settings: for tests */
  readonly ttlSeconds?: number
  readonly readMilliseconds?: number
}

/** The settings as a file writes them, which the schema describes: checked, every default filled in. */
export interface WrittenConfig {
  readonly listen: string
  readonly mode?: Mode | boolean
  readonly engines: readonly EngineSettings[]
  readonly engine_api_key?: string
  readonly aliases: readonly { readonly name: string; readonly models: readonly string[] }[]
  readonly annotations: Wording
  readonly options?: string
  readonly learn: boolean
  readonly templates: readonly TemplateText[]
  readonly chunks: { readonly max_chunks: number }
  readonly hygiene: HygieneSettings
  readonly tenants: {
    readonly from: TenantSource
    readonly trusted_peers: readonly string[]
    readonly salt_secret?: string | undefined
  }
  readonly keys: KeysConfig
  readonly limits: {
    readonly body_bytes: number
    readonly in_flight_per_replica: number
    readonly max_wait_seconds: number
  }
  readonly warm_up: boolean
  /** all but `tokens` are for tests */
  readonly pins: { readonly tokens: number; readonly tenantTokens?: number; readonly refreshSeconds?: number }
  readonly headers: boolean
  readonly drain_delay_seconds: number
  readonly drain_seconds: number
  readonly tls: Omit<TlsFiles, 'ca'> & { readonly client_ca?: string | undefined }
  readonly admin: { readonly listen: string; readonly token?: string | undefined }
  readonly record: { readonly folder?: string | undefined; readonly text: boolean }
  readonly logs: { readonly level: string; readonly prompts: boolean }
  readonly health: { readonly readyz: 'proxy' | 'engine' }
  readonly redis: RedisConfig
}

/** What nobody needs to set, except tests. */
interface Constants {
  readonly workLimits: WorkLimits
  readonly groupWindowMilliseconds: number
  /** at each engine */
  readonly waitingRequests: number
  /** time in which more of a body must arrive */
  readonly bodyStallSeconds: number
  /** silence after which a stream gets a comment line; 0: never */
  readonly keepAliveSeconds: number
  readonly warmUpSeconds: number
  readonly checks: { readonly intervalSeconds: number; readonly timeoutSeconds?: number }
  /** of all bodies in flight; undefined: as this machine has it */
  readonly bodyMemoryBytes?: number
  readonly breaker?: { readonly failuresInARow: number; readonly openMilliseconds: number }
  /** undefined: as a pod reaches it */
  readonly kubernetes?: { readonly url: string; readonly folder: string }
}

const constants: Constants = {
  workLimits: usualLimits,
  groupWindowMilliseconds: 20,
  waitingRequests: 10_000,
  bodyStallSeconds: 30,
  keepAliveSeconds: 10,
  warmUpSeconds: 10,
  checks: { intervalSeconds: 5 },
}

/** What `reprise serve` runs with. Without engines: the embedded emulator. */
export interface Config extends Omit<WrittenConfig, 'mode' | 'engines'>, Constants {
  readonly mode: Mode
  readonly engines: readonly EngineConfig[]
}

/** What requests go by: the configuration, which can change while the proxy runs, and what follows from it. */
export interface Settings extends Omit<Config, 'templates' | 'options'> {
  readonly templates: readonly DeclaredTemplate[]
  readonly options: RequestOptions
  /** whether the first words of blocks are kept for the control plane */
  readonly keepsWords: boolean
  /** whether the caller's API key is meant for us and must not reach the engine */
  readonly keepsClientKey: boolean
}

/** Fills in what follows from other settings. */
export function toConfig(written: WrittenConfig): Config {
  const { engines, engine_api_key: sharedKey, admin } = written
  return {
    ...constants,
    ...written,
    engines: toEngines(engines, sharedKey),
    mode: toMode(written),
    // a token read from a file often ends in a newline, which no header can contain
    admin: { ...admin, token: admin.token?.trim() || undefined },
  }
}

/** Gives engines their kind, their names and the key of those without one. */
export function toEngines(engines: readonly EngineSettings[], sharedKey: string | undefined): EngineConfig[] {
  const taken = new Set(engines.map(({ id }) => id))
  return engines.map((engine) => ({ kind: 'openai', api_key: sharedKey, ...engine, id: engine.id ?? freeId(taken) }))
}

/** The first of engine, engine-2, engine-3 … that no engine uses. */
function freeId(taken: Set<string | undefined>): string {
  let id = 'engine'
  for (let n = 2; taken.has(id); n++) id = `engine-${n}`
  taken.add(id)
  return id
}

/** What may be moved without a setting: what can be proved on an engine, or else what a person confirms. */
function toMode({ mode, engines }: Pick<WrittenConfig, 'mode' | 'engines'>): Mode {
  if (typeof mode === 'boolean') return mode ? 'on' : 'off'
  if (mode !== undefined) return mode
  return engines.length === 0 || engines.some(({ kind = 'openai' }) => adapterFor(kind).scoreAnswer) ? 'auto' : 'ask'
}
