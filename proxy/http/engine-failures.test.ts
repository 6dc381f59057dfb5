import { expect, test } from 'vitest'
import type { EngineClient } from '#engine-adapters/engine-client.ts'
import { UnreachableError } from '../common/errors.ts'

const engine = { url: 'https://gpu-0:8000' } as EngineClient

function errorOf(message: string, code?: string): UnreachableError {
  return new UnreachableError(engine, Object.assign(new Error(message), code && { code }), false)
}

function messageOf(message: string, code?: string): string {
  return errorOf(message, code).message
}

test('clients are not told where the engine is, the log is', () => {
  const error = errorOf('connect ECONNREFUSED 10.0.0.1:8000', 'ECONNREFUSED')
  expect(error.message).toBe('The engine did not answer (ECONNREFUSED): is it running?')
  expect(error.reason).toBe('connect ECONNREFUSED 10.0.0.1:8000')
  expect(messageOf('gpu-0:8000 closed the connection')).not.toContain('gpu-0')
})

test('an error whose code is undefined is told by its message', () => {
  const cause = Object.assign(new Error('Response does not match the HTTP/1.1 protocol'), { code: undefined })
  expect(new UnreachableError(engine, cause, true).message).toContain('(Response does not match the HTTP/1.1 protocol)')
})

test('an engine that refuses is asked after, and one that is not trusted has its certificate looked at', () => {
  expect(messageOf('connect ECONNREFUSED 10.0.0.1:8000', 'ECONNREFUSED')).toBe(
    'The engine did not answer (ECONNREFUSED): is it running?',
  )
  expect(messageOf('self-signed certificate in certificate chain', 'SELF_SIGNED_CERT_IN_CHAIN')).toBe(
    'The engine did not answer (SELF_SIGNED_CERT_IN_CHAIN): check its certificate, and the tls settings of the engine.',
  )
  for (const code of ['ERR_TLS_CERT_ALTNAME_INVALID', 'CERT_HAS_EXPIRED', 'UNABLE_TO_VERIFY_LEAF_SIGNATURE', 'EPROTO'])
    expect(messageOf('x', code)).toMatch(/check its certificate/)
})

test('a proxy without file descriptors does not blame the engine', () => {
  for (const code of ['EMFILE', 'ENFILE'])
    expect(messageOf(`connect ${code} 10.0.0.1:8000`, code)).toMatch(/the proxy has no file descriptor left/)
})
