import type { RequestListener } from 'node:http'
import { setTimeout as pause } from 'node:timers/promises'
import type { Emulator } from '#emulator/emulator.ts'
import { emulatorDefaults } from '#emulator/emulator-defaults.ts'
import { ProcessedBlocks } from '#index/processed-blocks.ts'
import type { AdminDependencies, AdminHandler } from '../admin/admin-app.ts'
import { createLog, type Log } from '../common/log.ts'
import { readVersion } from '../common/read-version.ts'
import { within } from '../common/within.ts'
import type { Config, Settings } from '../config/config.ts'
import { readListenAddress, withoutPassword } from '../config/read-arguments.ts'
import {
  type Certificates,
  certificateFiles,
  type FoundEngine,
  findExpired,
  readCertificates,
  readFiles,
  readStartFiles,
} from '../config/read-files.ts'
import { readRedisUrl } from '../config/read-redis-url.ts'
import { watchCertificates } from '../config/sources/watch-files.ts'
import { findWarnings, warnOnce } from '../config/start-warnings.ts'
import { Gain } from '../gain/gain.ts'
import type { UnreadRequest } from '../http/answer-unread.ts'
import { Listener } from '../http/listener.ts'
import { ReplicaSet } from '../replicas/replica-set.ts'
import { createApp } from '../request/app.ts'
import { logUnread } from '../telemetry/access-log.ts'
import { MemoryHotBlocks } from '../telemetry/hot-blocks/hot-blocks.ts'
import { createMetrics } from '../telemetry/metrics.ts'
import { createTelemetry } from '../telemetry/telemetry.ts'
import { createTracing } from '../telemetry/tracing/create-tracing.ts'
import { TemplateBook } from '../templates/template-book.ts'
import { createMirrors } from './create-replicas.ts'
import { createAsides, LiveFleet } from './live-fleet.ts'
import { createChunks, createRecorder, LivePipeline, type OpenRedis } from './live-pipeline.ts'
import { lookAfterReplicas } from './look-after-replicas.ts'

/**
 * How long a client may take to send its request: 64 MB at 300 kbit/s. What comes more slowly than it can is given up
 * sooner (`bodyStallSeconds`). A stalled callback would hold up the callbacks after it.
 */
const requestUploadSeconds = 1_800
const callbackUploadSeconds = 10
/** For this many blocks, the proxy remembers which replicas processed them, for whom: about 40 MB. */
const processedBlocks = 200_000
/** How long startup waits for Redis, so that the first request finds what was sent earlier. */
const redisStartMilliseconds = 2_000
/** The control plane waits no longer than this for Redis and the engines: so the proxy says that it lives. */
const controlMilliseconds = 100

export interface RunningProxy {
  readonly url: string
  readonly adminUrl: string
  readonly log: Log
  /** resolves when the control plane answers */
  readonly opened: Promise<unknown>
  /**
   * Applies the settings of a new configuration but those of `fixedAtStart`, and reads certificates and keys again. Throws
   * if anything cannot be used, and then changes nothing. `keepsEngines`: not those of the configuration, but those that
   * there are stay, with its keys.
   */
  reload(config: Config, keepsEngines?: boolean): void
  /** Accepts requests for the configured delay, then refuses new ones, gives those in flight their time, and stops. */
  close(): Promise<void>
}

