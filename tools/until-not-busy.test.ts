import { expect, test } from 'vitest'
import { readRetryAfter } from './until-not-busy.ts'

const now = Date.parse('2026-01-01T00:00:00Z')

test.each([
  [undefined, undefined],
  ['soon', undefined],
  ['0', 0],
  ['7', 7_000],
  ['1.5', 1_500],
  ['Thu, 01 Jan 2026 00:00:30 GMT', 30_000],
  ['Thu, 01 Jan 2025 00:00:00 GMT', 0],
])('retry-after: %s', (header, wait) => expect(readRetryAfter(header, now)).toBe(wait))
