import { Unpackr } from 'msgpackr'
import type { KvEvent, KvEventBatch } from './kv-event.ts'
import { readEvent, readNumber } from './read-event.ts'

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
