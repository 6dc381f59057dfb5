import { isCount, isObject } from '#engine-adapters/json-object.ts'
import { noCounts, type OrderCounts, type OrderEvidence } from './order-evidence.ts'
import type { Relevance } from './relevance.ts'

const version = 3
const mostTexts = 250
/** Beyond what a wager ever has. */
const mostLog = 10

/** Counts of evidence as a whole. */
interface Judged {
  requests: number
  judged: number
  isSet: boolean
}

/** All that is counted in plain numbers. */
const noNumbers = { ...noCounts, requests: 0, judged: 0, documentTexts: 0, questionTexts: 0 }

/** Writes evidence as a value for JSON: counts, and the columns of its tables without the zeros at their ends. */
export function packRecord({ requests, judged, isSet }: Judged, order: OrderEvidence, relevance: Relevance): unknown {
  const { inDocuments, inQuestions } = relevance
  const texts = { documentTexts: inDocuments.texts, questionTexts: inQuestions.texts }
  return {
    version,
    isSet,
    numbers: { ...order.counts, requests, judged, ...texts },
    columns: Object.fromEntries(columnsOf(order, relevance).map(([name, bytes]) => [name, pack(bytes)])),
  }
}

/** Fills what is new with a record; undefined if it is none, and then what was to be filled is not to be used. */
export function unpackRecord(value: unknown, order: OrderEvidence, relevance: Relevance): Judged | undefined {
  if (!isObject(value) || value.version !== version || typeof value.isSet !== 'boolean') return undefined
  const { isSet, columns } = value
  // what was not counted then is 0
  const numbers: unknown = isObject(value.numbers) && { ...noNumbers, ...value.numbers }
  if (!areNumbers(numbers) || !isObject(columns)) return undefined
  if (!columnsOf(order, relevance).every(([name, bytes]) => unpack(columns[name], bytes))) return undefined
  const { inDocuments, inQuestions, member, rank } = relevance
  if (![...member.logs, ...rank.logs].every((log) => Math.abs(log) < mostLog)) return undefined
  for (const name of Object.keys(noCounts) as (keyof OrderCounts)[]) order.counts[name] = numbers[name]
  inDocuments.texts = Math.min(mostTexts, numbers.documentTexts)
  inQuestions.texts = Math.min(mostTexts, numbers.questionTexts)
  return { requests: numbers.requests, judged: numbers.judged, isSet }
}

function columnsOf({ rows, states }: OrderEvidence, { inDocuments, inQuestions, member, rank }: Relevance) {
  const words = { inDocuments: inDocuments.rows, inQuestions: inQuestions.rows }
  return Object.entries({ lists: rows, states, ...words, member: member.logs, rank: rank.logs }).map(
    ([name, { buffer }]) => [name, new Uint8Array(buffer)] as const,
  )
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

function areNumbers(value: unknown): value is typeof noNumbers {
  return isObject(value) && Object.keys(noNumbers).every((name) => isCount(value[name]))
}
