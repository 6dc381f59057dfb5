import { Ajv, type SchemaObject } from 'ajv'
import type { AnyPositionReuse } from '#engine-adapters/any-position-reuse.ts'
import { ownSchemas } from '../../common/json/json-value.ts'

/** A report in which only what is off is left out. */
export type KnownReuse = AnyPositionReuse & Required<Pick<AnyPositionReuse, 'min_ratio'>>

const share = { type: 'number', minimum: 0, maximum: 1 }

/** The schema of a report; compile it with `$data`. */
export const reuseReport: SchemaObject = {
  type: 'object',
  required: ['ratio', 'max_ratio'],
  properties: {
    ratio: { ...share, allOf: [{ minimum: { $data: '1/min_ratio' }, maximum: { $data: '1/max_ratio' } }] },
    min_ratio: share,
    max_ratio: share,
    users: { type: 'boolean' },
    question: { type: 'boolean' },
    remote: { type: 'boolean' },
  },
}

const ajv = new Ajv({ ...ownSchemas, $data: true })

/** Returns whether a value is a valid report. */
export function isReuseReport(value: unknown): value is AnyPositionReuse {
  return ajv.validate(reuseReport, value)
}

/** Returns what is known of a report, without what is off. */
export function knownOf({ ratio, min_ratio = 0, max_ratio, users, question, remote }: AnyPositionReuse): KnownReuse {
  const also = { ...(users && { users }), ...(question && { question }), ...(remote && { remote }) }
  return { ratio, min_ratio, max_ratio, ...also }
}
