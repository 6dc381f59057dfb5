import { isUtf8 } from 'node:buffer'
import { isObject, type Json } from '#engine-adapters/json-object.ts'
import { ProxyError } from '../errors.ts'

/** The path of a value in a JSON document: keys and indices from the root. */
export type JsonPath = readonly (string | number)[]

/** Returns the members of a value; none if it is not an object. */
export function toObject(value: unknown): Readonly<Json> {
  return isObject(value) ? value : {}
}

/** Returns the elements of a value; none if it is not an array. */
export function toArray(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}

/** Decodes a request body. Throws `invalid_body` if it is not UTF-8. */
export function decodeBody(body: Buffer): string {
  if (!isUtf8(body)) throw notUtf8()
  return body.toString()
}

export function notUtf8(): ProxyError {
  return new ProxyError('invalid_body', 'The request body is not valid JSON: it is not UTF-8.')
}

/** Parses a request body. Throws `invalid_body` if it is not JSON. */
export function parseJson(body: string): unknown {
  try {
    return JSON.parse(body)
  } catch (cause) {
    throw new ProxyError('invalid_body', `The request body is not valid JSON: ${(cause as Error).message}`, { cause })
  }
}

/** Options for our own schemas: skip compiling the meta-schema at each start. Unknown keywords are still reported. */
export const ownSchemas: { readonly meta: false; readonly validateSchema: false } = {
  meta: false,
  validateSchema: false,
}
