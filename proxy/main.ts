import { getRequestListener } from '@hono/node-server'
import type { Hono } from 'hono'
import { type Emulator, emulatorDefaults, startEmulator } from '#engine-adapters/emulator/emulator.ts'
import { adapterFor } from '#engine-adapters/engine-adapter.ts'
import { createEngineClient } from '#engine-adapters/engine-client.ts'
import { CacheMirror } from '#index/cache-mirror.ts'
import type { ReplicaId } from '#index/context-block.ts'
import { HistoryWindow } from '#index/demand-history.ts'
import type { OrderingIndex } from '#index/ordering-index.ts'
import { PaperOrdering } from '#index/paper-ordering.ts'
import { PrefixOrdering } from '#index/prefix-ordering.ts'
import { createAdminApp } from './admin-app.ts'
import { Admission } from './admission.ts'
import { createApp, type ServerEnv } from './app.ts'
import type { Config, ListenAddress } from './config.ts'
import { Listener } from './listener.ts'
import { createLog, type Log } from './log.ts'
import { createMetrics } from './metrics.ts'
import type { Pipeline, Reuse } from './pipeline.ts'
import { ReplicaMirror } from './replica-mirror.ts'
import { RequestIds } from './request-ids.ts'
import { MemoryConversationStore } from './store/memory-conversation-store.ts'

/** How much is remembered before the oldest is forgotten. */
const mirrored = { maxRequests: 100_000, maxBlocks: 4_000_000 }
const conversationBytes = 256 * 1024 * 1024
const waitingRequests = 10_000
/** How long a client may take to send its request: a callback that stalls would hold up those behind it. */
const requestUploadSeconds = 300
const callbackUploadSeconds = 10
/** Requests and their blocks, of all scopes together, from which the requests to come are judged: about 25 MB. */
const rememberedBlocks = 1 << 20

/** A running proxy. */
export interface RunningProxy {
  readonly url: string
  readonly adminUrl: string
  /** the embedded emulator's URL, when it is the engine */
  readonly emulatorUrl: string | undefined
  /** Takes no more requests, lets those in flight end within the configured time, and stops. */
  close(): Promise<void>
}

function createOrdering({ ordering, maxDisplacement }: Config): () => OrderingIndex {
  if (ordering === 'paper') return () => new PaperOrdering()
  const history = new HistoryWindow(rememberedBlocks)
  return () => new PrefixOrdering({ history, maxDisplacement })
}

/** Builds a proxy from its configuration and starts it: the one place where everything is put together. */
export async function startProxy(config: Config): Promise<RunningProxy> {
  const drain = { isDraining: false }
  const mirror = new CacheMirror(mirrored, createOrdering(config))
  const engineConfig = config.engine ?? { url: undefined, kind: 'vllm', id: 'emulator' }
  const replica = new ReplicaMirror(engineConfig.id as ReplicaId, mirror)
  const reuse = createReuse(config, replica)
  const adminApp = createAdminApp({ reuse, replica, drain, token: config.adminToken })
  const admin = await listen(adminApp, config.adminListen, callbackUploadSeconds)
  const emulator =
    engineConfig.url === undefined
      ? await startEmbedded(`${admin.url}/v1/replicas/${engineConfig.id}`, reuse.log)
      : undefined
  const engine = createEngineClient(emulator?.url ?? engineConfig.url!)
  const pipeline: Pipeline = { ...reuse, engine, adapter: adapterFor(engineConfig.kind) }
  const data = await listen(createApp(pipeline, drain), config.listen, requestUploadSeconds)
  return {
    url: data.url,
    adminUrl: admin.url,
    emulatorUrl: emulator?.url,
    close: async () => {
      drain.isDraining = true
      await data.close(config.drainSeconds * 1000)
      await engine.close()
      await emulator?.close()
      await admin.close(0)
    },
  }
}

function createReuse(config: Config, replica: ReplicaMirror): Reuse {
  const { mirror } = replica
  const admission = new Admission({ windowMilliseconds: config.groupWindowMilliseconds, capacity: waitingRequests })
  return {
    mode: config.mode,
    bodyLimit: config.bodyLimitBytes,
    replica: replica.replica,
    mirror,
    store: new MemoryConversationStore(conversationBytes),
    admission,
    requestIds: new RequestIds((request) => mirror.has(request)),
    metrics: createMetrics({
      queueDepth: () => admission.depth,
      indexNodes: () => mirror.statistics.nodes,
      mirrorEvents: () => replica.applied,
      mirrorMode: () => ({ replica: replica.replica, mode: replica.state.mode }),
    }),
    log: createLog(config.logLevel),
    now: () => performance.now(),
  }
}

function startEmbedded(callbackUrl: string, log: Log): Promise<Emulator> {
  const warn = (message: string): void => log.warn(message)
  return startEmulator({ ...emulatorDefaults, host: '127.0.0.1', port: 0, callbackUrl, warn })
}

async function listen(app: Hono<ServerEnv>, { host, port }: ListenAddress, uploadSeconds: number): Promise<Listener> {
  const handle = getRequestListener(app.fetch as Parameters<typeof getRequestListener>[0], {
    overrideGlobalObjects: false,
    // for HTTP/1.0 without a Host header
    hostname: 'localhost',
  })
  const listener = new Listener(handle, uploadSeconds)
  await listener.listen(host, port)
  return listener
}
