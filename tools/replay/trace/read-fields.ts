import { isCount, isObject } from '#engine-adapters/json-object.ts'
import { ConfigError } from '#proxy/common/errors.ts'
import type { Line } from './read-json-lines.ts'
import type { SentRequest } from './trace.ts'

/** Reads a field of a line; undefined if it is missing or null. Throws a `ConfigError` if it is something else. */
type FieldReader<T> = (line: Line, name: string) => T | undefined

const notAName = 'is neither a string nor a number'

export const readText: FieldReader<string> = fieldReader((value) => typeof value === 'string', 'is not a string')

/** Finite ones only: JSON parsing turns 1e999 into infinity. */
export const readNumber: FieldReader<number> = fieldReader(
  (value): value is number => Number.isFinite(value),
  'is not a number',
)

export const readFlag: FieldReader<boolean> = fieldReader(
  (value) => typeof value === 'boolean',
  'is neither true nor false',
)

/** Reads a string or number as written. */
export const readName: FieldReader<string | number> = fieldReader(isName, notAName)

export const readTexts: FieldReader<(string | number)[]> = fieldReader(
  (value) => isListOf(value, isName),
  'is not a list of texts',
)

/** Reads a request as a client sent it. */
export const readSentRequest: FieldReader<SentRequest> = fieldReader(
  (value): value is SentRequest => isObject(value) && typeof value.path === 'string' && isObject(value.body),
  'is not an object of a "path", a string, and a "body", an object',
)

export const readStretches: FieldReader<[key: string, characters: number][]> = fieldReader(
  (value): value is [key: string, characters: number][] => isListOf(value, isStretch) && value.length > 0,
  'is not a list of pairs of a string and a number of characters',
)

/** Reads fields whose values satisfy `is`; `fault` says what others are. */
export function fieldReader<T>(is: (value: unknown) => value is T, fault: string): FieldReader<T> {
  return ({ where, fields }, name) => {
    const value = fields[name]
    if (value === undefined || value === null) return undefined
    if (is(value)) return value
    throw new ConfigError(`${where}: "${name}" ${fault}`)
  }
}

/** Reads a required number of tokens or characters. */
export function readCount({ where, fields }: Line, name: string): number {
  const value = fields[name]
  if (isCount(value)) return value
  throw new ConfigError(`${where}: "${name}" is not a whole number of at least 0`)
}

/** Reads a required list of ids, as written. */
export function readNames({ where, fields }: Line, name: string): (string | number)[] {
  const value = fields[name]
  if (!Array.isArray(value)) throw new ConfigError(`${where}: "${name}", a list of block ids, is missing`)
  for (const id of value) {
    if (!isName(id)) {
      const why = typeof id === 'number' ? 'is too large a number: write it as a string' : notAName
      throw new ConfigError(`${where}: block id ${typeof id === 'number' ? id : JSON.stringify(id)} ${why}`)
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

export function isListOf<T>(value: unknown, isMember: (member: unknown) => member is T): value is T[] {
  return Array.isArray(value) && value.every(isMember)
}

function isStretch(value: unknown): value is [key: string, characters: number] {
  if (!Array.isArray(value) || value.length !== 2) return false
  const [key, characters] = value as unknown[]
  return typeof key === 'string' && isCount(characters) && characters > 0
}
