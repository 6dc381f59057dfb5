/** JSON Schema of an answer. */
export type Schema = Readonly<Record<string, unknown>>

export const integer: Schema = { type: 'integer' }
export const number: Schema = { type: 'number' }
export const text: Schema = { type: 'string' }
export const flag: Schema = { type: 'boolean' }

/** A schema of the document, by its name. */
export function reference(name: string): Schema {
  return { $ref: `#/components/schemas/${name}` }
}

export function list(items: Schema): Schema {
  return { type: 'array', items }
}

export function oneOf(...words: readonly string[]): Schema {
  return { type: 'string', enum: words }
}

export function orNull(schema: Schema): Schema {
  return { anyOf: [schema, { type: 'null' }] }
}

/** An object with values of one kind, whatever their names. */
export function byName(values: Schema): Schema {
  return { type: 'object', additionalProperties: values }
}

/** An object that has all of these members, may have those of `others`, and has no more. */
export function object(
  members: Readonly<Record<string, Schema>>,
  others: Readonly<Record<string, Schema>> = {},
): Schema {
  const properties = { ...members, ...others }
  return { type: 'object', required: Object.keys(members), properties, additionalProperties: false }
}

/** An object whose members are those of an example, all of one kind. */
export function like(example: object, kind: Schema = integer): Readonly<Record<string, Schema>> {
  return Object.fromEntries(Object.keys(example).map((name) => [name, kind]))
}

/** Rewrites what Ajv understands and OpenAPI does not: `nullable`, and limits that other members set. */
export function portable(schema: unknown): Schema {
  if (Array.isArray(schema)) return schema.map(portable) as unknown as Schema
  if (schema === null || typeof schema !== 'object') return schema as unknown as Schema
  const { nullable, allOf, ...rest } = schema as Record<string, unknown>
  const kept = JSON.stringify(allOf)?.includes('$data') ? rest : { ...rest, ...(allOf === undefined ? {} : { allOf }) }
  const members = Object.entries(kept).map(([name, value]) => [name, portable(value)])
  const written = Object.fromEntries(members) as Schema
  return nullable === true ? orNull(written) : written
}
