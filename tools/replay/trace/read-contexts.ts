import { Ajv } from 'ajv'
import type { BlockId } from '#index/context-block.ts'
import { ConfigError } from '#proxy/common/errors.ts'
import { ownSchemas } from '#proxy/common/json/json-value.ts'
import type { Line } from './read-json-lines.ts'
import {
  defaultTenant,
  keyOf,
  type SentRequest,
  type Trace,
  TraceBlock,
  type TraceList,
  type TraceRequest,
} from './trace.ts'

/** What to do with unknown blocks: count them as one token, leave out the requests that name them, or throw. */
type UnknownBlocks = 'one_token' | 'leave_out' | 'refuse'

/**
 * Reads lines of blocks. In a damaged file, one may be given twice: recorders estimate its size again after a disk
 * failure, and the first counts.
 */
export function readBlocks(
  lines: readonly Line[],
  unknown: UnknownBlocks,
  isDamaged: boolean,
): Map<BlockId, TraceBlock> {
  const blocks = new Map<BlockId, TraceBlock>()
  for (const line of lines) {
    const block = readBlock(line, unknown)
    const known = blocks.get(block.key)
    if (!known) blocks.set(block.key, block)
    else if (isDamaged) continue
    else if (known.text !== block.text || (block.text === undefined && known.tokens !== block.tokens)) {
      throw new ConfigError(`${line.where}: block ${block.key} was given before, with another content`)
    }
  }
  return blocks
}

function readBlock(line: Line, unknown: UnknownBlocks): TraceBlock {
  const id = readName(line, 'id')
  if (id === undefined) throw new ConfigError(`${line.where}: a block needs an "id", a string or a number`)
  const text = readText(line, 'text')
  const tokens = readCount(line, 'tokens')
  if (text === undefined && tokens === undefined) {
    if (unknown === 'one_token') return new TraceBlock(id, { tokens: 1 })
    throw new ConfigError(`${line.where}: block ${JSON.stringify(id)} has neither "text" nor "tokens"`)
  }
  const stretches = readStretches(line, 'stretches')?.map(([key, characters]) => ({ key, characters }))
  return new TraceBlock(id, { text, tokens, characters: readCount(line, 'characters'), stretches })
}

/** Reads request lines and sorts them by arrival. `incomplete`: requests left out because of unknown blocks. */
export function readContexts(
  lines: readonly Line[],
  blocks: Map<BlockId, TraceBlock>,
  unknown: UnknownBlocks,
): Pick<Trace, 'requests' | 'skipped'> & { readonly incomplete: number } {
  const wanted = lines.filter(({ fields }) => fields.has_text !== false)
  const arrivals: { readonly arrival: number; readonly request: TraceRequest }[] = []
  for (const [at, line] of wanted.entries()) {
    let isComplete = true
    const request = readRequest(line, (id) => {
      const known = blocks.get(keyOf(id))
      if (known) return known
      if (unknown === 'refuse') {
        throw new ConfigError(`${line.where}: block ${JSON.stringify(id)} is not in the trace's blocks file`)
      }
      const block = new TraceBlock(id, { tokens: 1 })
      if (unknown === 'one_token') blocks.set(block.key, block)
      else isComplete = false
      return block
    })
    if (isComplete) arrivals.push({ arrival: readNumber(line, 'arrival') ?? at, request })
  }
  arrivals.sort((a, b) => a.arrival - b.arrival)
  return {
    requests: arrivals.map(({ request }) => request),
    skipped: lines.length - wanted.length,
    incomplete: wanted.length - arrivals.length,
  }
}

function readRequest(line: Line, find: (id: Name) => TraceBlock): TraceRequest {
  const { blocks: own, top100, front, rest } = line.fields
  const conversation = readName(line, 'conversation')
  const blocks = readNames(line, own === undefined && top100 !== undefined ? 'top100' : 'blocks')
  const hasAround = front !== undefined || rest !== undefined
  return {
    queryId: readName(line, 'query_id') ?? deriveId(line, conversation),
    query: readText(line, 'query') ?? readText(line, 'question'),
    conversation: conversation === undefined ? undefined : String(conversation),
    answers: readTexts(line, 'answers')?.map(String),
    tenant: readText(line, 'tenant') ?? defaultTenant,
    blocks: blocks.map(find),
    list: readList(line, blocks.length, find),
    around: hasAround
      ? { front: readNames(line, 'front').map(find), rest: readNames(line, 'rest').map(find) }
      : undefined,
    route: readText(line, 'route'),
    reorder: readFlag(line, 'reorder'),
    request: readSentRequest(line, 'request'),
  }
}

