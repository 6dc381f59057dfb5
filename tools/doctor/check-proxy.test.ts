import { expect, test } from 'vitest'
import { judgeChunks } from './check-proxy.ts'

test.each([
  [{ chunks: 0, learned: 0, learns: true }, 'not_checked', /^no chunk is known: .*blank lines/],
  [{ chunks: 0, learned: 0, learns: false }, 'not_checked', /none is learned \(learn\)/],
  [
    { chunks: 5, learned: 2, last_match_seconds_ago: null },
    'warning',
    /^5 chunks .* 2 of them learned and 3 registered, and no prompt/,
  ],
  [{ chunks: 5, learned: 2, last_match_seconds_ago: 7 }, 'ok', /; a prompt last contained one 7 s ago$/],
])('%j', (answer, level, found) => {
  expect(judgeChunks(answer)).toEqual([
    expect.objectContaining({ check: 'known_chunks', level, found: expect.stringMatching(found) }),
  ])
})

test.each([null, 'no', {}, { chunks: '3' }])('of an answer that is none nothing is said: %j', (answer) => {
  expect(judgeChunks(answer)).toEqual([])
})
