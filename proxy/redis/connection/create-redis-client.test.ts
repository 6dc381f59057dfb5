import type { PeerCertificate } from 'node:tls'
import type { Redis } from 'ioredis'
import { expect, test } from 'vitest'
import { readRedisUrl } from '../../config/read-redis-url.ts'
import { createRedisClient } from './create-redis-client.ts'

test('a server that others name by its address may have the certificate of a host of the URL, and no other may', () => {
  const address = readRedisUrl('rediss+sentinel://redis.internal:26379/mymaster')
  const { tls } = (createRedisClient(address, undefined) as Redis).options
  const faultOf = (host: string, name: string): Error | undefined =>
    tls!.checkServerIdentity!(host, { subject: {}, subjectaltname: `DNS:${name}` } as PeerCertificate)
  expect(faultOf('redis.internal', 'redis.internal')).toBeUndefined()
  expect(faultOf('10.0.0.7', 'redis.internal')).toBeUndefined()
  expect(faultOf('10.0.0.7', 'evil.example')).toBeInstanceOf(Error)
  expect(faultOf('other.internal', 'redis.internal')).toBeInstanceOf(Error)
})
