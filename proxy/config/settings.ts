import type { EngineKind } from '#engine-adapters/engine-adapter.ts'
import type { KeyRecord } from '../access/key-record.ts'
import type { TenantSource } from '../access/tenant.ts'
import type { Mode } from '../settings.ts'
import type { TemplateText } from '../templates/cut/read-template.ts'

type ClientTlsSettings = { ca?: string; cert?: string; key?: string }

/** One engine as the configuration names it. */
export interface EngineSettings {
  url: string
  kind?: EngineKind
  id?: string
  api_key?: string
  events?: string
  replay?: string
  models?: string[]
  discover?: 'addresses' | 'srv' | 'endpoints'
  tls?: ClientTlsSettings
}

/** The configuration as a file writes it: checked against the schema, every default filled in. */
export interface Settings {
  listen: string
  mode?: Mode | boolean
  engines: EngineSettings[]
  engine_api_key?: string
  aliases: { name: string; models: string[] }[]
  annotations: { order: string; location: string }
  options?: string
  learn: boolean
  templates: TemplateText[]
  chunks: { max_chunks: number }
  hygiene: { sort_tools: boolean; behind_history: { from: string; to?: string }[] }
  tenants: { from: TenantSource; trusted_peers: string[]; salt_secret?: string }
  keys: { file?: string; entries: KeyRecord[]; allow_engine_paths: string[]; forward_client_authorization: boolean }
  limits: {
    body_bytes: number
    in_flight_per_replica: number
    max_wait_seconds: number
  }
  warm_up: boolean
  pins: { tokens: number }
  headers: boolean
  drain_delay_seconds: number
  drain_seconds: number
  tls: { cert?: string; key?: string; client_ca?: string }
  admin: { listen: string; token?: string }
  record: { folder?: string; text: boolean }
  logs: { level: string; prompts: boolean }
  health: { readyz: 'proxy' | 'engine' }
  redis: {
    url?: string
    namespace: string
    tls?: ClientTlsSettings
  }
}
