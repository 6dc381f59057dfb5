/** An object of a JSON text. */
export type Json = Record<string, unknown>

/** Returns whether a value of a JSON text is an object, and no list. */
export function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Returns the value of a JSON text; undefined if it is not JSON. */
export function tryJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Returns the object of a JSON text; undefined if it is none. */
export function tryObject(text: string): Json | undefined {
  const value = tryJson(text)
  return isObject(value) ? value : undefined
}

/** Returns whether a value of a JSON text is a whole number that can count something. */
export function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0
}
