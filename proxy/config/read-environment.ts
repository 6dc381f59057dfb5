import { checkSettings, type SettingPath } from './check-settings.ts'
import { ConfigError } from './config.ts'
import type { SettingsLayer } from './read-settings-file.ts'
import { readYaml } from './read-yaml.ts'
import type { SettingSchema } from './setting-schema.ts'
import { setAt } from './setting-values.ts'
import { writeFault, writePath } from './write-fault.ts'

const prefix = 'REPRISE_'
/** Variables of ours that are no settings. */
const otherVariables = new Set(['REPRISE_CONFIG', 'REPRISE_CALLBACK_URL', 'REPRISE_CALLBACK_TOKEN'])
/** What Kubernetes sets for every service whose name begins with ours. */
const serviceVariable = /^REPRISE_(\w+_)?(SERVICE_(HOST|PORT\w*)|PORT(_\d+_\w+)?)$/

/** Settings from the environment, and the variables that look like ours and are not. */
export interface EnvironmentLayer extends SettingsLayer {
  readonly unknown: readonly string[]
}

/**
 * Reads `REPRISE_…`: the path of a setting in capitals, joined by underscores. Lists and groups are written as YAML or
 * JSON; an empty variable counts as none. Throws a ConfigError with a line for each fault.
 */
export function readEnvironment(
  environment: Readonly<Record<string, string | undefined>>,
  schema: SettingSchema,
): EnvironmentLayer {
  const settings: Record<string, unknown> = {}
  const faults: string[] = []
  const names = new Map<string, string>()
  for (const [path, setting] of listSettings(schema)) {
    const name = prefix + path.join('_').toUpperCase()
    names.set(writePath(path), name)
    const text = environment[name]
    if (text === undefined || text === '') continue
    try {
      setAt(settings, path, readVariable(name, text, setting))
    } catch (error) {
      faults.push((error as Error).message)
    }
  }
  if (faults.length > 0) throw new ConfigError(faults.join('\n'))
  const known = new Set(names.values())
  return {
    settings,
    locate: (path) => nearest(names, path) ?? prefix,
    unknown: Object.keys(environment).filter(
      (name) => name.startsWith(prefix) && !known.has(name) && !otherVariables.has(name) && !serviceVariable.test(name),
    ),
  }
}

/** Groups before what is in them, so that the variable of a single setting wins. */
function* listSettings(schema: SettingSchema, path: string[] = []): Generator<[string[], SettingSchema]> {
  for (const [key, setting] of Object.entries(schema.properties ?? {})) {
    yield [[...path, key], setting]
    yield* listSettings(setting, [...path, key])
  }
}

function readVariable(name: string, text: string, schema: SettingSchema): unknown {
  const value = schema.type === 'string' ? text : readYaml(name, text).value
  const faults = checkSettings(schema, value)
  if (faults.length === 0) return value
  throw new ConfigError(faults.map((fault) => writeFault(fault, name)).join('\n'))
}

function nearest(names: ReadonlyMap<string, string>, path: SettingPath): string | undefined {
  for (let length = path.length; length > 0; length--) {
    const name = names.get(writePath(path.slice(0, length)))
    if (name !== undefined) return name
  }
  return undefined
}