/** Builds a proxy from its configuration and starts it. This is the one place where everything is wired together. */
export async function startProxy(config: Config): Promise<RunningProxy> {
  // before anything listens: startup fails if a file cannot be used
  const tls = readStartFiles(config)
  const log = createLog(config.logs.level)
  const redis = await openRedis(config, log)
  const drain = { isLeaving: false, isDraining: false, isCutting: false }
  const settings = (): Settings => live.pipeline.settings()
  const onUnread = (unread: UnreadRequest): void => logUnread(log, unread)
  const { admin, emulator, open } = await startAdmin(config, log, onUnread)
  const processed = new ProcessedBlocks(processedBlocks)
  const gain = new Gain(createMirrors(), new Date().toISOString())
  const [version, replicas, hot] = [readVersion(), new ReplicaSet([]), redis?.hot ?? new MemoryHotBlocks()]
  const clocks = { now: () => performance.now(), wallClock: Date.now }
  const templates = new TemplateBook({ ...clocks, keepsWords: () => settings().keepsWords })
  const chunks = createChunks(config, () => metrics)
  const metrics = createMetrics({ version, replicas, hot, templates, redis, knownChunks: () => chunks.size })
  const tracing = await createTracing(process.env, version, (message) => log.warn(message))
  const telemetry = createTelemetry({ metrics, log, tracing, hot, now: clocks.now })
  const asides = createAsides(settings, replicas, telemetry)
  const recorder = await createRecorder(config, replicas, telemetry)
  const parts = { replicas, ...asides, processed, gain, chunks, templates, telemetry, recorder, log, redis }
  const live = new LivePipeline(config, parts)
  const fleet = new LiveFleet(live.pipeline, redis, emulator !== undefined)
  const embedded = emulator && { url: emulator.url, kind: 'vllm' as const, id: embeddedId }
  const found = embedded ? [{ engine: embedded, tls: undefined }] : tls.engines
  await fleet.set(found)
  const started = live.connect(redisStartMilliseconds).then(() => fleet.start())
  const control = within(controlMilliseconds, started).then(() =>
    open({ pipeline: live.pipeline, drain, setEngines: emulator ? undefined : (body) => fleet.setFrom(body) }),
  )
  await started
  const dataOptions = { uploadSeconds: requestUploadSeconds, onUnread, tls: tls.listener }
  const data = await Listener.at(readListenAddress(config.listen), createApp(live.pipeline, drain), dataOptions)
  const warnOfExpired = warnOnce(log)
  const setCertificates = (read: Certificates): void => {
    if (read.listener) data.setTls(read.listener)
    const { url } = settings().redis
    if (url !== undefined) redis?.connection.renew(readRedisUrl(url), read.redis)
    warnOfExpired(findExpired(config, read))
  }
  warnOfExpired(findExpired(config, tls))
  const endWatching = watchCertificates(certificateFiles(config), () => setCertificates(readCertificates(config)), log)
  const upkeep = lookAfterReplicas(live.pipeline, () => fleet.tick())
  logStart(log, config, found, { version, url: data.url, admin_url: admin.url })
  return {
    url: data.url,
    adminUrl: admin.url,
    log,
    opened: control,
    reload: (next, keepsEngines = false) => {
      const named = keepsEngines ? fleet.readNamed(next) : undefined
      const renewed = readFiles({ ...next, tls: config.tls, ...(named && { engines: [] }) })
      live.reload(next, renewed.keys)
      setCertificates(renewed)
      fleet.reload(next, named ?? renewed.engines, keepsEngines)
    },
    close: async () => {
      await leave(drain, data, log.child({ version }), settings())
      await data.close(settings().drain_seconds * 1000, () => {
        drain.isCutting = true
      })
      endWatching()
      for (const part of [upkeep, fleet, live, emulator, await control]) await part?.close()
      await admin.close(0)
      log.info({ version }, 'stopped')
    },
  }
}

/**
 * Starts the admin listener, whose requests wait until it is opened, and the emulator, which has its callback URL. What
 * answers them is loaded only then.
 */
async function startAdmin(config: Config, log: Log, onUnread: (unread: UnreadRequest) => void) {
  let setHandler!: (own: AdminHandler) => void
  const handler = new Promise<AdminHandler>((resolve) => {
    setHandler = resolve
  })
  const handle: RequestListener = (request, response) => void handler.then((own) => own.handle(request, response))
  const open = async (dependencies: AdminDependencies): Promise<AdminHandler> => {
    const { createAdminHandler } = await import('../admin/admin-app.ts')
    setHandler(createAdminHandler(dependencies))
    return handler
  }
  const options = { uploadSeconds: callbackUploadSeconds, onUnread }
  const admin = await Listener.at(readListenAddress(config.admin.listen), handle, options)
  const emulator = config.engines.length === 0 ? await startEmbedded(admin.url, log) : undefined
  return { admin, emulator, open }
}

/** Its client, which takes 20 MB, is loaded only if it is configured. */
async function openRedis({ redis }: Config, log: Log): Promise<OpenRedis | undefined> {
  const { url } = redis
  if (url === undefined) return undefined
  const { createSharedRedis } = await import('../redis/create-shared-redis.ts')
  const { shareState } = await import('./share-state.ts')
  return { ...createSharedRedis({ ...redis, url }, log), shareState }
}

/** Keeps serving for `seconds`, while load balancers notice the shutdown; then requests are refused. */
async function leave(
  drain: { isLeaving: boolean; isDraining: boolean },
  data: Listener,
  log: Log,
  { drain_delay_seconds: seconds, drain_seconds }: Settings,
): Promise<void> {
  if (seconds > 0) log.info({ drain_delay_seconds: seconds }, 'leaving: requests are still served')
  drain.isLeaving = true
  data.endConnectionsBehindAnswers()
  if (seconds > 0) await pause(seconds * 1000)
  drain.isDraining = true
  log.info({ drain_seconds }, 'draining: new requests are refused')
}

/** Logs warnings and what the proxy was started with. */
function logStart(log: Log, config: Config, engines: readonly FoundEngine[], started: object): void {
  for (const warning of findWarnings(config)) log.warn(warning)
  const listed = engines.map(({ engine: { id, kind, url } }) => ({ id, kind, url: withoutPassword(url) }))
  const { mode, tenants } = config
  log.info({ ...started, node: process.versions.node, engines: listed, mode, tenants_from: tenants.from }, 'started')
}

const embeddedId = 'emulator'
/** The emulator shares the proxy's event loop, and its model takes no prompt of a megabyte. */
const embeddedBodyBytes = 2 * 1024 * 1024

async function startEmbedded(adminUrl: string, log: Log): Promise<Emulator> {
  // loaded only if needed: its tokeniser alone takes 20 MB
  const { startEmulator } = await import('#emulator/emulator.ts')
  const warn = (message: string): void => log.warn(message)
  const callbackUrl = `${adminUrl}/v1/replicas/${embeddedId}`
  const bodyBytes = embeddedBodyBytes
  return startEmulator({ ...emulatorDefaults, host: '127.0.0.1', port: 0, callbackUrl, bodyBytes, warn })
}
