import { Ajv, type ErrorObject } from 'ajv'
import { ownSchemas } from '../../common/json/json-value.ts'
import type { SettingSchema } from '../schema/setting-schema.ts'

/** The path to a setting, as in `['engines', 1, 'kind']`. */
export type SettingPath = readonly (string | number)[]

/** What is wrong with one setting. */
export interface SettingFault {
  readonly path: SettingPath
  readonly reason: string
}

// code that runs once is not worth optimising
const code = { optimize: false }
const formats = { 'file-path': true } as const
const options = { ...ownSchemas, code, allErrors: true, verbose: true, formats } as const
const ajv = new Ajv(options)
const fillingAjv = new Ajv({ ...options, useDefaults: true })

/** Finds all violations of the schema; changes nothing. */
export function checkSettings(schema: SettingSchema, settings: unknown): SettingFault[] {
  ajv.validate(schema, settings)
  return (ajv.errors ?? []).map(toFault)
}

/** Returns a copy with the default of every missing setting, and all violations of the schema. */
export function fillDefaults<T>(schema: SettingSchema, settings: object): { filled: T; faults: SettingFault[] } {
  const filled = structuredClone(settings)
  fillingAjv.validate(schema, filled)
  return { filled: filled as T, faults: (fillingAjv.errors ?? []).map(toFault) }
}

function toFault(error: ErrorObject): SettingFault {
  const path = readPointer(error.instancePath)
  const schema = error.parentSchema as SettingSchema
  switch (error.keyword) {
    case 'additionalProperties': {
      const name = error.params.additionalProperty as string
      const reason = `is not a setting: ${remedyFor(name, Object.keys(schema.properties ?? {}))}`
      return { path: [...path, name], reason }
    }
    case 'required':
      return { path: [...path, error.params.missingProperty as string], reason: 'is missing' }
    case 'minLength':
    case 'minItems':
      return { path, reason: 'must not be empty' }
    default:
      return { path, reason: `${demandOf(error, schema)}${notThis(path, error.data)}` }
  }
}

function remedyFor(name: string, known: readonly string[]): string {
  const meant = findNearestName(name, known)
  return meant === undefined ? `known are ${known.join(', ')}` : `did you mean ${meant}?`
}

const typeWords: Readonly<Record<string, string>> = {
  object: 'a group of settings',
  array: 'a list',
  string: 'a text',
  integer: 'a whole number',
  number: 'a number',
  boolean: 'true or false',
}

function demandOf({ keyword, params, message }: ErrorObject, schema: SettingSchema): string {
  if (keyword === 'type') return `has to be ${typeWords[params.type as string] ?? params.type}`
  if (keyword === 'enum')
    return `has to be one of ${schema.enum!.filter((choice) => typeof choice === 'string').join(', ')}`
  if (keyword === 'minimum') return `has to be at least ${params.limit}`
  if (keyword === 'maximum') return `has to be at most ${params.limit}`
  if (keyword === 'pattern') return schema.$comment ?? `has to match ${schema.pattern}`
  return message ?? 'cannot be used'
}

/** Shows the value, unless it may be a secret. */
function notThis(path: SettingPath, value: unknown): string {
  if (path.some((key) => /key|token|sha256|secret|redis/.test(String(key)))) return ''
  const shown = typeof value === 'string' ? `'${value}'` : asJson(value)
  return `, not ${shown.length > 60 ? `${shown.slice(0, 57)}…` : shown}`
}

/** Returns a value as JSON, if it is not nested too deeply to be written so. */
function asJson(value: unknown): string {
  try {
    return JSON.stringify(value)
  } catch {
    return 'what is nested so deeply'
  }
}

function readPointer(pointer: string): (string | number)[] {
  return pointer
    .split('/')
    .slice(1)
    .map((key) => (/^\d+$/.test(key) ? Number(key) : key.replaceAll('~1', '/').replaceAll('~0', '~')))
}

/** Writes a path as in `engines[1].kind`; names with unusual characters are quoted. */
export function writePath(path: SettingPath): string {
  return path.map((key, i) => (typeof key === 'number' ? `[${key}]` : `${i > 0 ? '.' : ''}${writeName(key)}`)).join('')
}

/** Writes a fault on one line, whatever its values contain: where it was set, which setting, what is wrong. */
export function writeFault({ path, reason }: SettingFault, place?: string): string {
  return oneLine([place, writePath(path), reason].filter((part) => part !== undefined && part !== '').join(': '))
}

/** Replaces line breaks, and control characters that a terminal would obey, by spaces. */
export function oneLine(text: string): string {
  return text.replaceAll(/[\s\p{Cc}]+/gu, ' ')
}

function writeName(name: string): string {
  return /^[\w-]{1,64}$/.test(name) ? name : JSON.stringify(name.length > 64 ? `${name.slice(0, 64)}…` : name)
}

/** A name that differs in more than this share of its letters is not suggested. */
const furthestShare = 0.4

/** Returns the known name with the fewest edits from this one; undefined if none is similar enough. */
export function findNearestName(name: string, known: Iterable<string>): string | undefined {
  let nearest: string | undefined
  let least = Math.ceil(name.length * furthestShare)
  for (const candidate of known) {
    const distance = countEdits(name, candidate)
    if (distance < least) [nearest, least] = [candidate, distance]
  }
  return nearest
}

/** Counts the letters to insert, delete or replace (Levenshtein). */
function countEdits(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, i) => i)
  for (let i = 1; i <= from.length; i++) {
    const next = [i]
    for (let j = 1; j <= to.length; j++) {
      const replaced = row[j - 1]! + (from[i - 1] === to[j - 1] ? 0 : 1)
      next.push(Math.min(replaced, row[j]! + 1, next[j - 1]! + 1))
    }
    row = next
  }
  return row[to.length]!
}
