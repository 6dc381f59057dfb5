import { expect, test } from 'vitest'
import type { EngineClient } from '#engine-adapters/engine-client.ts'
import { UnreachableError } from './forward.ts'

const engine = { url: 'https://gpu-0:8000' } as EngineClient

function messageOf(message: string, code: string): string {
  return new UnreachableError(engine, Object.assign(new Error(message), { code }), false).message
}

test('an engine that refuses is asked after, and one that is not trusted has its certificate looked at', () => {
  expect(messageOf('connect ECONNREFUSED 10.0.0.1:8000', 'ECONNREFUSED')).toBe(
    'The engine at gpu-0:8000 did not answer (connect ECONNREFUSED 10.0.0.1:8000): is it running?',
  )
  expect(messageOf('self-signed certificate in certificate chain', 'SELF_SIGNED_CERT_IN_CHAIN')).toBe(
    'The engine at gpu-0:8000 did not answer (self-signed certificate in certificate chain): check its certificate, and the tls settings of the engine.',
  )
  for (const code of ['ERR_TLS_CERT_ALTNAME_INVALID', 'CERT_HAS_EXPIRED', 'UNABLE_TO_VERIFY_LEAF_SIGNATURE', 'EPROTO'])
    expect(messageOf('x', code)).toMatch(/check its certificate/)
})
