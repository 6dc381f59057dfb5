import { type Stats, unwatchFile, watchFile } from 'node:fs'
import type { KeysConfig } from '../config/config.ts'
import { readVersion } from '../telemetry/read-version.ts'
import { ApiKeys } from './api-keys.ts'
import { asksForKeys, readKeyRecords } from './read-key-records.ts'

/** What a store needs besides its configuration. */
export interface KeyStoreOptions {
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

  /** Throws a ConfigError if the keys cannot be read. */
  constructor(config: KeysConfig, options: KeyStoreOptions) {
    this.#config = config
    this.#options = options
    this.keys = new ApiKeys(asksForKeys(config) ? readKeyRecords(config) : undefined)
    this.#watch()
  }

  /** Applies a new configuration and reads the file again; if that fails, the keys stay as they were. */
  reload(config: KeysConfig): void {
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
    this.#read()
  }

  /** Stops following the file. */
  close(): void {
    if (this.#config.file !== undefined) unwatchFile(this.#config.file, this.#onStat)
  }

  #watch(): void {
    const interval = this.#options.pollMilliseconds ?? 2_000
    if (this.#config.file !== undefined) watchFile(this.#config.file, { interval, persistent: false }, this.#onStat)
  }

  readonly #onStat = (now: Stats, before: Stats): void => {
    // reading the file changes its stats too
    if (now.mtimeMs !== before.mtimeMs || now.ino !== before.ino || now.size !== before.size) this.#read()
  }

  #read(): void {
    const { log, onChange } = this.#options
    const version = readVersion()
    try {
      if (asksForKeys(this.#config)) this.keys.replace(readKeyRecords(this.#config))
    } catch (error) {
      log.error({ version, faults: (error as Error).message.split('\n') }, 'API keys not reloaded: those before stay')
      return
    }
    if (!this.keys.isOpen) log.info({ version, keys: this.keys.entries.length }, 'API keys reloaded')
    onChange?.(this.keys)
  }
}
