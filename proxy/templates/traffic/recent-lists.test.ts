import { expect, test } from 'vitest'
import { RecentLists } from './recent-lists.ts'

function recent(...lists: readonly (readonly number[])[]): RecentLists {
  const known = new RecentLists(8, 24)
  lists.forEach((keys, i) => {
    known.note(keys, 100 + i)
  })
  return known
}

const row = [1, 2, 3, 4, 5, 6, 7, 8]

test.each([
  ['the same list', row, 'again'],
  ['some left out, new ones between', [1, 90, 3, 4, 91, 7, 8], 'same'],
  ['one moved to the top', [6, 1, 2, 3, 4, 5, 7, 8], 'moved'],
  ['three moved to the top', [5, 3, 8, 1, 2, 4, 6, 7], 'moved'],
  ['one put to the end', [1, 2, 4, 5, 6, 7, 8, 3], 'moved'],
  ['reversed', row.toReversed(), 'moved'],
  ['in another order', [3, 7, 1, 8, 4, 6, 2, 5], 'mixed'],
  ['three in common', [3, 2, 1, 90, 91], 'far'],
])('%s', (_, keys, kind) => {
  expect(recent(row).recognise(keys, 1).kind).toBe(kind)
})

test('compares with the list that has most in common, not with the last one', () => {
  const keys = [4, 1, 2, 3, 5, 6, 7, 8]
  expect(recent(row, [1, 8, 7, 3, 90, 91]).recognise(keys, 1)).toEqual({ common: 8, kind: 'moved' })
})

test('a question that came with some of these documents in another order is asked again', () => {
  expect(recent(row).recognise([8, 90, 1], 100).kind).toBe('asked-again')
  expect(recent(row).recognise([1, 90, 8], 100).kind).toBe('again')
  expect(recent(row).recognise([8, 90, 91], 100).kind).toBe('far')
})

test('what was longest ago is forgotten', () => {
  const known = recent(row)
  for (let i = 0; i < 8; i++) known.note([100 + i, 200 + i, 300 + i], i)
  expect(known.recognise(row, 1).kind).toBe('far')
  expect(known.recognise([100, 200, 300], 1).kind).toBe('again')
})
