import type { NodeHotness } from '../node-hotness.ts'
import type { Eviction } from './eviction.ts'
import type { EvictionName } from './eviction-names.ts'
import { HotPrefixEviction } from './hot-prefix.ts'
import { HotPrefixPlusEviction } from './hot-prefix-plus.ts'
import { KeyedEviction } from './keyed-eviction.ts'
import { LedEviction } from './led-eviction.ts'
import { S3FifoEviction, TwoQEviction } from './two-queues.ts'

interface EvictionOptions {
  readonly capacityTokens: number
  readonly pageTokens: number
  readonly hotness: NodeHotness
}

export function createEviction(name: EvictionName, { capacityTokens, pageTokens, hotness }: EvictionOptions): Eviction {
  if (name === 'lru') return createLru()
  if (name === 'lfu') return new KeyedEviction(({ uses }) => uses)
  if (name === 'fifo') return new KeyedEviction(({ created }) => created)
  if (name === '2q') return new TwoQEviction(capacityTokens, pageTokens)
  if (name === 's3fifo') return new S3FifoEviction(capacityTokens, pageTokens)
  if (name === 'hotprefix') return new HotPrefixEviction(hotness)
  const learned = new HotPrefixPlusEviction(hotness)
  return name === 'hotprefix+' ? learned : new LedEviction([createLru(), learned], learned.runTokens)
}

function createLru(): Eviction {
  return new KeyedEviction(({ lastUse }) => lastUse)
}
