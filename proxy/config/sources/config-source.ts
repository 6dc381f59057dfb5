import { ConfigError } from '../../common/errors.ts'
import type { Config, WrittenConfig } from '../config.ts'
import { fillDefaults, type SettingFault, type SettingPath } from '../faults/check-settings.ts'
import { findContradictions } from '../faults/find-contradictions.ts'
import { writeFault } from '../faults/write-fault.ts'
import { configSchema } from '../schema/config-schema.ts'
import { mergeSettings, valueAt } from '../setting-values.ts'
import { toConfig } from '../to-config.ts'
import { readEnvironment } from './read-environment.ts'
import { readSettingsFile, type SettingsLayer } from './read-settings-file.ts'

export interface LoadedConfig {
  readonly settings: WrittenConfig
  /** files that hold secrets of the environment */
  readonly secretFiles: readonly string[]
  /** why some of these could not be read, so that the secret read before stays */
  readonly staleFiles: readonly string[]
  /** From now on this is what was last read: it could be used. */
  keep(): void
}

/** Where the configuration comes from. */
export interface ConfigSource {
  /** Reads everything again; throws a ConfigError with a line for each fault. */
  load(): LoadedConfig
  /** Reads the files with secrets again, and takes the rest as it was last kept. */
  loadSecrets(): LoadedConfig
}

interface ConfigSourceOptions {
  /** a YAML or JSON file */
  readonly file: string | undefined
  readonly environment: Readonly<Record<string, string | undefined>>
  readonly flags: SettingsLayer
}

/** Creates a source in which flags override the environment, that overrides the file, and the file the defaults. */
export function createConfigSource({ file, environment, flags }: ConfigSourceOptions): ConfigSource {
  let secrets: ReadonlyMap<string, string> = new Map()
  let last: readonly SettingsLayer[] = []
  const load = (fromFile: readonly SettingsLayer[]): LoadedConfig => {
    const fromEnvironment = readEnvironment(environment, configSchema, secrets)
    const settings = combine([flags, fromEnvironment, ...fromFile])
    const { secretFiles = new Map(), staleFiles = [] } = fromEnvironment
    const keep = (): void => {
      secrets = secretFiles
      last = fromFile
    }
    return { settings, secretFiles: [...secretFiles.keys()], staleFiles, keep }
  }
  return {
    load: () => load(file === undefined ? [] : [readSettingsFile(file, configSchema)]),
    loadSecrets: () => load(last),
  }
}

/** The configuration of a proxy if nothing is set. */
export function defaultConfig(): Config {
  return toConfig(combine([]))
}

/** `layers`: highest precedence first. */
function combine(layers: readonly SettingsLayer[]): WrittenConfig {
  const merged = layers.reduceRight<Record<string, unknown>>(
    (under, { settings }) => mergeSettings(under, settings),
    {},
  )
  const { filled: settings, faults } = fillDefaults<WrittenConfig>(configSchema, merged)
  if (faults.length > 0) throw toError(faults, layers)
  const contradictions = findContradictions(settings)
  if (contradictions.length > 0) throw toError(contradictions, layers)
  return settings
}

/** Names where each faulty setting was set. If only flags are at fault, the exit code says wrong usage. */
function toError(faults: readonly SettingFault[], layers: readonly SettingsLayer[]): ConfigError {
  const placed = faults.map((fault) => ({ fault, layer: layerOf(fault.path, layers) }))
  const lines = placed.map(({ fault, layer }) => writeFault(fault, layer?.locate(fault.path)))
  return new ConfigError(lines.join('\n'), placed.every(({ layer }) => layer?.isCommandLine) ? 2 : 1)
}

function layerOf(path: SettingPath, layers: readonly SettingsLayer[]): SettingsLayer | undefined {
  return layers.find(({ settings }) => valueAt(settings, path) !== undefined)
}
