import type { EngineTls } from '#engine-adapters/engine-client.ts'
import type { EngineSettings } from '#proxy/config/config.ts'

/** Severity. `not_checked`: the check was not possible, and the fix says what to provide so that it is. */
export type Level = 'ok' | 'not_checked' | 'warning' | 'fatal'

export interface Finding {
  /** name of the check, for programs */
  readonly check: string
  readonly level: Level
  readonly found: string
  /** what to do, in one line */
  readonly fix?: string
}

type ToFinding = (check: string, found: string, fix?: string) => Finding

const of =
  (level: Level): ToFinding =>
  (check, found, fix) => ({ check, level, found, ...(fix !== undefined && { fix }) })

export const ok: ToFinding = of('ok')
export const notChecked: ToFinding = of('not_checked')
export const warning: ToFinding = of('warning')
export const fatal: ToFinding = of('fatal')

/** Whether an engine answered the probes: only then is there a finding about cached tokens. */
export function hasComputed(findings: readonly Finding[]): boolean {
  return findings.some(({ check }) => check === 'cached_tokens')
}

/** All findings about one engine, or about a prompt or a Redis alone. */
export interface DoctorReport {
  /** the engine's URL; without one, the prompt's file or the URL of Redis */
  readonly engine: string
  /** as given */
  readonly kind: string | null
  readonly fatal: number
  readonly warnings: number
  readonly findings: readonly Finding[]
}

/** What to check, and with what. */
export interface DoctorOptions {
  readonly engine: EngineSettings
  readonly engineKey: string | undefined
  readonly engineTls?: EngineTls | undefined
  readonly model: string | undefined
  /** a request body and the file it comes from; undefined: the built-in sample */
  readonly prompt: { readonly file: string; readonly json: string } | undefined
  readonly redisUrl?: string | undefined
  readonly redisTls?: EngineTls | undefined
  /** what `serve` would warn of at the start, with the configuration that names the engine */
  readonly startWarnings?: readonly string[]
  readonly adminUrl: string | undefined
  readonly adminToken: string | undefined
  readonly timeoutMilliseconds: number
}
