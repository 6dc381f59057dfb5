import type { Config } from './config.ts'
import { differingPaths, setAt, valueAt } from './setting-values.ts'
import type { Settings } from './settings.ts'
import type { ConfigSource, LoadedConfig } from './sources/config-source.ts'
import { toConfig } from './to-config.ts'

/** The settings, or groups of them, that take effect without a restart. For `tls`, only the files are read again. */
export const reloadable: readonly string[] = [
  'mode',
  'annotations',
  'explicit',
  'options',
  'blocks',
  'hygiene',
  'tenants',
  'keys',
  'limits',
  'keep_alive_seconds',
  'drain_delay_seconds',
  'drain_seconds',
  'admin.token',
  'logs',
  'breaker',
]

/** The log for the outcome of a reload. */
export interface ReloadLog {
  info(details: object, message: string): void
  warn(details: object, message: string): void
  error(details: object, message: string): void
}

/** The configuration of a running proxy; a failed reload leaves it as it was. */
export class LiveConfig {
  readonly #source: ConfigSource
  readonly #listeners: ((config: Config) => void)[] = []
  #settings: Settings
  #config: Config

  /** Throws a ConfigError if the configuration cannot be used. */
  constructor(source: ConfigSource, { settings }: LoadedConfig = source.load()) {
    this.#source = source
    this.#settings = settings
    this.#config = toConfig(settings)
  }

  get config(): Config {
    return this.#config
  }

  /** Calls back after every reload, changed or not: files that the configuration names may have changed. */
  onReload(listener: (config: Config) => void): void {
    this.#listeners.push(listener)
  }

  /** Reads the configuration again. If it cannot be used, logs why and keeps the previous one. */
  reload(log: ReloadLog): void {
    try {
      const wanted = this.#source.load().settings
      const changed = differingPaths({ ...this.#settings }, { ...wanted })
      const [applied, waiting] = [changed.filter(isReloadable), changed.filter((path) => !isReloadable(path))]
      const next = structuredClone(this.#settings) as unknown as Record<string, unknown>
      for (const path of applied) setAt(next, path.split('.'), valueAt(wanted, path.split('.')))
      const settings = next as unknown as Settings
      this.#config = toConfig(settings)
      this.#settings = settings
      if (waiting.length > 0) log.warn({ settings: waiting }, 'these settings take effect at the next start')
      log.info({ settings: applied }, 'configuration reloaded')
    } catch (error) {
      log.error({ faults: (error as Error).message.split('\n') }, 'configuration not reloaded: the one before stays')
      return
    }
    for (const listener of this.#listeners) this.#tell(listener, log)
  }

  #tell(listener: (config: Config) => void, log: ReloadLog): void {
    try {
      listener(this.#config)
    } catch (error) {
      log.error({ faults: (error as Error).message.split('\n') }, 'a part of the configuration could not be reloaded')
    }
  }
}

function isReloadable(path: string): boolean {
  return reloadable.some((setting) => path === setting || path.startsWith(`${setting}.`))
}
