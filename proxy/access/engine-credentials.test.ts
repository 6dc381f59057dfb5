import { expect, test } from 'vitest'
import { withEngineCredentials } from './engine-credentials.ts'

const received = ['Authorization', 'Bearer ours', 'X-Api-Key', 'ours too', 'Accept', '*/*', 'accept', 'text/html']

test('a client’s key goes to the engine where it is the engine’s', () => {
  const sent = withEngineCredentials(received, { keepsClientKey: false }, { apiKey: undefined })
  expect(sent).toBe(received)
})

test('a client’s key stays here where it is ours', () => {
  expect(withEngineCredentials(received, { keepsClientKey: true }, { apiKey: undefined })).toEqual([
    'Accept',
    '*/*',
    'accept',
    'text/html',
  ])
})

test('an engine’s own key takes the place of the client’s', () => {
  for (const keepsClientKey of [true, false])
    expect(withEngineCredentials(received, { keepsClientKey }, { apiKey: 'engine' })).toEqual([
      'Accept',
      '*/*',
      'accept',
      'text/html',
      'authorization',
      'Bearer engine',
    ])
})
