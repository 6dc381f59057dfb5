import { expect, test } from 'vitest'
import { RateLimitedWarnings } from './rate-limited-warnings.ts'

function create() {
  const lines: [message: string, details: Readonly<Record<string, unknown>>][] = []
  let now = 0
  const warnings = new RateLimitedWarnings(
    (details, message) => void lines.push([message, details]),
    () => now,
  )
  const pass = (milliseconds: number): void => {
    now += milliseconds
    warnings.flush()
  }
  return { warnings, lines, pass }
}

test('the first of a kind is logged at once, further ones within seconds in one line, with their count and the latest details', () => {
  const { warnings, lines, pass } = create()
  for (let i = 0; i < 6_000; i++) {
    warnings.warn({ i }, 'bad')
    pass(1)
  }
  pass(5_000)
  expect(lines).toEqual([
    ['bad', { i: 0 }],
    ['bad', { i: 4_999, count: 4_999 }],
    ['bad', { i: 5_999, count: 1_000 }],
  ])
  pass(60_000)
  warnings.warn({ i: 'later' }, 'bad')
  expect(lines.slice(3)).toEqual([['bad', { i: 'later' }]])
})

test('one kind does not delay another', () => {
  const { warnings, lines } = create()
  for (const kind of ['a', 'b', 'a', 'c']) warnings.warn({}, kind)
  expect(lines.map(([kind]) => kind)).toEqual(['a', 'b', 'c'])
})
