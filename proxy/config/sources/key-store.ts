import type { KeyRecord, KeysConfig } from '../../access/api-keys.ts'
import { ApiKeys, asksForKeys } from '../../access/api-keys.ts'
import { readVersion } from '../../common/read-version.ts'
import { readKeyRecords } from './read-key-records.ts'
import { watchFiles } from './watch-files.ts'

/** What a store needs besides its configuration. */
interface KeyStoreOptions {
  readonly log: {
    info(details: object, message: string): void
    error(details: object, message: string): void
  }
  /** called after every reload, so that state of removed keys can be forgotten */
  readonly onChange?: (keys: ApiKeys) => void
  /** how often the file is polled */
  readonly pollMilliseconds?: number
}

/** The API keys of a running proxy: reads the configured keys, and follows changes of the keys file. */
export class KeyStore {
  readonly keys: ApiKeys
  readonly #options: KeyStoreOptions
  #config: KeysConfig
  #endWatching: () => void = () => {}

  /** Throws a ConfigError if the keys cannot be read. */
  constructor(config: KeysConfig, options: KeyStoreOptions) {
    this.#config = config
    this.#options = options
    this.keys = new ApiKeys(asksForKeys(config) ? readKeyRecords(config) : undefined)
    this.#watch()
  }

  /** Applies a new configuration, and the keys that `readKeyRecords` returned for it. */
  reload(config: KeysConfig, records: readonly KeyRecord[]): void {
    // omitting the keys by mistake would let everyone in
    if (asksForKeys(this.#config) && !asksForKeys(config)) {
      this.#options.log.error(
        {},
        'the configuration asks for no API keys any more: that takes effect at the next start',
      )
      return
    }
    this.close()
    this.#config = config
    this.#watch()
    if (asksForKeys(config)) this.#replace(records)
  }

  /** Stops following the file. */
  close(): void {
    this.#endWatching()
  }

  #watch(): void {
    const { file } = this.#config
    const files = file === undefined ? [] : [file]
    this.#endWatching = watchFiles(files, () => this.#read(), this.#options.pollMilliseconds)
  }

  #read(): void {
    let records: readonly KeyRecord[]
    try {
      records = readKeyRecords(this.#config)
    } catch (error) {
      const faults = (error as Error).message.split('\n')
      this.#options.log.error({ version: readVersion(), faults }, 'API keys not reloaded: those before stay')
      return
    }
    this.#replace(records)
  }

  #replace(records: readonly KeyRecord[]): void {
    const { log, onChange } = this.#options
    this.keys.replace(records)
    log.info({ version: readVersion(), keys: this.keys.entries.length }, 'API keys reloaded')
    onChange?.(this.keys)
  }
}
