import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:net'

// Below the ports that systems give to connections (from 32,768 on Linux): a port from there can be taken
// between the search and its use. The same holds for the bus of a Redis Cluster node, 10,000 above its port.
const FIRST = 12_000
const LAST = 21_999
const given = new Set<number>()

/** Finds a port of 127.0.0.1 that nothing listens on at the moment. Never returns one twice in a process. */
export async function findFreePort(): Promise<number> {
  while (true) {
    const port = randomInt(FIRST, LAST + 1)
    if (given.has(port) || !(await isFree(port))) continue
    given.add(port)
    return port
  }
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer().listen(port, '127.0.0.1')
  try {
    await once(server, 'listening')
  } catch {
    return false
  }
  server.close()
  await once(server, 'close')
  return true
}
