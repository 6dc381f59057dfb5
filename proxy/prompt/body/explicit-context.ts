import { Ajv, type SchemaObject } from 'ajv'
import { ProxyError } from '../../common/errors.ts'
import { ownSchemas } from '../../common/json/json-value.ts'
import { type OptionValue, type RequestOptions, toOptions } from '../../common/request-options.ts'

/** Placeholder that marks where explicit blocks go. */
export const contextPlaceholder = '{{context}}'

/** The body's `reprise` field. Its blocks are given outside the messages and are in rank order. */
export interface ExplicitContext {
  readonly blocks: readonly string[] | undefined
  readonly conversation: string | undefined
  readonly options: RequestOptions
}

interface RepriseField {
  blocks?: { id?: string; text: string; rank?: number }[]
  conversation?: string
  options?: Record<string, OptionValue>
}

const ajv = new Ajv({ ...ownSchemas, allErrors: false, allowUnionTypes: true })
const schema: SchemaObject = {
  type: 'object',
  additionalProperties: false,
  properties: {
    blocks: {
      type: 'array',
      items: {
        type: 'object',
        additionalProperties: false,
        required: ['text'],
        properties: {
          id: { type: ['string', 'number'] },
          text: { type: 'string' },
          rank: { type: 'number' },
        },
      },
    },
    conversation: { type: 'string', minLength: 1 },
    options: { type: 'object', additionalProperties: { type: ['string', 'number', 'boolean'] } },
  },
}

/** Reads the `reprise` field. Returns undefined if there is none. Throws `invalid_body` if it violates its schema. */
export function readExplicitContext(field: unknown): ExplicitContext | undefined {
  if (field === undefined) return undefined
  if (!ajv.validate<RepriseField>(schema, field)) {
    const [error] = ajv.errors!
    const { instancePath, message, params } = error!
    const name = (params as { additionalProperty?: string }).additionalProperty
    const fault = name === undefined ? message : `has the member '${name}', which is not known`
    throw new ProxyError('invalid_body', `'reprise${instancePath}' ${fault}.`)
  }
  return {
    blocks: field.blocks
      ?.map(({ text, rank }, place) => ({ text, rank: rank ?? place }))
      .sort((a, b) => a.rank - b.rank)
      .map(({ text }) => text),
    conversation: field.conversation,
    options: toOptions(Object.entries(field.options ?? {})),
  }
}
