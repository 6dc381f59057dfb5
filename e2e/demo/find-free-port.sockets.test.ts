import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { expect, test } from 'vitest'
import { findFreePort } from './find-free-port.ts'

test('no port is found twice, none that the system gives away meanwhile', async () => {
  const found = await Promise.all(Array.from({ length: 50 }, findFreePort))
  expect(new Set(found).size).toBe(50)
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port: givenAway } = server.address() as AddressInfo
  server.close()
  for (const port of found) expect(port + 10_000).toBeLessThan(Math.min(32_768, givenAway))
})
