import { monitorEventLoopDelay } from 'node:perf_hooks'
import type { ReplicaId } from '#index/context-block.ts'
import { CacheMirror } from '#index/mirror/cache-mirror.ts'
import { HistoryWindow } from '#index/ordering/demand-history.ts'
import { createLog } from '#proxy/common/log.ts'
import { createSharedRedis } from '#proxy/redis/create-shared-redis.ts'
import { SharedMirror } from '#proxy/redis/mirror/shared-mirror.ts'
import { ReplicaMirror } from '#proxy/replicas/mirror/replica-mirror.ts'
import { waitFor } from '../redis-server.ts'
import { createPrompts } from './sent-prompts.ts'

/*
 * `node --import tsx e2e/bench/mirror-load.ts write|load URL REQUESTS`: writes a mirror of REQUESTS requests to a
 * Redis, or loads it as a joining proxy does. Prints as JSON how long it took and the longest time the event loop was
 * blocked.
 */

const [what, url, count] = [process.argv[2], process.argv[3]!, Number(process.argv[4])]
const redis = createSharedRedis({ url, namespace: 'bench', ttlSeconds: 86_400 }, createLog('silent'))
await redis.connection.connect(5_000)
const history = new HistoryWindow(1 << 20)
const mirror = new CacheMirror({ maxRequests: count, maxBlocks: 20 * count, history })
let asked = 0
const shared = new SharedMirror({
  replicaMirror: new ReplicaMirror('engine' as ReplicaId, mirror),
  redis: redis.connection,
  namespace: 'bench',
  ttlSeconds: 86_400,
  // as if a few hundred requests had been sent per second
  wallClock: () => {
    asked += 1
    return 1_700_000_000_000 + 4 * asked
  },
  onFault: (reason) => {
    throw new Error(reason)
  },
  onError: (error) => {
    throw error
  },
})
const delay = monitorEventLoopDelay({ resolution: 5 })
const started = performance.now()
delay.enable()
shared.start()
await waitFor(() => shared.isLoaded, 600_000)
if (what === 'write') {
  const next = createPrompts(mirror, count, 'zipf')
  for (let i = 0; i < count; i++) {
    mirror.apply({ type: 'sent', ...next(i) })
    if (i % 1_000 === 999) await waitFor(() => shared.waiting < 20_000, 600_000)
  }
  await waitFor(() => shared.waiting === 0, 600_000)
}
delay.disable()
const seconds = (performance.now() - started) / 1_000
process.stdout.write(
  `${JSON.stringify({ requests: [...mirror.requestIds()].length, seconds, blockedMilliseconds: delay.max / 1e6 - 5 })}\n`,
)
await shared.close(0)
redis.connection.close()
