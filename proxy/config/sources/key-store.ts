import { ApiKeys, type KeyRecord, type KeysConfig } from '../../access/api-keys.ts'
import type { Log } from '../../common/log.ts'
import { readVersion } from '../../common/read-version.ts'
import { readKeyRecords } from './read-key-records.ts'
import { watchFiles } from './watch-files.ts'

/** What a store needs besides its configuration. */
interface KeyStoreOptions {
  readonly log: Pick<Log, 'info' | 'error'>
  /** called after every reload, so that state of removed keys can be forgotten */
  readonly onChange?: (keys: ApiKeys) => void
  /** how often the file is polled */
  readonly pollMilliseconds?: number
}

/** The API keys of a running proxy: reads the keys file, and follows its changes. */
export class KeyStore {
  readonly keys: ApiKeys
  readonly #options: KeyStoreOptions
  /** Stops following the file. */
  close: () => void = () => {}

  /** Throws a ConfigError if the keys cannot be read. */
  constructor(config: KeysConfig, options: KeyStoreOptions) {
    this.#options = options
    this.keys = new ApiKeys(config.file === undefined ? undefined : readKeyRecords(config))
    this.#watch(config)
  }

  /** Follows another file, of which these are the keys. Without one, the keys stay: omitting them would let everyone in. */
  reload(config: KeysConfig, records: readonly KeyRecord[]): void {
    if (config.file === undefined) return
    this.close()
    this.#watch(config)
    this.#replace(records)
  }

  #watch(config: KeysConfig): void {
    if (config.file === undefined) return
    this.close = watchFiles([config.file], () => this.#read(config), this.#options.pollMilliseconds)
  }

  #read(config: KeysConfig): void {
    let records: readonly KeyRecord[]
    try {
      records = readKeyRecords(config)
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
