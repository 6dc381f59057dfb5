import { Unpackr } from 'msgpackr'
import { isObject } from '../json-object.ts'
import {
  type BlockHash,
  type BlocksRemoved,
  type BlocksStored,
  deviceTier,
  type KvEvent,
  type KvEventBatch,
} from './kv-event.ts'

// 64-bit numbers stay exact; maps become objects, tuples arrays
const unpackr = new Unpackr({ useRecords: false, mapsAsObjects: true, int64AsType: 'bigint' })

/** Thrown for a payload that is not a batch of events. */
export class KvEventError extends Error {}

/**
 * Reads what vLLM (0.10 to 0.32) and SGLang (0.5) publish: `[time, events, rank]` in msgpack, each event a tagged map or,
 * in older versions, a positional array. Throws a KvEventError for a payload that is not such a batch. Unknown events
 * are counted and skipped, because later versions may have more kinds.
 */
export function decodeBatch(payload: Uint8Array): KvEventBatch {
  const batch = unpack(payload)
  if (!Array.isArray(batch) || !Array.isArray(batch[1])) throw new KvEventError('The payload is no batch of KV events.')
  const events: KvEvent[] = []
  let unknown = 0
  for (const value of batch[1] as unknown[]) {
    const event = readEvent(value)
    if (event) events.push(event)
    else unknown += 1
  }
  return { time: readNumber(batch[0]) ?? 0, events, unknown }
}

function unpack(payload: Uint8Array): unknown {
  try {
    return unpackr.unpack(payload)
  } catch (cause) {
    throw new KvEventError('The payload is no msgpack.', { cause })
  }
}

type Fields = Readonly<Record<string, unknown>>

/** The fields of the positional encoding, in order; the same for vLLM and SGLang. */
const positions: Readonly<Record<string, readonly string[]>> = {
  BlockStored:
    'block_hashes parent_block_hash token_ids block_size lora_id medium lora_name extra_keys group_idx kv_cache_spec_kind'.split(
      ' ',
    ),
  BlockRemoved: ['block_hashes', 'medium', 'group_idx'],
  AllBlocksCleared: [],
}

/** Reads one event in either encoding; undefined if it is unknown or malformed. */
function readEvent(value: unknown): KvEvent | undefined {
  const named = Array.isArray(value) ? nameFields(value) : isFields(value) ? value : undefined
  switch (named?.type) {
    case 'BlockStored':
      return readStored(named)
    case 'BlockRemoved':
      return readRemoved(named)
    case 'AllBlocksCleared':
      return { type: 'cleared' }
    default:
      return undefined
  }
}

/** Reads a number of any width; undefined if it is not a number. */
function readNumber(value: unknown): number | undefined {
  if (typeof value === 'bigint') return Number(value)
  return typeof value === 'number' ? value : undefined
}

function nameFields([type, ...values]: unknown[]): Fields | undefined {
  if (typeof type !== 'string' || !Object.hasOwn(positions, type)) return undefined
  const names = positions[type]!
  const fields: Record<string, unknown> = { type }
  values.forEach((value, i) => {
    // SGLang 0.5.18 appends a map of newer fields to its positional fields
    if (isFields(value)) Object.assign(fields, value)
    else if (names[i] !== undefined) fields[names[i]] = value
  })
  return fields
}

function readStored(fields: Fields): BlocksStored | undefined {
  const hashes = readHashes(fields.block_hashes)
  const parent = fields.parent_block_hash ?? undefined
  const parentHash = parent === undefined ? undefined : readHash(parent)
  const tokens = fields.token_ids
  if (!hashes || !Array.isArray(tokens) || (parent !== undefined && parentHash === undefined)) return undefined
  return {
    type: 'stored',
    hashes,
    parent: parentHash,
    tokens: tokens as number[],
    blockSize: readNumber(fields.block_size) ?? 0,
    tier: readTier(fields),
    extras: readExtras(fields, hashes.length),
    group: readNumber(fields.group_idx) ?? 0,
    attention: typeof fields.kv_cache_spec_kind === 'string' ? fields.kv_cache_spec_kind : undefined,
  }
}

function readRemoved(fields: Fields): BlocksRemoved | undefined {
  const hashes = readHashes(fields.block_hashes)
  if (!hashes) return undefined
  return { type: 'removed', hashes, tier: readTier(fields), group: readNumber(fields.group_idx) ?? 0 }
}

function readTier({ medium }: Fields): string {
  return typeof medium === 'string' ? medium : deviceTier
}

/** vLLM lists what distinguishes each block; SGLang reports the salt, which is part of every block. */
function readExtras({ extra_keys, cache_salt, lora_name }: Fields, blocks: number): (string | undefined)[] {
  if (Array.isArray(extra_keys)) {
    const keys = extra_keys as unknown[]
    return Array.from({ length: blocks }, (_, i) => (keys[i] == null ? undefined : writeExtra(keys[i])))
  }
  const own = [lora_name, cache_salt].filter((key) => typeof key === 'string')
  return new Array(blocks).fill(own.length > 0 ? writeExtra(own) : undefined)
}

function writeExtra(keys: unknown): string {
  return JSON.stringify(keys, (_, value) => {
    if (typeof value === 'bigint') return String(value)
    return value instanceof Uint8Array ? Buffer.from(value).toString('hex') : value
  })
}

function readHashes(value: unknown): BlockHash[] | undefined {
  const hashes = Array.isArray(value) ? value.map(readHash) : undefined
  return hashes?.every((hash) => hash !== undefined) ? hashes : undefined
}

/** SGLang's numbers are signed, vLLM's are not, and small ones are encoded in fewer bytes. */
function readHash(value: unknown): BlockHash | undefined {
  if (typeof value === 'bigint') return BigInt.asUintN(64, value)
  if (typeof value === 'number' && Number.isSafeInteger(value)) return BigInt.asUintN(64, BigInt(value))
  return value instanceof Uint8Array ? Buffer.from(value).toString('hex') : undefined
}

function isFields(value: unknown): value is Fields {
  return isObject(value) && !(value instanceof Uint8Array)
}
