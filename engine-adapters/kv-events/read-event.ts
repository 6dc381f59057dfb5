import { isObject } from '../json-object.ts'
import { type BlockHash, type BlocksRemoved, type BlocksStored, deviceTier, type KvEvent } from './kv-event.ts'

type Fields = Readonly<Record<string, unknown>>

/** The fields of the positional encoding, in order; the same for vLLM and SGLang. */
const positions = {
  BlockStored: ['block_hashes', 'parent_block_hash', 'token_ids', 'block_size', 'lora_id', 'medium', 'lora_name'],
  BlockRemoved: ['block_hashes', 'medium', 'group_idx'],
  AllBlocksCleared: [],
} as const
const laterPositions = ['extra_keys', 'group_idx', 'kv_cache_spec_kind'] as const

/** Reads one event in either encoding; undefined if it is unknown or malformed. */
export function readEvent(value: unknown): KvEvent | undefined {
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
export function readNumber(value: unknown): number | undefined {
  if (typeof value === 'bigint') return Number(value)
  return typeof value === 'number' ? value : undefined
}

function nameFields([type, ...values]: unknown[]): Fields | undefined {
  if (typeof type !== 'string' || !Object.hasOwn(positions, type)) return undefined
  const names =
    type === 'BlockStored' ? [...positions.BlockStored, ...laterPositions] : positions[type as 'BlockRemoved']
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
  if (!Array.isArray(value)) return undefined
  const hashes: BlockHash[] = []
  for (const item of value as unknown[]) {
    const hash = readHash(item)
    if (hash === undefined) return undefined
    hashes.push(hash)
  }
  return hashes
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
