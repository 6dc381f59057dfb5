import { beforeEach, expect, test } from 'vitest'
import { type BlockId, toBlockId } from '#index/context-block.ts'
import { describeHotBlocks } from '../telemetry/hot-blocks.contract.ts'
import type { HotBlock } from '../telemetry/hot-blocks.ts'
import { HotBlocksLedger } from './hot-blocks-ledger.ts'

describeHotBlocks('of one proxy, beside what others counted', (capacity = 100) => new HotBlocksLedger(capacity))

let ledger: HotBlocksLedger

beforeEach(() => {
  ledger = new HotBlocksLedger(100)
})

const hot = (name: string, count: number): HotBlock => ({ block: toBlockId(name), count, size: 7 })
const answered = (...blocks: HotBlock[]): Map<BlockId, HotBlock> => new Map(blocks.map((one) => [one.block, one]))
const ask = (names: string): void => {
  for (const name of names) ledger.note([toBlockId(name)], [7])
}

test('what is under way counts all the time, and once it was answered only there', () => {
  ask('aab')
  const batch = ledger.take(false)
  expect(batch).toEqual({ raised: [], added: [hot('a', 2), hot('b', 1)] })
  ask('a')
  expect(ledger.top(9)).toEqual([hot('a', 3), hot('b', 1)])
  ledger.settle(batch, answered(hot('a', 12), hot('c', 5), hot('b', 1)))
  expect(ledger.top(9)).toEqual([hot('a', 13), hot('c', 5), hot('b', 1)])
  expect(ledger.take(false)).toEqual({ raised: [], added: [hot('a', 1)] })
})

test('what has not been done is taken again, with what came meanwhile', () => {
  ask('aab')
  const batch = ledger.take(false)
  ask('a')
  ledger.giveBack(batch)
  expect(ledger.top(9)).toEqual([hot('a', 3), hot('b', 1)])
  expect(ledger.take(true)).toEqual({ raised: [], added: [hot('a', 3), hot('b', 1)] })
})

test('what may have been done is raised to, the hottest last, and never added', () => {
  ask('aabc')
  ledger.settle(ledger.take(false), answered(hot('a', 12), hot('d', 5), hot('b', 1)))
  ask('aa')
  ledger.take(false)
  ask('ab')
  const { raised, added } = ledger.take(true)
  expect(raised.map(({ count }) => count)).toEqual([1, 1, 5, 14])
  expect(raised).toEqual(expect.arrayContaining([hot('b', 1), hot('c', 1), hot('d', 5), hot('a', 14)]))
  expect(added).toEqual([hot('a', 1), hot('b', 1)])
  expect(ledger.top(1)).toEqual([hot('a', 15)])
})

test.each(['settle', 'giveBack'] as const)('what was under way when all was cleared stays forgotten: %s', (outcome) => {
  ask('aab')
  const batch = ledger.take(false)
  ledger.clear()
  ask('c')
  if (outcome === 'settle') ledger.settle(batch, answered(hot('a', 12)))
  else ledger.giveBack(batch)
  expect(ledger.top(9)).toEqual([hot('c', 1)])
  expect(ledger.take(true)).toEqual({ raised: [], added: [hot('c', 1)] })
})
