import type { EngineSettings } from '#proxy/config/settings.ts'

/** What to check, and with what. */
export interface DoctorOptions {
  readonly engine: EngineSettings
  readonly engineKey: string | undefined
  readonly model: string | undefined
  /** a request body and the file it comes from; undefined: the built-in sample */
  readonly prompt: { readonly file: string; readonly json: string } | undefined
  readonly redisUrl?: string | undefined
  readonly adminUrl: string | undefined
  readonly adminToken: string | undefined
  readonly timeoutMilliseconds: number
}
