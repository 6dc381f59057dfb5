import { expect, test } from 'vitest'
import { describeError } from './log.ts'

test('an error is described by its name, code, message, frames and cause', () => {
  const cause = Object.assign(new TypeError('refused'), { code: 'ECONNREFUSED' })
  const described = describeError(new RangeError('too far', { cause }))
  expect(described).toMatchObject({
    type: 'RangeError',
    message: 'too far',
    cause: { type: 'TypeError', code: 'ECONNREFUSED', message: 'refused' },
  })
  expect(described.at[0]).toMatch(/describe-error\.test\.ts:\d+:\d+/)
})

test('what a syntax error quotes of a prompt appears nowhere', () => {
  let fault: unknown
  try {
    JSON.parse('{"a": my secret diagnosis}')
  } catch (error) {
    fault = new Error('outer', { cause: error })
  }
  expect((fault as { cause: Error }).cause.message).toContain('my secret')
  expect(JSON.stringify(describeError(fault))).not.toContain('secret')
})

test('causes that go in circles and things that are no errors are described too', () => {
  const circle = new Error('round')
  circle.cause = circle
  expect(JSON.stringify(describeError(circle)).match(/round/g)).toHaveLength(5)
  expect(describeError('text of a prompt')).toEqual({ type: 'string', at: [] })
})
