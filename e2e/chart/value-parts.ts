import * as patterns from './value-patterns.ts'

/** A JSON Schema, or a part of one. */
export type Json = Readonly<Record<string, unknown>>

export const text: Json = { type: 'string' }
export const name: Json = { type: 'string', minLength: 1 }
export const flag: Json = { type: 'boolean' }
export const share: Json = { type: 'number', minimum: 0 }
// Kubernetes itself checks what these contain
export const map: Json = { type: 'object' }
export const named: Json = matching(patterns.objectName)
export const annotations: Json = {
  type: 'object',
  propertyNames: { pattern: patterns.labelKey },
  additionalProperties: text,
}
export const labels: Json = { ...annotations, additionalProperties: matching(patterns.labelValue) }
export const list: Json = { type: 'array' }
export const path: Json = { type: 'string', pattern: '^/' }
export const quantity: Json = { type: ['string', 'integer'] }
export const portOrShare: Json = { type: ['string', 'integer'] }

export function matching(pattern: string): Json {
  return { type: 'string', pattern }
}

export function whole(minimum: number, maximum?: number): Json {
  return { type: 'integer', minimum, ...(maximum === undefined ? {} : { maximum }) }
}

export function oneOf(...values: string[]): Json {
  return { enum: values }
}

export function listOf(items: Json): Json {
  return { type: 'array', items }
}

export function only(properties: Readonly<Record<string, Json>>): Json {
  return { type: 'object', additionalProperties: false, properties }
}

export const port: Json = whole(1, 65_535)
const selector = only({ matchLabels: labels, matchExpressions: list })
const peers = listOf(
  only({
    ipBlock: {
      ...only({ cidr: matching(patterns.range), except: listOf(matching(patterns.range)) }),
      required: ['cidr'],
    },
    namespaceSelector: selector,
    podSelector: selector,
  }),
)
const portOrName = { anyOf: [port, { type: 'string', pattern: '^[a-z0-9]([a-z0-9-]{0,13}[a-z0-9])?$' }] }
/** A NetworkPolicy's rules. */
export const networkPolicy: Json = only({
  enabled: flag,
  apps: peers,
  admin: peers,
  egress: listOf(
    only({
      to: peers,
      ports: listOf(only({ port: portOrName, endPort: port, protocol: oneOf('TCP', 'UDP', 'SCTP') })),
    }),
  ),
  // its members are no values of the chart's own
  engines: only({ podSelector: { allOf: [selector] }, port }),
})
