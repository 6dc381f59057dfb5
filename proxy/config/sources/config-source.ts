import { ConfigError } from '../../common/errors.ts'
import {
  type Config,
  type EngineConfig,
  type EngineSettings,
  toConfig,
  toEngines,
  type WrittenConfig,
} from '../config.ts'
import { checkSettings, fillDefaults, type SettingFault, writeFault } from '../faults/check-settings.ts'
import { engineFaults, findContradictions } from '../faults/find-contradictions.ts'
import { configSchema, engineSchema } from '../schema/config-schema.ts'
import type { SettingSchema } from '../schema/setting-schema.ts'
import { mergeSettings, valueAt } from '../setting-values.ts'
import { readEnvironment } from './read-environment.ts'
import { readSettingsFile, type SettingsLayer } from './read-settings-file.ts'

export interface LoadedConfig {
  readonly settings: WrittenConfig
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
  const placed = faults.map((fault) => {
    return { fault, layer: layers.find(({ settings }) => valueAt(settings, fault.path) !== undefined) }
  })
  const lines = placed.map(({ fault, layer }) => writeFault(fault, layer?.locate(fault.path)))
  return new ConfigError(lines.join('\n'), placed.every(({ layer }) => layer?.isCommandLine) ? 2 : 1)
}

/** Each engine that joins takes time on the event loop. */
export const mostEngines = 256

const schema: SettingSchema = {
  type: 'object',
  additionalProperties: false,
  required: ['engines'],
  properties: { engines: { type: 'array', items: engineSchema, minItems: 1 } },
}

/**
 * Reads `{"engines": […]}`, with engines as in the configuration. `sharedKey`: the key of those without one. Throws a
 * ConfigError with a line for each fault.
 */
export function readEngines(value: unknown, sharedKey: string | undefined): EngineConfig[] {
  const engines = (value as { engines?: unknown } | null)?.engines
  // before each of them is checked
  if (Array.isArray(engines) && engines.length > mostEngines)
    throw new ConfigError(`engines: at most ${mostEngines} can be named, not ${engines.length}`)
  const mistyped = checkSettings(schema, value)
  const faults = mistyped.length > 0 ? mistyped : engineFaults((value as { engines: EngineSettings[] }).engines)
  if (faults.length > 0) throw new ConfigError(faults.map((fault) => writeFault(fault, undefined)).join('\n'))
  return toEngines((value as { engines: EngineSettings[] }).engines, sharedKey)
}
