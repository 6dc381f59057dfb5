import { timingSafeEqual } from 'node:crypto'
import type { KeyRecord } from '../config/config.ts'
import { hashOf } from './hash-key.ts'

/** One API key that clients may show. */
export interface KeyEntry {
  /** the key's hash: stays the same over reloads */
  readonly id: string
  /** for people */
  readonly name: string
  readonly tenant: string
  readonly requestsPerMinute: number | undefined
  readonly promptTokensPerMinute: number | undefined
  /** of requests that name none */
  readonly priority: number | undefined
  /** milliseconds since 1970 */
  readonly expiresAt: number
}

interface Entry extends KeyEntry {
  readonly hash: Buffer
}

/** The API keys that clients have to show one of, if there are any; only their hashes are known. */
export class ApiKeys {
  #entries: readonly Entry[] = []
  #isOpen = true
  readonly #now: () => number

  /** Without records anyone may come. `now`: milliseconds since 1970. */
  constructor(records: readonly KeyRecord[] | undefined, now: () => number = Date.now) {
    this.#now = now
    if (records) this.replace(records)
  }

  /** Whether no key is asked for. */
  get isOpen(): boolean {
    return this.#isOpen
  }

  /** From now on one of these keys has to be shown, and no other. */
  replace(records: readonly KeyRecord[]): void {
    this.#isOpen = false
    this.#entries = records.map(toEntry)
  }

  /** Every key, also those that have expired. */
  get entries(): readonly KeyEntry[] {
    return this.#entries
  }

  /** The entry of a key that was shown; takes as long whichever it is, and whether there is one or not. */
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
    promptTokensPerMinute: record.prompt_tokens_per_minute,
    priority: record.priority,
    expiresAt: record.expires === undefined ? Number.POSITIVE_INFINITY : Date.parse(record.expires),
    hash: Buffer.from(record.sha256, 'hex'),
  }
}
