import { expect, test } from 'vitest'
import { requestHeaders } from './forwarded-headers.ts'

test('headers go on as they are, but for those of the connection, reprise’s own, and those that are set', () => {
  const raw = ['Host', 'a', 'X-Own', '1', 'x-own', '2', 'Connection', 'close, X-Hop', 'X-Hop', 'h', 'TE', 'trailers']
  const ours = ['X-Reprise-Options', 'reorder=off', 'Expect', '100-continue', 'X-Request-Id', 'mine']
  expect(requestHeaders([...raw, ...ours], { 'x-request-id': 'given', 'content-length': '3' })).toEqual([
    'X-Own',
    '1',
    'x-own',
    '2',
    'x-request-id',
    'given',
    'content-length',
    '3',
  ])
})
