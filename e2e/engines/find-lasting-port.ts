import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:net'

/** Below the range that systems use for outgoing connections; on Linux it begins at 32,768. */
const [lowest, highest] = [20_000, 32_000]

/**
 * Finds a free port of 127.0.0.1 that the system will not assign to an outgoing connection in the meantime: an engine
 * takes minutes until it listens, and is restarted at the same port.
 */
export async function findLastingPort(): Promise<number> {
  for (;;) {
    const port = randomInt(lowest, highest)
    if (await isFree(port)) return port
  }
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer()
  const listening = once(server, 'listening').then(
    () => true,
    () => false,
  )
  server.listen(port, '127.0.0.1')
  if (!(await listening)) return false
  server.close()
  await once(server, 'close')
  return true
}
