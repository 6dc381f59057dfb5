import { isCount, isObject } from '#engine-adapters/json-object.ts'
import { ConfigError } from '#proxy/common/errors.ts'
import { fieldReader, isListOf, isName } from './read-fields.ts'
import type { Line } from './read-json-lines.ts'
import type { TraceList } from './trace.ts'
import type { TraceBlock } from './trace-block.ts'

const readField = fieldReader(
  isList,
  'is not an object with "blocks" and "shortened", lists of ids and nulls, "labels", ids, "gaps", lists of ids, and "order_tokens"',
)

/** Reads how a list of `count` blocks is marked; undefined if the field is missing or null. */
export function readList(line: Line, count: number, find: (id: string | number) => TraceBlock): TraceList | undefined {
  const value = readField(line, 'list')
  if (value === undefined) return undefined
  const { blocks, labels = [], gaps, shortened, stays = false, order_tokens: orderTokens = 0 } = value
  const isComplete =
    blocks.length === count &&
    gaps.length === Math.max(0, count - 1) &&
    (shortened ?? blocks).length === count &&
    (labels.length === count || ![...blocks, ...(shortened ?? [])].some((pieces) => pieces?.includes(null)))
  if (!isComplete) throw new ConfigError(`${line.where}: "list" does not have as many parts as "blocks"`)
  const findAll = (ids: readonly (Name | null)[]): (TraceBlock | undefined)[] =>
    ids.map((id) => (id === null ? undefined : find(id)))
  return {
    blocks: blocks.map(findAll),
    shortened: (shortened ?? []).map((ids) => (ids ? findAll(ids) : undefined)),
    labels: labels.map(find),
    gaps: gaps.map((ids) => ids.map(find)),
    stays,
    orderTokens,
  }
}

type Name = string | number

interface ListField {
  readonly blocks: readonly (readonly (Name | null)[])[]
  readonly labels?: readonly Name[]
  readonly gaps: readonly (readonly Name[])[]
  readonly shortened?: readonly (readonly (Name | null)[] | null)[]
  readonly stays?: boolean
  readonly order_tokens?: number
}

function isList(value: unknown): value is ListField {
  if (!isObject(value)) return false
  const { blocks, labels = [], gaps, shortened = [], stays = false, order_tokens: tokens = 0 } = value
  return (
    isListOf(blocks, arePieces) &&
    isListOf(shortened, (pieces) => pieces === null || arePieces(pieces)) &&
    isListOf(gaps, (ids) => isListOf(ids, isName)) &&
    isListOf(labels, isName) &&
    typeof stays === 'boolean' &&
    isCount(tokens)
  )
}

function arePieces(value: unknown): value is (Name | null)[] {
  return isListOf(value, (id) => id === null || isName(id))
}
