import { isObject, type Json } from '#engine-adapters/json-object.ts'

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
