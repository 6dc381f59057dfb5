import { isObject, type Json } from '#engine-adapters/json-object.ts'
import type { SettingPath } from './faults/check-settings.ts'

/** The value at a path; undefined if there is none. */
export function valueAt(settings: unknown, path: SettingPath): unknown {
  return path.reduce<unknown>((value, key) => (value as Json | null | undefined)?.[key], settings)
}

/** Sets the value at a path of names; creates missing groups. */
export function setAt(settings: object, path: readonly string[], value: unknown): void {
  const last = path.at(-1)
  if (last === undefined) return
  let inner = settings
  for (const key of path.slice(0, -1)) {
    const below: unknown = Reflect.get(inner, key)
    const copy = isObject(below) ? { ...below } : {}
    Reflect.set(inner, key, copy)
    inner = copy
  }
  Reflect.set(inner, last, value)
}

/** Merges `over` into `under`: groups are merged; everything else, including lists, is replaced. */
export function mergeSettings(under: Readonly<Json>, over: Readonly<Json>): Json {
  const merged: Json = { ...under }
  for (const [key, value] of Object.entries(over)) {
    const below = merged[key]
    merged[key] = isObject(below) && isObject(value) ? mergeSettings(below, value) : value
  }
  return merged
}

/** The paths of all values that differ between two settings; compares groups member by member, lists as a whole. */
export function differingPaths(a: Readonly<Json>, b: Readonly<Json>, path: readonly string[] = []): string[] {
  return [...new Set([...Object.keys(a), ...Object.keys(b)])].flatMap((key) => {
    const [left, right] = [a[key], b[key]]
    if (isObject(left) && isObject(right)) return differingPaths(left, right, [...path, key])
    return JSON.stringify(left) === JSON.stringify(right) ? [] : [[...path, key].join('.')]
  })
}
