import { readFileSync, statSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { ConfigError } from '../../common/errors.ts'
import { checkSettings, type SettingPath } from '../faults/check-settings.ts'
import { oneLine, writeFault } from '../faults/write-fault.ts'
import type { SettingSchema } from '../schema/setting-schema.ts'
import { readYaml } from './read-yaml.ts'

/** Settings from one source, and how to name the place of each. */
export interface SettingsLayer {
  readonly settings: Readonly<Record<string, unknown>>
  locate(path: SettingPath): string
  /** files that hold secrets, with their texts */
  readonly secretFiles?: ReadonlyMap<string, string>
  /** why some of these could not be read, so that the secret read before stays */
  readonly staleFiles?: readonly string[]
  /** whether these are the flags of the command line */
  readonly isCommandLine?: boolean
}

const maxFileBytes = 4 * 1024 * 1024

/**
 * Reads a YAML or JSON file that follows the schema, and makes relative paths in it absolute. Throws a ConfigError with
 * a line for each fault.
 */
export function readSettingsFile(name: string, schema: SettingSchema): SettingsLayer {
  const { value, locate } = readYaml(name, readText(name))
  const settings = value ?? {}
  const faults = checkSettings(schema, settings)
  if (faults.length > 0) {
    throw new ConfigError(faults.map((fault) => writeFault(fault, locate(fault.path))).join('\n'))
  }
  return { settings: resolvePaths(schema, settings, dirname(resolve(name))) as Record<string, unknown>, locate }
}

function readText(name: string): string {
  try {
    if (statSync(name).size > maxFileBytes) throw new Error(`it is larger than ${maxFileBytes} bytes`)
    return readFileSync(name, 'utf8')
  } catch (error) {
    throw new ConfigError(oneLine(`${name}: cannot be read: ${(error as Error).message}`))
  }
}

function resolvePaths(schema: SettingSchema, value: unknown, folder: string): unknown {
  if (schema.format === 'file-path') return resolve(folder, value as string)
  if (Array.isArray(value)) return value.map((item) => resolvePaths(schema.items ?? {}, item, folder))
  if (schema.properties === undefined) return value
  return Object.fromEntries(
    Object.entries(value as object).map(([key, child]) => [
      key,
      resolvePaths(schema.properties?.[key] ?? {}, child, folder),
    ]),
  )
}
