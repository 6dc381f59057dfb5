import { isObject } from '#engine-adapters/json-object.ts'
import { noCounts, type OrderCounts, type OrderEvidence } from './order-evidence.ts'
import type { Relevance } from './relevance.ts'

const version = 3
const mostCount = 2 ** 40
const mostTexts = 250

/** Counts of evidence as a whole. */
interface Judged {
  readonly requests: number
  readonly judged: number
  readonly isSet: boolean
}

type Numbers = Record<keyof OrderCounts | 'requests' | 'judged' | 'documentTexts' | 'questionTexts', number>

/** Writes evidence as a value for JSON: counts, and the columns of its tables without the zeros at their ends. */
export function packRecord({ requests, judged, isSet }: Judged, order: OrderEvidence, relevance: Relevance): unknown {
  const numbers: Numbers = {
    ...order.counts,
    ...{ requests, judged, documentTexts: relevance.inDocuments.texts, questionTexts: relevance.inQuestions.texts },
  }
  return {
    version,
    isSet,
    numbers,
    wagers: [[...relevance.member.logs], [...relevance.rank.logs]],
    columns: Object.fromEntries(columnsOf(order, relevance).map(([name, bytes]) => [name, pack(bytes)])),
  }
}

/** Fills what is new with a record; undefined if it is none, and then what was to be filled is not to be used. */
export function unpackRecord(value: unknown, order: OrderEvidence, relevance: Relevance): Judged | undefined {
  if (!isObject(value) || value.version !== version || typeof value.isSet !== 'boolean') return undefined
  const { isSet, numbers, wagers, columns } = value
  if (!areNumbers(numbers) || !isObject(columns) || !areWagers(wagers)) return undefined
  if (!columnsOf(order, relevance).every(([name, bytes]) => unpack(columns[name], bytes))) return undefined
  for (const name of Object.keys(noCounts) as (keyof OrderCounts)[]) order.counts[name] = numbers[name]
  relevance.inDocuments.texts = Math.min(mostTexts, numbers.documentTexts)
  relevance.inQuestions.texts = Math.min(mostTexts, numbers.questionTexts)
  relevance.member.restore(wagers[0])
  relevance.rank.restore(wagers[1])
  return { requests: numbers.requests, judged: numbers.judged, isSet }
}

function columnsOf({ rows, states }: OrderEvidence, { inDocuments, inQuestions }: Relevance) {
  const columns = { lists: rows, states, inDocuments: inDocuments.rows, inQuestions: inQuestions.rows }
  return Object.entries(columns).map(([name, { buffer }]) => [name, new Uint8Array(buffer)] as const)
}

function pack(bytes: Uint8Array): string {
  const used = bytes.findLastIndex((byte) => byte !== 0) + 1
  return Buffer.from(bytes.buffer, 0, used).toString('base64')
}

/** Fills a column; returns false if the value is none for it. */
function unpack(value: unknown, column: Uint8Array): boolean {
  if (typeof value !== 'string' || value.length > Math.ceil(column.length / 3) * 4) return false
  const bytes = Buffer.from(value, 'base64')
  if (bytes.length > column.length) return false
  column.set(bytes)
  return true
}

function areNumbers(value: unknown): value is Numbers {
  const names = [...Object.keys(noCounts), 'requests', 'judged', 'documentTexts', 'questionTexts']
  const isCount = (count: unknown): boolean =>
    Number.isInteger(count) && (count as number) >= 0 && (count as number) <= mostCount
  return isObject(value) && names.every((name) => isCount(value[name]))
}

function areWagers(value: unknown): value is readonly [number[], number[]] {
  const isLogs = (logs: unknown): boolean => Array.isArray(logs) && logs.length === 2 && logs.every(Number.isFinite)
  return Array.isArray(value) && value.length === 2 && value.every(isLogs)
}
