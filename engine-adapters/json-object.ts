/** An object of a JSON text. */
export type Json = Record<string, unknown>

/** Returns whether a value of a JSON text is an object, and no list. */
export function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Returns whether a value of a JSON text is a whole number that can count something. */
export function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0
}
