import { isObject, type Json, tryObject } from '#engine-adapters/json-object.ts'

/** The models that an engine serves. */
export interface ServedModels {
  readonly names: ReadonlySet<string>
  /** what `GET /v1/models` lists, in the engine's own words and order */
  readonly entries: readonly Json[]
  /** equal for engines that serve the same */
  readonly key: string
}

/** The models that the configuration names for an engine. */
export function toStatedModels(names: readonly string[]): ServedModels {
  return toServedModels(names.map((id) => ({ id, object: 'model', created: 0, owned_by: 'reprise' })))
}

/** Reads an engine's answer to `GET /v1/models`, adapters included; undefined if it lists no model. */
export function readModels(text: string): ServedModels | undefined {
  const data = tryObject(text)?.data
  const entries = (Array.isArray(data) ? data : []).filter(
    (entry): entry is Json => isObject(entry) && typeof entry.id === 'string',
  )
  return entries.length > 0 ? toServedModels(entries) : undefined
}

function toServedModels(entries: readonly Json[]): ServedModels {
  const names = new Set(entries.map(({ id }) => id as string))
  return { names, entries, key: JSON.stringify([...names].sort()) }
}
