import { Ajv } from 'ajv'
import { ConfigError } from '#proxy/common/errors.ts'
import { ownSchemas } from '#proxy/common/json/json-value.ts'
import type { Line } from './read-json-lines.ts'
import type { SentRequest } from './trace.ts'

/** The id of a block, as written. */
export type Name = string | number

/** How a list is marked: pieces of its blocks, where null is the label of the block's place. */
interface ListField {
  readonly blocks: readonly (readonly (Name | null)[])[]
  readonly labels?: readonly Name[]
  readonly gaps: readonly (readonly Name[])[]
  readonly shortened?: readonly (readonly (Name | null)[] | null)[]
  readonly stays?: boolean
  readonly order_tokens?: number
}

type Schema = Readonly<Record<string, unknown>>

const list = (items: Schema): Schema => ({ type: 'array', items })
const nothing = { type: 'null' }
const text = { type: 'string' }
const flag = { type: 'boolean' }
const most = Number.MAX_SAFE_INTEGER
const count = { type: 'integer', minimum: 0, maximum: most }
// JSON parsing has already merged larger numbers with their neighbours
const name = { anyOf: [text, { type: 'number', minimum: -most, maximum: most }] }
const pieces = list({ anyOf: [name, nothing] })
const marked = {
  type: 'object',
  required: ['blocks', 'gaps'],
  properties: {
    blocks: list(pieces),
    shortened: list({ anyOf: [pieces, nothing] }),
    gaps: list(list(name)),
    labels: list(name),
    stays: flag,
    order_tokens: count,
  },
}
const sent = { type: 'object', required: ['path', 'body'], properties: { path: text, body: { type: 'object' } } }
const stretch = { type: 'array', items: [text, { ...count, minimum: 1 }], minItems: 2, additionalItems: false }

/** Reads a field of a line; undefined if it is missing or null. Throws a `ConfigError` if it is something else. */
type FieldReader<T> = (line: Line, field: string) => T | undefined

// 1e999 is no number: parsing turns it into infinity
const ajv = new Ajv({ ...ownSchemas, strictTuples: false })

function fieldReader<T>(schema: Schema, fault: string): FieldReader<T> {
  return ({ where, fields }, field) => {
    const value = fields[field]
    if (value === undefined || value === null) return undefined
    if (ajv.validate<T>(schema, value)) return value
    throw new ConfigError(`${where}: "${field}" ${fault}`)
  }
}

const notAName = 'is neither a string nor a number'
export const readName: FieldReader<Name> = fieldReader(name, notAName)
export const readText: FieldReader<string> = fieldReader(text, 'is not a string')
export const readTexts: FieldReader<Name[]> = fieldReader(list(name), 'is not a list of texts')
export const readNumber: FieldReader<number> = fieldReader({ type: 'number' }, 'is not a number')
export const readCount: FieldReader<number> = fieldReader(count, 'is not a whole number of at least 0')
export const readFlag: FieldReader<boolean> = fieldReader(flag, 'is neither true nor false')
/** Reads a request as a client sent it. */
export const readSentRequest: FieldReader<SentRequest> = fieldReader(
  sent,
  'is not an object of a "path", a string, and a "body", an object',
)
export const readStretches: FieldReader<[key: string, characters: number][]> = fieldReader(
  { ...list(stretch), minItems: 1 },
  'is not a list of pairs of a string and a number of characters',
)
export const readListField: FieldReader<ListField> = fieldReader(
  marked,
  'is not an object with "blocks" and "shortened", lists of ids and nulls, "labels", ids, "gaps", lists of ids, and "order_tokens"',
)

/** Reads a required list of ids. */
export function readNames({ where, fields }: Line, field: string): Name[] {
  const value = fields[field]
  if (!Array.isArray(value)) throw new ConfigError(`${where}: "${field}", a list of block ids, is missing`)
  for (const id of value) {
    if (ajv.validate(name, id)) continue
    const why = typeof id === 'number' ? 'is too large a number: write it as a string' : notAName
    throw new ConfigError(`${where}: block id ${typeof id === 'number' ? id : JSON.stringify(id)} ${why}`)
  }
  return value
}
