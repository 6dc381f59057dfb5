import type { Log } from '../common/log.ts'
import { type Config, toConfig } from './config.ts'
import { areOneRedis } from './read-redis-url.ts'
import { differingPaths, setAt, valueAt } from './setting-values.ts'
import { type ConfigSource, type LoadedConfig, loadConfig } from './sources/config-source.ts'

/** The settings, or groups of them, that take effect only at the next start. For `tls`, the files are read again. */
export const fixedAtStart: readonly string[] = ['listen', 'tls', 'chunks', 'admin.listen', 'health', 'redis', 'record']

/** The configuration of a running proxy; a failed reload leaves it as it was. */
export class LiveConfig {
  readonly #source: ConfigSource
  /** what was last read and could be used, with the settings that are in force */
  #loaded: LoadedConfig
  config: Config

  /** Throws a ConfigError if the configuration cannot be used. */
  constructor(source: ConfigSource) {
    this.#source = source
    this.#loaded = loadConfig(source)
    this.config = toConfig(this.#loaded.settings)
  }

  /** The files that hold secrets; what changes in them takes effect with a reload of them. */
  get secretFiles(): readonly string[] {
    return [...this.#loaded.secretFiles.keys()]
  }

  /**
   * Reads the configuration again and applies it, changed or not: files that it names may have changed. `apply` throws
   * if it cannot be used, and then has changed nothing; the previous one stays. Logs the outcome once it is certain.
   * `only`: of the files, those with secrets alone are read again.
   */
  reload(log: Pick<Log, 'info' | 'warn' | 'error'>, apply: (config: Config) => void, only?: 'secrets'): void {
    try {
      const loaded = loadConfig(this.#source, this.#loaded, only)
      const { settings: wanted, staleFiles } = loaded
      if (staleFiles.length > 0) log.error({ faults: staleFiles }, 'secrets not reloaded: those before stay')
      const before = this.#loaded.settings
      const changed = differingPaths({ ...before }, { ...wanted })
      // without a file, everyone would be let in: that takes a restart, since it may be a mistake
      const losesKeys = this.config.keys.file !== undefined && wanted.keys.file === undefined
      // the embedded emulator is not exchanged for engines, nor they for it
      const isEmulated = this.config.engines.length === 0 || wanted.engines.length === 0
      const waits = (path: string): boolean => {
        // its next connection can use another login
        if (path === 'redis.url' && areOneRedis(before.redis.url, wanted.redis.url)) return false
        const isFixed = fixedAtStart.some((setting) => path === setting || path.startsWith(`${setting}.`))
        return isFixed || (losesKeys && path === 'keys.file') || (isEmulated && path === 'engines')
      }
      const [applied, waiting] = [changed.filter((path) => !waits(path)), changed.filter(waits)]
      const next = structuredClone(before)
      for (const path of applied) setAt(next, path.split('.'), valueAt(wanted, path.split('.')))
      const config = toConfig(next)
      apply(config)
      this.#loaded = { ...loaded, settings: next }
      this.config = config
      if (waiting.length > 0) log.warn({ settings: waiting }, 'these settings take effect at the next start')
      log.info({ settings: applied }, 'configuration reloaded')
    } catch (error) {
      log.error({ faults: (error as Error).message.split('\n') }, 'configuration not reloaded: the one before stays')
    }
  }
}
