import { Ajv, type SchemaObject } from 'ajv'
import type { AnyPositionReuse } from '#engine-adapters/any-position-reuse.ts'
import { ownSchemas } from '../../common/json/json-value.ts'

/**
 * Report of an engine that reuses KV at any position: the share it recomputes, and the minimum and maximum share that a
 * request can ask for.
 */
export interface ReuseReport {
  readonly ratio: number
  /** default: 0 */
  readonly min_ratio?: number
  readonly max_ratio: number
  /** whether it asks whose a request is */
  readonly users?: boolean
  /** whether it reads where the question stands */
  readonly question?: boolean
  /** whether it reads what other engines have stored in a place that they share */
  readonly remote?: boolean
}

/** A report in which only what is off is left out. */
export type FullReuseReport = ReuseReport & Required<Pick<ReuseReport, 'min_ratio'>>

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
export function isReuseReport(value: unknown): value is ReuseReport {
  return ajv.validate(reuseReport, value)
}

/** Converts an engine's report. */
export function fromReport({ ratio, min_ratio, max_ratio, users, question, remote }: ReuseReport): AnyPositionReuse {
  const also = {
    ...(users && { asksForUser: true }),
    ...(question && { readsQuestion: true }),
    ...(remote && { sharesStore: true }),
  }
  return { ratio, minRatio: min_ratio ?? 0, maxRatio: max_ratio, ...also }
}

/** Converts it back to a report for other proxies and clients. */
export function toReport(reuse: AnyPositionReuse): FullReuseReport {
  const also = {
    ...(reuse.asksForUser && { users: true }),
    ...(reuse.readsQuestion && { question: true }),
    ...(reuse.sharesStore && { remote: true }),
  }
  return { ratio: reuse.ratio, min_ratio: reuse.minRatio, max_ratio: reuse.maxRatio, ...also }
}
