import { type Config, toConfig, type WrittenConfig } from './config.ts'
import { areOneRedis } from './read-redis-url.ts'
import { differingPaths, setAt, valueAt } from './setting-values.ts'
import type { ConfigSource, LoadedConfig } from './sources/config-source.ts'

/** The settings, or groups of them, that take effect only at the next start. For `tls`, the files are read again. */
export const fixedAtStart: readonly string[] = ['listen', 'tls', 'chunks', 'admin.listen', 'health', 'redis', 'record']

interface ReloadLog {
  info(details: object, message: string): void
  warn(details: object, message: string): void
  error(details: object, message: string): void
}

/** The configuration of a running proxy; a failed reload leaves it as it was. */
export class LiveConfig {
  readonly #source: ConfigSource
  #settings: WrittenConfig
  #config: Config
  #secretFiles: readonly string[]

  /** Throws a ConfigError if the configuration cannot be used. */
  constructor(source: ConfigSource, { settings, secretFiles, keep }: LoadedConfig = source.load()) {
    this.#source = source
    this.#secretFiles = secretFiles
    this.#settings = settings
    this.#config = toConfig(settings)
    keep()
  }

  get config(): Config {
    return this.#config
  }

  /** The files that hold secrets; what changes in them takes effect with `renewSecrets`. */
  get secretFiles(): readonly string[] {
    return this.#secretFiles
  }

  /**
   * Reads the configuration again and applies it, changed or not: files that it names may have changed. `apply` throws
   * if it cannot be used, and then has changed nothing; the previous one stays. Logs the outcome once it is certain.
   */
  reload(log: ReloadLog, apply: (config: Config) => void): void {
    this.#apply(() => this.#source.load(), log, apply)
  }

  /** The same for the files with secrets alone: what else the configuration says is not read again. */
  renewSecrets(log: ReloadLog, apply: (config: Config) => void): void {
    this.#apply(() => this.#source.loadSecrets(), log, apply)
  }

  #apply(load: () => LoadedConfig, log: ReloadLog, apply: (config: Config) => void): void {
    try {
      const { settings: wanted, staleFiles, keep } = load()
      if (staleFiles.length > 0) log.error({ faults: staleFiles }, 'secrets not reloaded: those before stay')
      const changed = differingPaths({ ...this.#settings }, { ...wanted })
      // without a file, everyone would be let in: that takes a restart, since it may be a mistake
      const losesKeys = this.#config.keys.file !== undefined && wanted.keys.file === undefined
      // the embedded emulator is not exchanged for engines, nor they for it
      const isEmulated = this.#config.engines.length === 0 || wanted.engines.length === 0
      const waits = (path: string): boolean => {
        if (path === 'redis.url' && this.#isSameRedis(wanted)) return false
        const isFixed = fixedAtStart.some((setting) => path === setting || path.startsWith(`${setting}.`))
        return isFixed || (losesKeys && path === 'keys.file') || (isEmulated && path === 'engines')
      }
      const [applied, waiting] = [changed.filter((path) => !waits(path)), changed.filter(waits)]
      const next = structuredClone(this.#settings)
      for (const path of applied) setAt(next, path.split('.'), valueAt(wanted, path.split('.')))
      const config = toConfig(next)
      apply(config)
      keep()
      this.#config = config
      this.#settings = next
      if (waiting.length > 0) log.warn({ settings: waiting }, 'these settings take effect at the next start')
      log.info({ settings: applied }, 'configuration reloaded')
    } catch (error) {
      log.error({ faults: (error as Error).message.split('\n') }, 'configuration not reloaded: the one before stays')
    }
  }

  /** Whether only the login to Redis differs, which its next connection can use. */
  #isSameRedis({ redis }: WrittenConfig): boolean {
    const before = this.#settings.redis.url
    return before !== undefined && redis.url !== undefined && areOneRedis(before, redis.url)
  }
}
