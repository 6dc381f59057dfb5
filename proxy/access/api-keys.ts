import { timingSafeEqual } from 'node:crypto'
import { hashOf } from './hash-key.ts'

/** One API key that clients may present. */
export interface KeyEntry {
  /** the key's hash, which stays the same across reloads */
  readonly id: string
  /** for humans */
  readonly name: string
  readonly tenant: string
  readonly requestsPerMinute: number | undefined
  /** prompt tokens, or cold ones */
  readonly tokensPerMinute: number | undefined
  /** tokens that the engine need not compute do not count */
  readonly countsColdTokens: boolean
  /** for requests that name none */
  readonly priority: number | undefined
  /** milliseconds since 1970 */
  readonly expiresAt: number
}

interface Entry extends KeyEntry {
  readonly hash: Buffer
}

/** The configured API keys: if there are any, clients must present one. Only their hashes are known. */
export class ApiKeys {
  #entries: readonly Entry[] = []
  #byId: ReadonlyMap<string, Entry> = new Map()
  #isOpen = true
  readonly #now: () => number

  /** Without records no key is required. `now`: milliseconds since 1970. */
  constructor(records: readonly KeyRecord[] | undefined, now: () => number = Date.now) {
    this.#now = now
    if (records) this.replace(records)
  }

  /** Whether no key is required. */
  get isOpen(): boolean {
    return this.#isOpen
  }

  /** Replaces all keys: from now on clients must present one of these. */
  replace(records: readonly KeyRecord[]): void {
    this.#isOpen = false
    this.#entries = records.map(toEntry)
    this.#byId = new Map(this.#entries.map((entry) => [entry.id, entry]))
  }

  /** All keys, including expired ones. */
  get entries(): readonly KeyEntry[] {
    return this.#entries
  }

  /** Whether a caller that was let in with this key, or without any, would be let in now, as the same tenant. */
  admits(key: KeyEntry | undefined): boolean {
    if (key === undefined) return this.#isOpen
    const entry = this.#byId.get(key.id)
    return entry?.tenant === key.tenant && this.#now() < entry.expiresAt
  }

  /** Finds the entry of a presented key. Takes the same time for every key, known or not. */
  find(presented: string | undefined): KeyEntry | undefined {
    const hash = hashOf(presented ?? '')
    let found: Entry | undefined
    for (const entry of this.#entries) if (timingSafeEqual(entry.hash, hash)) found = entry
    return presented !== undefined && found && this.#now() < found.expiresAt ? found : undefined
  }
}

function toEntry(record: KeyRecord): Entry {
  const name = record.name ?? record.tenant ?? ''
  return {
    id: record.sha256.toLowerCase(),
    name,
    tenant: record.tenant ?? name,
    requestsPerMinute: record.requests_per_minute,
    tokensPerMinute: record.cold_tokens_per_minute ?? record.prompt_tokens_per_minute,
    countsColdTokens: record.cold_tokens_per_minute !== undefined,
    priority: record.priority,
    expiresAt: record.expires === undefined ? Number.POSITIVE_INFINITY : Date.parse(record.expires),
    hash: Buffer.from(record.sha256, 'hex'),
  }
}

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
