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

/** The API keys, of which clients must present one; without a file, no key is required. */
export interface KeysConfig {
  readonly file?: string | undefined
  /** paths of the engine that bearers of a key may use besides inference */
  readonly allow_engine_paths?: readonly string[]
  /** whether the engine gets the client's key although it is meant for us */
  readonly forward_client_authorization: boolean
}
