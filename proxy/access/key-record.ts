/** One API key as the keys file lists it. */
export interface KeyRecord {
  readonly name?: string
  readonly tenant?: string
  readonly sha256: string
  readonly requests_per_minute?: number
  readonly prompt_tokens_per_minute?: number
  readonly cold_tokens_per_minute?: number
  readonly priority?: number
  readonly expires?: string
}

/** The API keys, of which clients must present one; without a file and records, no key is required. */
export interface KeysConfig {
  readonly file: string | undefined
  readonly records: readonly KeyRecord[]
  /** paths of the engine that bearers of a key may use besides inference */
  readonly allowedPaths?: readonly string[]
  /** whether the engine gets the client's key although it is meant for us */
  readonly forwardClientAuthorization: boolean
}

/** Whether clients must present a key. */
export function asksForKeys({ file, records }: KeysConfig): boolean {
  return file !== undefined || records.length > 0
}
