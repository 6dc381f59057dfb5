import type { IncomingMessage } from 'node:http'
import type { Config } from '../config/config.ts'
import { ProxyError } from '../errors.ts'
import { withEngineCredentials } from './engine-credentials.ts'
import { KeyStore, type KeyStoreOptions } from './key-store.ts'
import { RateLimits } from './rate-limits.ts'
import { type Caller, createTenancy, type Tenancy } from './tenancy.ts'

type AccessConfig = Pick<Config, 'keys' | 'trustedPeers'>

/** Who may come, as whom, and how often. */
export class Access {
  readonly #store: KeyStore
  readonly #limits = new RateLimits()
  readonly #now: () => number
  #config: AccessConfig
  #tenancy: Tenancy

  /** Throws a ConfigError when the keys cannot be read. `now`: milliseconds, monotonic. */
  constructor(config: AccessConfig, log: KeyStoreOptions['log'], now: () => number = () => performance.now()) {
    this.#config = config
    this.#now = now
    this.#store = new KeyStore(config.keys, { log, onChange: ({ entries }) => this.#limits.retain(entries) })
    this.#tenancy = this.#createTenancy()
  }

  /** Whose request it is; throws `unauthorized` when it shows no valid key where one is asked for. */
  identify(incoming: Pick<IncomingMessage, 'headers' | 'socket'>): Caller {
    return this.#tenancy.identify(incoming)
  }

  /** Counts a request against its key's limits; throws `rate_limited` when they are used up. */
  admit({ key }: Caller, promptTokens: number): void {
    if (!key) return
    const decision = this.#limits.take(key, promptTokens, this.#now())
    if (decision.ok) return
    throw new ProxyError(
      'rate_limited',
      `The API key's limit is used up: try again in ${decision.retryAfterSeconds} s.`,
      {
        headers: { 'retry-after': String(decision.retryAfterSeconds) },
      },
    )
  }

  /** Corrects the estimate that `admit` was given, once the engine has counted; 0 for a prompt that it never got. */
  settle({ key }: Caller, estimated: number, actual: number): void {
    if (key) this.#limits.settle(key, estimated, actual)
  }

  /** The client's headers, names and values in turn, with the credentials that the engine is to see. */
  headersForEngine(rawHeaders: readonly string[], apiKey: string | undefined): readonly string[] {
    const keepsClientKey = !this.#store.keys.isOpen && !this.#config.keys.forwardClientAuthorization
    return withEngineCredentials(rawHeaders, { keepsClientKey, apiKey })
  }

  /** Takes on a new configuration and reads the keys file again; keys that cannot be read stay as they were. */
  reload(config: AccessConfig): void {
    this.#store.reload(config.keys)
    this.#config = config
    this.#tenancy = this.#createTenancy()
  }

  /** Stops following the keys file. */
  close(): void {
    this.#store.close()
  }

  #createTenancy(): Tenancy {
    return createTenancy({ keys: this.#store.keys, trustedPeers: this.#config.trustedPeers })
  }
}
