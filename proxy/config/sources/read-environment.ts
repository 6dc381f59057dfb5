import { ConfigError } from '../../common/errors.ts'
import { checkSettings, findNearestName, oneLine, type SettingPath, writeFault } from '../faults/check-settings.ts'
import type { SettingSchema } from '../schema/setting-schema.ts'
import { setAt } from '../setting-values.ts'
import { readSmallFile, readYaml, type SettingsLayer } from './read-settings-file.ts'

const prefix = 'REPRISE_'
/** Settings that may also be in a file, whose path is in a variable with this ending. */
const secretSettings = ['admin.token', 'engine_api_key', 'tenants.salt_secret', 'redis.url']
const fileEnding = '_FILE'
/** Our variables that are not settings. */
const otherVariables = ['REPRISE_CONFIG', 'REPRISE_CALLBACK_URL', 'REPRISE_CALLBACK_TOKEN', 'REPRISE_API_KEY']
/** Variables that Kubernetes sets for every service whose name begins with ours. */
const serviceVariable = /^REPRISE_(\w+_)?(SERVICE_(HOST|PORT\w*)|PORT(_\d+_\w+)?)$/

/** The files that hold secrets. */
export interface SecretFiles {
  /** the secret in each */
  readonly secretFiles: ReadonlyMap<string, string>
  /** why some could not be read, so that the secret read before stays */
  readonly staleFiles: readonly string[]
}

type Environment = Readonly<Record<string, string | undefined>>

/**
 * Reads `REPRISE_…`: the path of a setting in capitals, joined by underscores. Lists and groups are written as YAML or
 * JSON; an empty variable counts as missing. A secret may be in a file, which `REPRISE_…_FILE` names; if it cannot be
 * read, what `known` has of it stays. Throws a ConfigError with a line for each fault; an unknown variable with our
 * prefix is wrong usage.
 */
export function readEnvironment(
  environment: Environment,
  schema: SettingSchema,
  known: ReadonlyMap<string, string> = new Map(),
): SettingsLayer & SecretFiles {
  const settings: Record<string, unknown> = {}
  const faults: string[] = []
  const staleFiles: string[] = []
  const secretFiles = new Map<string, string>()
  const variables = listSettings(schema)
  for (const [path, setting] of variables) {
    const name = variableOf(path)
    try {
      const file = secretSettings.includes(path.join('.')) ? environment[name + fileEnding] : undefined
      const text = file ? readSecret(environment, name, file, known.get(file), staleFiles) : environment[name]
      if (file) secretFiles.set(file, text!)
      if (text !== undefined && text !== '') setAt(settings, path, readVariable(name, text, setting))
    } catch (error) {
      faults.push((error as Error).message)
    }
  }
  if (faults.length > 0) throw new ConfigError(faults.join('\n'))
  const unknown = findUnknown(environment, environmentNames(schema))
  if (unknown.length > 0) throw new ConfigError(unknown.join('\n'), 2)
  const locate = (at: SettingPath): string => {
    const nearest = variables.findLast(([path]) => path.every((key, i) => key === at[i]))
    return nearest ? variableOf(nearest[0]) : prefix
  }
  return { settings, secretFiles, staleFiles, locate }
}

/**
 * Returns the secret in a file, without the line break that editors put behind it. If it cannot be read, returns the one
 * known before, and adds why to `staleFiles`.
 */
function readSecret(
  environment: Environment,
  name: string,
  file: string,
  before: string | undefined,
  staleFiles: string[],
): string {
  const variable = name + fileEnding
  try {
    if (environment[name]) throw new ConfigError(`${name} and ${variable} are both set: leave out one of them`)
    const secret = readSmallFile(variable, file).toString()
    // a file that is being written must not take the secret away
    if (secret.trim() === '') throw new ConfigError(`${variable}: ${file} cannot be read: it is empty`)
    return secret.replace(/\r?\n$/, '')
  } catch (error) {
    if (before === undefined) throw error
    staleFiles.push((error as Error).message)
    return before
  }
}

/** The names of all variables that are read. */
export function environmentNames(schema: SettingSchema): string[] {
  const inFiles = secretSettings.map((path) => variableOf(path.split('.')) + fileEnding)
  return [...listSettings(schema).map(([path]) => variableOf(path)), ...inFiles, ...otherVariables]
}

function variableOf(path: readonly string[]): string {
  return prefix + path.join('_').toUpperCase()
}

/** Describes variables that have our prefix but are unknown. */
function findUnknown(environment: Readonly<Record<string, unknown>>, known: readonly string[]): string[] {
  return Object.keys(environment)
    .filter((name) => name.startsWith(prefix) && !known.includes(name) && !serviceVariable.test(name))
    .map((name) => {
      const own = known.map((variable) => variable.slice(prefix.length))
      const meant = findNearestName(name.slice(prefix.length), own)
      const remedy = meant === undefined ? 'see `reprise config-schema`' : `did you mean ${prefix}${meant}?`
      return oneLine(`${name} is no setting of reprise: ${remedy}`)
    })
}

/** Lists each group before its members, so that the variable of a single setting wins. */
function listSettings(schema: SettingSchema, above: readonly string[] = []): (readonly [string[], SettingSchema])[] {
  return Object.entries(schema.properties ?? {}).flatMap(([key, setting]) => {
    const path = [...above, key]
    return [[path, setting], ...listSettings(setting, path)]
  })
}

function readVariable(name: string, text: string, schema: SettingSchema): unknown {
  const value = schema.type === 'string' ? text : readYaml(name, text).value
  const faults = checkSettings(schema, value)
  if (faults.length === 0) return value
  throw new ConfigError(faults.map((fault) => writeFault(fault, name)).join('\n'))
}
