import { expect, test } from 'vitest'
import type { BlockId, Context, RequestId } from '#index/context-block.ts'
import { describeOrderingIndex } from '#index/ordering/ordering-index.contract.ts'
import { TrieOrdering } from './trie-ordering.ts'

describeOrderingIndex('TrieOrdering', () => new TrieOrdering())

const contextOf = (blocks: string): Context => [...blocks] as BlockId[]

function send(trie: TrieOrdering, ...sent: [blocks: string, sizes: number[]][]): void {
  for (const [at, [blocks, sizes]] of sent.entries()) trie.insert(contextOf(blocks), sizes, String(at) as RequestId)
}

function order(trie: TrieOrdering, blocks: string): string {
  return trie
    .order(contextOf(blocks), [])
    .order.map((place) => blocks[place])
    .join('')
}

test('the cached sequence with most tokens goes first, however many blocks it has', () => {
  const trie = new TrieOrdering()
  send(trie, ['abc', [1, 1, 1]], ['xy', [9, 9]])
  expect(order(trie, 'cbax')).toBe('xcba')
  expect(order(trie, 'cba')).toBe('abc')
  // only the beginning of the sequence is in the request
  expect(order(trie, 'cb')).toBe('cb')
  expect(order(trie, 'zba')).toBe('abz')
})

test('the rest goes by how many requests have held it, cached or not, and by rank where that is equal', () => {
  const trie = new TrieOrdering()
  send(trie, ['pq', [1, 1]], ['pr', [1, 1]], ['pr', [1, 1]], ['a', [1]])
  for (const request of ['0', '1', '2']) trie.remove(request as RequestId)
  expect(order(trie, 'zyqrpa')).toBe('aprqzy')
})

test('a request that is held as a shorter one is not counted twice', () => {
  const trie = new TrieOrdering()
  send(trie, ['pq', [1, 1]], ['xr', [1, 1]])
  trie.insert(contextOf('x'), [1], '1' as RequestId)
  trie.insert(contextOf('xr'), [1, 1], '1' as RequestId)
  trie.remove('0' as RequestId)
  trie.remove('1' as RequestId)
  expect(order(trie, 'qr')).toBe('qr')
})
