import { readFileSync, statSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, resolve } from 'node:path'
import type { Document } from 'yaml'
import { ConfigError } from '../../common/errors.ts'
import { checkSettings, oneLine, type SettingPath, writeFault } from '../faults/check-settings.ts'
import type { SettingSchema } from '../schema/setting-schema.ts'

/** Settings from one source, and how to name the place of each. */
export interface SettingsLayer {
  readonly settings: Readonly<Record<string, unknown>>
  locate(path: SettingPath): string
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

interface YamlDocument {
  readonly value: unknown
  /** `NAME:LINE` of the value at a path, or of its nearest existing parent */
  locate(path: SettingPath): string
}

// loaded when it is first needed: 30 ms and 2 MB
const loadYaml = (): typeof import('yaml') => createRequire(import.meta.url)('yaml') as typeof import('yaml')

/** More aliases than this are considered an attempt to exhaust memory. */
const maxAliases = 1_000

/** Reads YAML, which includes JSON. Throws a ConfigError with a line for each fault, `NAME:LINE:COLUMN: …`. */
export function readYaml(name: string, text: string): YamlDocument {
  const { isNode, LineCounter, parseDocument } = loadYaml()
  const lines = new LineCounter()
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false, merge: true })
  const faults = [...document.errors, ...document.warnings]
  if (faults.length > 0) {
    const messages = faults.map(({ code, message, pos: [offset] }) => {
      const { line, col } = lines.linePos(code === 'MISSING_CHAR' ? startOfQuote(document, offset) : offset)
      return oneLine(`${name}:${line}:${col}: ${message}`)
    })
    throw new ConfigError(messages.join('\n'))
  }
  const locate = (path: SettingPath): string => {
    for (let length = path.length; length > 0; length--) {
      const node = document.getIn(path.slice(0, length), true)
      if (isNode(node) && node.range) return `${name}:${lines.linePos(node.range[0]).line}`
    }
    return name
  }
  try {
    const value: unknown = document.toJS({ maxAliasCount: maxAliases })
    if (isEndless(value)) throw new Error('an alias stands inside what its anchor names')
    return { value, locate }
  } catch (error) {
    throw new ConfigError(oneLine(`${name}: ${(error as Error).message}`))
  }
}

/** The start of the quoted text that lacks its closing quote at an offset; it may be many lines earlier. */
function startOfQuote(document: Document, offset: number): number {
  let start = offset
  loadYaml().visit(document, {
    Scalar: (_, { type, range }) => {
      if (type?.startsWith('QUOTE') && range && range[0] <= offset && range[1] >= offset) start = range[0]
    },
  })
  return start
}

/** Whether a value contains itself. */
function isEndless(value: unknown, around: readonly unknown[] = []): boolean {
  if (typeof value !== 'object' || value === null) return false
  return around.includes(value) || Object.values(value).some((part) => isEndless(part, [...around, value]))
}

/** Certificates with their chains, and secrets, are far smaller. */
const mostBytes = 1024 * 1024

/**
 * Reads the file of a certificate or a secret that a setting names. Throws a ConfigError, also for what is no file, such
 * as a device, and for one above 1 MiB.
 */
export function readSmallFile(setting: string, path: string): Buffer {
  try {
    const stats = statSync(path)
    if (!stats.isFile()) throw new Error('it is no regular file')
    if (stats.size > mostBytes) throw new Error(`it is larger than ${mostBytes} bytes`)
    return readFileSync(path)
  } catch (error) {
    throw new ConfigError(`${setting}: ${path} cannot be read: ${(error as Error).message}`)
  }
}