/** Derives an id that is the same in every run. */
function deriveId(line: Line, conversation: Name | undefined): string {
  const turn = readName(line, 'turn') ?? readName(line, 'q')
  return conversation === undefined || turn === undefined ? `line ${line.number}` : `${conversation}/${turn}`
}

/** Reads how a list of `count` blocks is marked; undefined if the line does not say. */
function readList(line: Line, count: number, find: (id: Name) => TraceBlock): TraceList | undefined {
  const value = readListField(line, 'list')
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

/** The id of a block, as written. */
type Name = string | number

/** How a list is marked: pieces of its blocks, where null is the label of the block's place. */
interface ListField {
  readonly blocks: readonly (readonly (Name | null)[])[]
  readonly labels?: readonly Name[]
  readonly gaps: readonly (readonly Name[])[]
  readonly shortened?: readonly (readonly (Name | null)[] | null)[]
  readonly stays?: boolean
  readonly order_tokens?: number
}

type Schema = Readonly<Record<string, unknown>>

const list = (items: Schema): Schema => ({ type: 'array', items })
const nothing = { type: 'null' }
const text = { type: 'string' }
const flag = { type: 'boolean' }
const most = Number.MAX_SAFE_INTEGER
const count = { type: 'integer', minimum: 0, maximum: most }
// JSON parsing has already merged larger numbers with their neighbours
const name = { anyOf: [text, { type: 'number', minimum: -most, maximum: most }] }
const pieces = list({ anyOf: [name, nothing] })
const marked = {
  type: 'object',
  required: ['blocks', 'gaps'],
  properties: {
    blocks: list(pieces),
    shortened: list({ anyOf: [pieces, nothing] }),
    gaps: list(list(name)),
    labels: list(name),
    stays: flag,
    order_tokens: count,
  },
}
const sent = { type: 'object', required: ['path', 'body'], properties: { path: text, body: { type: 'object' } } }
const stretch = { type: 'array', items: [text, { ...count, minimum: 1 }], minItems: 2, additionalItems: false }

// 1e999 is no number: parsing turns it into infinity
const ajv = new Ajv({ ...ownSchemas, strictTuples: false })

/** Reads a field of a line; undefined if it is missing or null. Throws a `ConfigError` if it is something else. */
function fieldReader<T>(schema: Schema, fault: string): (line: Line, field: string) => T | undefined {
  return ({ where, fields }, field) => {
    const value = fields[field]
    if (value === undefined || value === null) return undefined
    if (ajv.validate<T>(schema, value)) return value
    throw new ConfigError(`${where}: "${field}" ${fault}`)
  }
}

const notAName = 'is neither a string nor a number'
const readName = fieldReader<Name>(name, notAName)
const readText = fieldReader<string>(text, 'is not a string')
const readTexts = fieldReader<Name[]>(list(name), 'is not a list of texts')
const readNumber = fieldReader<number>({ type: 'number' }, 'is not a number')
const readCount = fieldReader<number>(count, 'is not a whole number of at least 0')
const readFlag = fieldReader<boolean>(flag, 'is neither true nor false')
const readSentRequest = fieldReader<SentRequest>(
  sent,
  'is not an object of a "path", a string, and a "body", an object',
)
const readStretches = fieldReader<[key: string, characters: number][]>(
  { ...list(stretch), minItems: 1 },
  'is not a list of pairs of a string and a number of characters',
)
const readListField = fieldReader<ListField>(
  marked,
  'is not an object with "blocks" and "shortened", lists of ids and nulls, "labels", ids, "gaps", lists of ids, and "order_tokens"',
)

/** Reads a required list of ids. */
function readNames({ where, fields }: Line, field: string): Name[] {
  const value = fields[field]
  if (!Array.isArray(value)) throw new ConfigError(`${where}: "${field}", a list of block ids, is missing`)
  for (const id of value) {
    if (ajv.validate(name, id)) continue
    const why = typeof id === 'number' ? 'is too large a number: write it as a string' : notAName
    throw new ConfigError(`${where}: block id ${typeof id === 'number' ? id : JSON.stringify(id)} ${why}`)
  }
  return value
}
