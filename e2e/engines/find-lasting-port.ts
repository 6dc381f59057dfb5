import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:net'

/** Below the ports that systems give to outgoing connections: Linux begins at 32,768. */
const [lowest, highest] = [20_000, 32_000]

/**
 * A port of 127.0.0.1 that nobody listens on, and that nobody gets by chance until it is listened on: an engine takes
 * minutes to do so, and is started again at the same port.
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
