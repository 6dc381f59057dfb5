import { isObject } from '#engine-adapters/json-object.ts'
import { mostListed, noCounts, type OrderCounts, type OrderEvidence, remembered } from './order-evidence.ts'
import type { Relevance } from './relevance.ts'

const version = 1
const mostCount = 2 ** 40

interface Kept {
  readonly requests: number
  readonly judged: number
  readonly isSet: boolean
  readonly order: OrderEvidence
  readonly relevance: Relevance
}

/** Longest text of each column. */
const lengths = {
  keys: 8 * remembered.documents,
  last: 4 * remembered.documents,
  seen: remembered.documents,
  followers: 8 * remembered.documents,
  parted: remembered.documents,
  taken: 2 * remembered.documents,
  pairs: remembered.documents ** 2 / 8,
  lists: 4 * remembered.lists * (mostListed + 2),
  inDocuments: 2 * 4_096,
  inQuestions: 2 * 1_024,
} as const
type Column = keyof typeof lengths

export function packRecord({ requests, judged, isSet, order, relevance }: Kept): unknown {
  const { documents, pairs, recent } = order
  const used = documents.size
  const columns: Record<Column, string> = {
    keys: pack(documents.keys.subarray(0, used)),
    last: pack(documents.last.subarray(0, used)),
    seen: pack(documents.seen.subarray(0, used)),
    followers: pack(documents.followers.subarray(0, used)),
    parted: pack(documents.parted.subarray(0, used)),
    taken: pack(Uint16Array.from(documents.taken())),
    pairs: pack(pairs.toBytes()),
    lists: pack(recent.rows.subarray(0, Math.min(recent.noted, remembered.lists) * (mostListed + 2))),
    inDocuments: pack(relevance.inDocuments.rows),
    inQuestions: pack(relevance.inQuestions.rows),
  }
  const numbers = {
    ...{ requests, judged, noted: recent.noted, ...order.counts },
    ...{ documentTexts: relevance.inDocuments.texts, questionTexts: relevance.inQuestions.texts },
  }
  return { version, isSet, numbers, wagers: [[...relevance.member.logs], [...relevance.rank.logs]], columns }
}

/** Fills what is new with a record; undefined if it is none, and then what was to be filled is not to be used. */
export function unpackRecord(
  value: unknown,
  order: OrderEvidence,
  relevance: Relevance,
): { requests: number; judged: number; isSet: boolean } | undefined {
  if (!isObject(value) || value.version !== version || typeof value.isSet !== 'boolean') return undefined
  const numbers = readNumbers(value.numbers)
  const columns = readColumns(value.columns)
  const wagers = readWagers(value.wagers)
  if (numbers === undefined || columns === undefined || wagers === undefined) return undefined
  if (!restoreOrder(order, columns, numbers)) return undefined
  relevance.inDocuments.restore(columns.inDocuments, Math.min(250, numbers.documentTexts))
  relevance.inQuestions.restore(columns.inQuestions, Math.min(250, numbers.questionTexts))
  relevance.member.restore(wagers[0])
  relevance.rank.restore(wagers[1])
  return { requests: numbers.requests, judged: numbers.judged, isSet: value.isSet }
}

const otherNumbers = { requests: 0, judged: 0, noted: 0, documentTexts: 0, questionTexts: 0 } as const
type Numbers = Record<keyof OrderCounts | keyof typeof otherNumbers, number>

function readNumbers(value: unknown): Numbers | undefined {
  if (!isObject(value)) return undefined
  const names = [...Object.keys(noCounts), ...Object.keys(otherNumbers)]
  const isCount = (count: unknown): boolean =>
    Number.isInteger(count) && (count as number) >= 0 && (count as number) <= mostCount
  return names.every((name) => isCount(value[name])) ? (value as Numbers) : undefined
}

function readWagers(value: unknown): readonly [number[], number[]] | undefined {
  const isLogs = (logs: unknown): logs is number[] =>
    Array.isArray(logs) && logs.length === 2 && logs.every((log) => Number.isFinite(log))
  return Array.isArray(value) && value.length === 2 && isLogs(value[0]) && isLogs(value[1])
    ? [value[0], value[1]]
    : undefined
}

function readColumns(value: unknown): Record<Column, Uint8Array> | undefined {
  if (!isObject(value)) return undefined
  const columns = Object.entries(lengths).map(([name, length]) => {
    const text = value[name]
    if (typeof text !== 'string' || text.length > Math.ceil(length / 3) * 4) return undefined
    return [name, Uint8Array.from(Buffer.from(text, 'base64'))] as const
  })
  if (!columns.every((column) => column !== undefined)) return undefined
  const read = Object.fromEntries(columns) as Record<Column, Uint8Array>
  const isWhole = read.inDocuments.length === lengths.inDocuments && read.inQuestions.length === lengths.inQuestions
  return isWhole && Object.entries(read).every(([name, bytes]) => bytes.length <= lengths[name as Column])
    ? read
    : undefined
}

/** Returns whether the columns belong together. */
function restoreOrder(order: OrderEvidence, columns: Record<Column, Uint8Array>, numbers: Numbers): boolean {
  const { documents, pairs, recent } = order
  const used = columns.seen.length
  const taken = [...toWords16(columns.taken)]
  const rows = 4 * (mostListed + 2)
  const fits =
    columns.keys.length === 8 * used &&
    columns.followers.length === 8 * used &&
    columns.last.length === 4 * used &&
    columns.parted.length === used &&
    taken.length === used &&
    new Set(taken).size === used &&
    taken.every((slot) => slot < used) &&
    columns.lists.length === rows * Math.min(numbers.noted, remembered.lists)
  if (!fits) return false
  documents.keys.set(new Float64Array(columns.keys.buffer))
  documents.followers.set(new Float64Array(columns.followers.buffer))
  documents.last.set(new Uint32Array(columns.last.buffer))
  documents.seen.set(columns.seen)
  documents.parted.set(columns.parted)
  documents.restore(taken)
  pairs.restore(columns.pairs)
  const lists = new Uint32Array(columns.lists.buffer)
  for (let at = 1; at < lists.length; at += mostListed + 2) lists[at] = Math.min(lists[at]!, mostListed)
  recent.restore(lists, numbers.noted)
  for (const name of Object.keys(noCounts) as (keyof OrderCounts)[]) order.counts[name] = numbers[name]
  return documents.size === used
}

function pack(column: Uint8Array | Uint16Array | Uint32Array | Float64Array): string {
  return Buffer.from(column.buffer, column.byteOffset, column.byteLength).toString('base64')
}

function toWords16(bytes: Uint8Array): Uint16Array {
  return new Uint16Array(bytes.buffer, 0, bytes.length >> 1)
}
