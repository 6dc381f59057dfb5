import fc from 'fast-check'
import { expect, test } from 'vitest'
import { readEngineError } from './read-error.ts'

test.each([
  ['OpenAI', '{"error":{"message":"no","type":"BadRequestError","code":400}}', 'no', 400],
  ['Anthropic', '{"type":"error","error":{"type":"invalid_request_error","message":"no"}}', 'no', undefined],
  ['SGLang, flat', '{"object":"error","message":"no","code":400}', 'no', 400],
  ['a word', '{"error":"no"}', 'no', undefined],
  ['the web framework', '{"detail":"Not Found"}', 'Not Found', undefined],
  ['its faults', '{"detail":[{"loc":["body","n"],"msg":"too many"}]}', 'body.n: too many', undefined],
])('the error as %s has it', (_, text, message, code) => {
  expect(readEngineError(text)).toEqual({ message, code })
})

test.each(['', 'null', '[]', '<html>', '{"error":null,"output":[]}', '{"object":"chat.completion"}'])(
  '%o is no error',
  (text) => {
    expect(readEngineError(text)).toBeUndefined()
  },
)

test('whatever is answered, reading it does not fail', () => {
  fc.assert(
    fc.property(fc.json(), (text) => {
      const error = readEngineError(text)
      if (error) expect(typeof error.message).toBe('string')
    }),
  )
  fc.assert(fc.property(fc.string(), (text) => void readEngineError(text)))
})
