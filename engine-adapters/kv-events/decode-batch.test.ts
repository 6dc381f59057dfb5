import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { pack } from 'msgpackr'
import { expect, test } from 'vitest'
import { decodeBatch, KvEventError } from './decode-batch.ts'
import type { KvEvent } from './kv-event.ts'

/** Recorded from the engines' own publishers: see record_events.py. */
const recorded = JSON.parse(readFileSync(join(import.meta.dirname, 'kv-events.fixture.json'), 'utf8')) as Record<
  'vllm' | 'sglang',
  { version: string; live: string[][]; positional?: string }
>
const eventsOf = (engine: 'vllm' | 'sglang'): (readonly KvEvent[])[] =>
  recorded[engine].live.map((frames) => decodeBatch(Buffer.from(frames[2]!, 'hex')).events)
const plain = { group: 0, attention: undefined, parent: undefined }

test(`what vLLM ${recorded.vllm.version} publishes is read, wide hashes whole`, () => {
  const [first, second, third, fourth] = eventsOf('vllm')
  expect(first).toEqual([
    {
      ...plain,
      type: 'stored',
      hashes: [2n ** 64n - 59n, 7n],
      tokens: [0, 1, 2, 3, 4, 5, 6, 7],
      blockSize: 4,
      tier: 'GPU',
      extras: ['["salt-1"]', undefined],
      attention: 'full_attention',
    },
    {
      ...plain,
      type: 'stored',
      hashes: [2n ** 53n + 1n],
      parent: 7n,
      tokens: [70000, 1, 2, 3],
      blockSize: 4,
      tier: 'GPU',
      extras: [undefined],
    },
  ])
  expect(second).toEqual([
    { type: 'removed', hashes: [2n ** 53n + 1n], tier: 'GPU', group: 0 },
    { ...plain, type: 'stored', hashes: [9n], tokens: [], blockSize: 0, tier: 'CPU', extras: [undefined] },
    { type: 'removed', hashes: [2n ** 64n - 59n], tier: 'CPU', group: 0 },
  ])
  const raw = Buffer.from(Array.from({ length: 32 }, (_, i) => i))
  const [root, child, image] = third as Extract<KvEvent, { type: 'stored' }>[]
  expect(root!.hashes).toEqual([raw.toString('hex')])
  expect(child).toMatchObject({ parent: raw.toString('hex'), hashes: [Buffer.from(raw).reverse().toString('hex')] })
  expect(image!.extras).toEqual(['["sql",["img-1",2],"salt-1"]'])
  expect(fourth).toEqual([{ type: 'cleared' }])
})

test(`what SGLang ${recorded.sglang.version} publishes is read, signed hashes as the same 64 bits`, () => {
  const [first, second] = eventsOf('sglang')
  expect(first![0]).toEqual({ type: 'cleared' })
  expect(first![1]).toMatchObject({
    hashes: [2n ** 63n + 5n, 2n ** 64n - 1n, 3n],
    tokens: [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11],
    extras: ['["salt-1"]', '["salt-1"]', '["salt-1"]'],
  })
  expect(second).toMatchObject([
    { type: 'stored', parent: 2n ** 64n - 1n, tier: 'CPU_PINNED' },
    { type: 'removed', hashes: [2n ** 62n, 3n], tier: 'GPU' },
    { type: 'removed', tier: 'DISK' },
  ])
})

test('the positional arrays of older versions are read like the maps', () => {
  const { time, events, unknown } = decodeBatch(Buffer.from(recorded.sglang.positional!, 'hex'))
  expect({ time, unknown }).toEqual({ time: 3000.5, unknown: 0 })
  expect(events).toEqual([
    {
      ...plain,
      type: 'stored',
      hashes: [2n ** 63n + 5n, 2n ** 64n - 1n],
      tokens: [0, 1, 2, 3, 4, 5, 6, 7],
      blockSize: 4,
      tier: 'GPU',
      extras: [undefined, undefined],
    },
    { type: 'removed', hashes: [2n ** 64n - 1n], tier: 'CPU_PINNED', group: 0 },
    { type: 'cleared' },
  ])
})

test('a map behind positional fields is read for what came later', () => {
  const stored = ['BlockStored', [1], null, [1, 2], 2, null, 'GPU', { cache_salt: 's' }]
  expect(decodeBatch(pack([1, [stored], 0])).events).toMatchObject([{ hashes: [1n], extras: ['["s"]'] }])
})

test('events of kinds to come, and such as break their form, are counted and left out', () => {
  const events = [{ type: 'BlockInactive' }, ['Toast'], 7, null, { type: 'BlockStored', block_hashes: 'x' }, [], {}]
  const batch = decodeBatch(pack([1, [...events, { type: 'AllBlocksCleared', more: 1 }], 0]))
  expect(batch).toEqual({ time: 1, events: [{ type: 'cleared' }], unknown: events.length })
})

test.each([
  ['no msgpack', Buffer.from([0xc1])],
  ['nothing', Buffer.alloc(0)],
  ['a map', pack({ events: [] })],
  ['a list without events', pack([1])],
])('%s is no batch', (_title, payload) => {
  expect(() => decodeBatch(payload)).toThrow(KvEventError)
})
