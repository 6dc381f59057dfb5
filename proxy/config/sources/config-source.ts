import type { Json } from '#engine-adapters/json-object.ts'
import { ConfigError } from '../../common/errors.ts'
import {
  type Config,
  type EngineConfig,
  type EngineSettings,
  toConfig,
  toEngines,
  type WrittenConfig,
} from '../config.ts'
import { checkSettings, fillDefaults, type SettingPath, writeFault } from '../faults/check-settings.ts'
import { engineFaults, findContradictions } from '../faults/find-contradictions.ts'
import { configSchema, engineSchema } from '../schema/config-schema.ts'
import { object } from '../schema/setting-schema.ts'
import { mergeSettings, valueAt } from '../setting-values.ts'
import { readEnvironment, type SecretFiles } from './read-environment.ts'
import { readSettingsFile, type SettingsLayer } from './read-settings-file.ts'
import { type ServeFlags, toFlagLayer } from './serve-flags.ts'

/** Where settings come from: flags override the environment, that overrides the file, and the file the defaults. */
export interface ConfigSource {
  /** a YAML or JSON file */
  readonly file: string | undefined
  readonly environment: Readonly<Record<string, string | undefined>>
  readonly flags?: ServeFlags
}

/** Settings as they were read. */
export interface LoadedConfig extends SecretFiles {
  readonly settings: WrittenConfig
  readonly fromFile: readonly SettingsLayer[]
}

/**
 * Reads the configuration; throws a ConfigError with a line for each fault. `before`: the one in use, whose secrets stay
 * if their files cannot be read. `only`: the rest is not read again.
 */
export function loadConfig(
  { file, environment, flags = {} }: ConfigSource,
  before?: LoadedConfig,
  only?: 'secrets',
): LoadedConfig {
  const fromFile = before && only ? before.fromFile : file === undefined ? [] : [readSettingsFile(file, configSchema)]
  const { secretFiles, staleFiles, ...fromEnvironment } = readEnvironment(
    environment,
    configSchema,
    before?.secretFiles,
  )
  const settings = combine([toFlagLayer(flags), fromEnvironment, ...fromFile])
  return { settings, fromFile, secretFiles, staleFiles }
}

/** The configuration of a proxy if nothing is set. */
export function defaultConfig(): Config {
  return toConfig(combine([]))
}

/** `layers`: highest precedence first. Names where each faulty setting was set; if only flags are, it is wrong usage. */
function combine(layers: readonly SettingsLayer[]): WrittenConfig {
  const merged = layers.reduceRight<Json>((under, { settings }) => mergeSettings(under, settings), {})
  const { filled, faults } = fillDefaults<WrittenConfig>(configSchema, merged)
  if (faults.length === 0) faults.push(...findContradictions(filled))
  if (faults.length === 0) return filled
  const sourceOf = (path: SettingPath): SettingsLayer | undefined =>
    layers.find(({ settings }) => valueAt(settings, path) !== undefined) ??
    // of what is missing, that of the setting around it
    (path.length > 1 ? sourceOf(path.slice(0, -1)) : undefined)
  const sources = faults.map(({ path }) => sourceOf(path))
  const lines = faults.map((fault, i) => writeFault(fault, sources[i]?.locate(fault.path)))
  throw new ConfigError(lines.join('\n'), sources.every((layer) => layer?.isCommandLine) ? 2 : 1)
}

/** Each engine that joins takes time on the event loop. */
export const mostEngines = 256

const enginesBody = object(['engines'], { engines: { type: 'array', items: engineSchema, minItems: 1 } })

/**
 * Reads `{"engines": […]}`, with engines as in the configuration. `sharedKey`: the key of those without one. Throws a
 * ConfigError with a line for each fault.
 */
export function readEngines(body: unknown, sharedKey: string | undefined): EngineConfig[] {
  const { engines } = (body ?? {}) as { engines: EngineSettings[] }
  // before each of them is checked
  if (Array.isArray(engines) && engines.length > mostEngines)
    throw new ConfigError(`engines: at most ${mostEngines} can be named, not ${engines.length}`)
  const faults = checkSettings(enginesBody, body)
  if (faults.length === 0) faults.push(...engineFaults(engines))
  if (faults.length > 0) throw new ConfigError(faults.map((fault) => writeFault(fault)).join('\n'))
  return toEngines(engines, sharedKey)
}
