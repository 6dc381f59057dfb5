/** Where a value stands in a JSON document: keys and places from the root on. */
export type JsonPath = readonly (string | number)[]

/** The members of a value; none when it is no object. */
export function toObject(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}
}

/** The elements of a value; none when it is no array. */
export function toArray(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}

/** The value of a JSON text; undefined when it is none. */
export function parseAnswer(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    // whatever the engine says is passed on
    return undefined
  }
}
