import fc from 'fast-check'
import { expect, test } from 'vitest'
import { decideRetry, mostAttempts } from './retry-policy.ts'

const failure = (code: string): Error => Object.assign(new Error(code), { code })
const first = { made: 1, hasRepeated: false, hasOther: false }
const unsent = { wasSent: false }

const quick = [
  'ECONNREFUSED',
  'ECONNRESET',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ERR_SSL_WRONG_VERSION_NUMBER',
  'DEPTH_ZERO_SELF_SIGNED_CERT',
]
const slow = ['UND_ERR_CONNECT_TIMEOUT', 'ETIMEDOUT']

test.each(quick)('%s: on another replica at once, else once more on the same after a pause', (code) => {
  const failed = { ...unsent, cause: failure(code) }
  expect(decideRetry(failed, { ...first, hasOther: true })).toBe('other')
  expect(decideRetry(failed, first)).toBe('same')
  expect(decideRetry(failed, { ...first, made: 2, hasRepeated: true })).toBeUndefined()
})

test.each(slow)('%s: on another replica, and not on the same', (code) => {
  const failed = { ...unsent, cause: failure(code) }
  expect(decideRetry(failed, { ...first, hasOther: true })).toBe('other')
  expect(decideRetry(failed, first)).toBeUndefined()
})

test.each(['UND_ERR_ABORTED', 'UND_ERR_DESTROYED', 'UND_ERR_CLOSED', 'UND_ERR_INVALID_ARG', 'UND_ERR_SOCKET'])(
  '%s is no failure to connect',
  (code) => expect(decideRetry({ ...unsent, cause: failure(code) }, { ...first, hasOther: true })).toBeUndefined(),
)

test('what is no error of a connection is not tried again', () => {
  expect(decideRetry({ ...unsent, cause: new Error('a fault of ours') }, first)).toBeUndefined()
})

test('never when the engine may have started, and never too often', () => {
  fc.assert(
    fc.property(
      fc.record({
        cause: fc.constantFrom(...quick, ...slow).map(failure),
        wasSent: fc.boolean(),
      }),
      fc.record({ made: fc.integer({ min: 1, max: 6 }), hasRepeated: fc.boolean(), hasOther: fc.boolean() }),
      (failed, attempts) => {
        const retry = decideRetry(failed, attempts)
        if (failed.wasSent) expect(retry).toBeUndefined()
        if (attempts.made >= mostAttempts) expect(retry).toBeUndefined()
        if (retry === 'other') expect(attempts.hasOther).toBe(true)
        if (retry === 'same') expect([attempts.hasOther, attempts.hasRepeated]).toEqual([false, false])
      },
    ),
  )
})
