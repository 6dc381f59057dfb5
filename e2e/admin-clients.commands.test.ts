import { once } from 'node:events'
import { connect } from 'node:net'
import { afterEach, expect, test, vi } from 'vitest'
import { Reprises } from './run-reprise.ts'

const reprises = new Reprises()
afterEach(() => reprises.stopAll())

test('a client that leaves in the middle of a body is no failure of the proxy', async () => {
  const addresses = ['--listen', '127.0.0.1:0', '--admin-listen', '127.0.0.1:0']
  const { listening, stderr } = await reprises.start(['serve', '--emulate', ...addresses])
  const { hostname, port } = new URL(listening.admin_url!)
  for (const path of ['/v1/explain', '/evict', '/v1/replicas/emulator/events']) {
    const socket = connect(Number(port), hostname)
    await once(socket, 'connect')
    socket.write(`POST ${path} HTTP/1.1\r\nhost: ${hostname}\r\nexpect: 100-continue\r\ncontent-length: 100\r\n\r\n`)
    // the head was read
    await once(socket, 'data')
    socket.write('{"messages":')
    socket.resetAndDestroy()
    await once(socket, 'close')
  }
  // logged after all that came before
  await fetch(`${listening.admin_url}/v1/index`, { method: 'DELETE' })
  await vi.waitFor(() => expect(stderr()).toContain('"admin request"'), 20_000)
  expect(stderr()).not.toMatch(/"level":50|failed/)
})
