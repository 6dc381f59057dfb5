import { expect, test } from 'vitest'
import { readWish } from './read-wish.ts'

test.each([
  ['off', 'off'],
  [0, 0],
  [0.3, 0.3],
  [1, 1],
])('a wish of %j is read', (reuse, wish) => {
  const spans = [
    [0, 7],
    [7, 10],
  ]
  const params = { other: 1, reprise: { reuse, spans } }
  expect(readWish(params, 10)).toBe(wish)
})

test.each([undefined, null, {}, { other: 1 }, { reprise: null }, { reprise: {} }, { reprise: { spans: [] } }])(
  '%j wishes nothing',
  (params) => {
    expect(readWish(params, 10)).toBeUndefined()
  },
)

test.each([
  { reuse: 'much' },
  { reuse: '0.3' },
  { reuse: null },
  { reuse: true },
  { reuse: 1.1 },
  { reuse: -0.1 },
  { reuse: 0.3, more: 1 },
  { reuse: 0.3, spans: null },
  { reuse: 0.3, spans: {} },
  { spans: [[1]] },
  { spans: [[1, 2, 3]] },
  { spans: [[1, -2]] },
  { spans: [[0.5, 2]] },
  { spans: [['0', 2]] },
  { spans: new Array(11).fill([0, 1]) },
])('%j cannot be understood, and its request is served without reuse', (reprise) => {
  expect(readWish({ reprise }, 10)).toBe('off')
})

test.each([0.3, 'off', [], true])('nor can %j', (reprise) => {
  expect(readWish({ reprise }, 10)).toBe('off')
})
