import { isObject } from '#engine-adapters/json-object.ts'
import { ReplayError } from '../replay-error.ts'
import type { Line } from './read-json-lines.ts'
import type { SentRequest } from './trace.ts'
import type { Stretch } from './trace-block.ts'

const notAName = 'is neither a string nor a number'

/** Reads a string; undefined if the field is missing or null. */
export function readText({ where, fields }: Line, name: string): string | undefined {
  const value = fields[name]
  if (value === undefined || value === null || typeof value === 'string') return value ?? undefined
  throw new ReplayError(`${where}: "${name}" is not a string`)
}

/** Reads a finite number; undefined if the field is missing or null. */
export function readNumber({ where, fields }: Line, name: string): number | undefined {
  const value = fields[name]
  if (value === undefined || value === null) return undefined
  // JSON parsing turns 1e999 into infinity
  if (typeof value === 'number' && Number.isFinite(value)) return value
  throw new ReplayError(`${where}: "${name}" is not a number`)
}

/** Reads a required number of tokens or characters. */
export function readCount({ where, fields }: Line, name: string): number {
  const value = fields[name]
  if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 0) return value
  throw new ReplayError(`${where}: "${name}" is not a whole number of at least 0`)
}

/** Reads true or false; undefined if the field is missing or null. */
export function readFlag({ where, fields }: Line, name: string): boolean | undefined {
  const value = fields[name]
  if (value === undefined || value === null || typeof value === 'boolean') return value ?? undefined
  throw new ReplayError(`${where}: "${name}" is neither true nor false`)
}

/** Reads a list of strings and numbers as strings; undefined if the field is missing or null. */
export function readTexts({ where, fields }: Line, name: string): string[] | undefined {
  const value = fields[name]
  if (value === undefined || value === null) return undefined
  if (Array.isArray(value) && value.every(isName)) return value.map(String)
  throw new ReplayError(`${where}: "${name}" is not a list of texts`)
}

/** Reads a request as a client sent it; undefined if the field is missing or null. */
export function readSentRequest({ where, fields }: Line, name: string): SentRequest | undefined {
  const value = fields[name]
  if (value === undefined || value === null) return undefined
  const { path, body } = value as { path?: unknown; body?: unknown }
  if (typeof path === 'string' && isObject(body)) return { path, body }
  throw new ReplayError(`${where}: "${name}" is not an object of a "path", a string, and a "body", an object`)
}

/** Reads the stretches of a block; undefined if the field is missing or null. */
export function readStretches({ where, fields }: Line, name: string): Stretch[] | undefined {
  const value = fields[name]
  if (value === undefined || value === null) return undefined
  if (Array.isArray(value) && value.length > 0 && value.every(isStretch)) {
    return value.map(([key, characters]) => ({ key, characters }))
  }
  throw new ReplayError(`${where}: "${name}" is not a list of pairs of a string and a number of characters`)
}

function isStretch(value: unknown): value is [string, number] {
  if (!Array.isArray(value) || value.length !== 2) return false
  const [key, characters] = value as unknown[]
  return typeof key === 'string' && Number.isSafeInteger(characters) && (characters as number) > 0
}

/** Reads a string or number as written; undefined if the field is missing or null. */
export function readName({ where, fields }: Line, name: string): string | number | undefined {
  const value = fields[name]
  if (value === undefined || value === null) return undefined
  if (!isName(value)) throw new ReplayError(`${where}: "${name}" ${notAName}`)
  return value
}

/** Reads a required list of ids, as written. */
export function readNames({ where, fields }: Line, name: string): (string | number)[] {
  const value = fields[name]
  if (!Array.isArray(value)) throw new ReplayError(`${where}: "${name}", a list of block ids, is missing`)
  for (const id of value) {
    if (!isName(id)) {
      const why = typeof id === 'number' ? 'is too large a number: write it as a string' : notAName
      throw new ReplayError(`${where}: block id ${typeof id === 'number' ? id : JSON.stringify(id)} ${why}`)
    }
  }
  return value
}

/** Integers beyond 2^53 are not names, because JSON parsing has already merged them with their neighbours. */
export function isName(value: unknown): value is string | number {
  if (typeof value === 'string') return true
  return (
    typeof value === 'number' && Number.isFinite(value) && (Number.isSafeInteger(value) || !Number.isInteger(value))
  )
}
