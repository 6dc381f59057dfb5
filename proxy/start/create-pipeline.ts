import type { ApiKeys } from '../access/api-keys.ts'
import type { KeyRecord } from '../access/key-record.ts'
import { RateLimits } from '../access/rate-limits.ts'
import { createTenancy, type Tenancy } from '../access/tenancy.ts'
import type { Log } from '../common/log.ts'
import type { RedisFault } from '../common/reasons.ts'
import { readOptions } from '../common/request-options.ts'
import type { Config, Settings } from '../config/config.ts'
import { unwritableFolder } from '../config/read-files.ts'
import { KeyStore } from '../config/sources/key-store.ts'
import { BodyMemory, memoryForBodies } from '../http/bounds/body-memory.ts'
import { HeavyTurns } from '../http/bounds/heavy-turns.ts'
import { collectGarbage, MemoryRelease } from '../http/bounds/memory-release.ts'
import { Prover } from '../idle/prove/prover.ts'
import { MemoryConversationStore } from '../prompt/turns/memory-conversation-store.ts'
import { defaultWording } from '../prompt/wording.ts'
import { Recorder, type RecorderOptions } from '../record/recorder.ts'
import { SharedConversationStore } from '../redis/conversations/shared-conversation-store.ts'
import type { SharedRedis } from '../redis/create-shared-redis.ts'
import { SharedChunks } from '../redis/shared-chunks.ts'
import { SharedLimits } from '../redis/shared-limits.ts'
import { SharedTemplates } from '../redis/shared-templates.ts'
import { BorderPositions } from '../request/borders/border-positions.ts'
import type { Pipeline } from '../request/pipeline.ts'
import { RequestIds } from '../request/request-ids.ts'
import type { Telemetry } from '../telemetry/telemetry.ts'
import { readDeclaredTemplates } from '../templates/declared-templates.ts'
import { LearntTemplates } from '../templates/learner/learnt-templates.ts'
import { createMirrors } from './create-replicas.ts'

const conversationBytes = 64 * 1024 * 1024
/** How long shutdown waits for pending writes to Redis. */
const flushMilliseconds = 2_000

/** A pipeline whose configuration can change while it runs. */
export interface LivePipeline {
  readonly pipeline: Pipeline
  /** Applies a new configuration, whose keys were read. Throws if it cannot, and then keeps the old one. */
  reload(config: Config, keys: readonly KeyRecord[]): void
  /** Connects to Redis, waiting at most this long, and begins to share state with other proxies. */
  connect(longestMilliseconds: number): Promise<void>
  close(): Promise<void>
}

/** Builds the pipeline that requests go through. Throws a ConfigError if keys or templates cannot be used. */
export function createPipeline(
  config: Config,
  parts: Pick<
    Pipeline,
    'replicas' | 'modelLists' | 'warmer' | 'pins' | 'processed' | 'gain' | 'chunks' | 'templates' | 'telemetry' | 'log'
  > & {
    readonly redis?: SharedRedis | undefined
  },
): LivePipeline {
  const { redis, ...given } = parts
  const { replicas, chunks, templates, telemetry, log } = given
  const memory = new MemoryConversationStore(conversationBytes)
  const sharing = redis && toSharing(redis, telemetry)
  const shared = sharing && new SharedConversationStore({ memory, ...sharing })
  const sharedChunks = sharing && new SharedChunks({ chunks, ...sharing })
  const rateLimits = new RateLimits()
  const onChange = ({ entries }: ApiKeys): void => rateLimits.retain(entries)
  const keyStore = new KeyStore(config.keys, { log, onChange })
  const keepers = [given.pins, given.warmer]
  for (const keeper of keepers) keeper.admits = (key) => keyStore.keys.admits(key)
  const bodyMemory = createBodyMemory(config, telemetry)
  let settings = toSettings(config, keyStore, readDeclaredTemplates(config.templates))
  const prover = createProver(parts)
  const recorder = createRecorder(config, replicas, telemetry, log)
  const learnt = createLearntTemplates(parts)
  const sharedTemplates = sharing && new SharedTemplates({ templates, learnt, ...sharing })
  const sharedLimits = sharing && new SharedLimits({ limits: rateLimits, keys: () => keyStore.keys, ...sharing })
  const exchanged = [sharedChunks, sharedTemplates, sharedLimits, redis?.hot]
  let tenancy = createLiveTenancy(config, keyStore)
  return {
    pipeline: {
      ...given,
      settings: () => settings,
      tenancy: () => tenancy,
      learnt,
      models: replicas.models,
      rateLimits,
      heavyTurns: new HeavyTurns(),
      bodyMemory,
      recorder,
      prover,
      borders: new BorderPositions(),
      store: shared ?? memory,
      sharedTurns: shared,
      requestIds: new RequestIds((request) => replicas.all.some(({ mirror }) => mirror.has(request))),
      createMirror: () => createMirrors()(),
      now: telemetry.now,
    },
    reload: (next, keys) => {
      const nextTenancy = createLiveTenancy(next, keyStore)
      const templates = readDeclaredTemplates(next.templates)
      tenancy = nextTenancy
      // the store decides whether keys are required: a reload never lets everyone in
      keyStore.reload(next.keys, keys)
      // nobody will ask for what was computed under another salt
      if (next.tenants.salt_secret !== settings.tenants.salt_secret) for (const keeper of keepers) keeper.clear()
      settings = toSettings(next, keyStore, templates)
      if (!settings.keepsWords) telemetry.words.clear()
      log.level = next.logs.level
      bodyMemory.setLimit(memoryForBodies(next.limits.body_bytes, next.bodyMemoryBytes))
      for (const { admission } of replicas.all) admission.setInFlight(next.limits.in_flight_per_replica)
    },
    connect: async (longestMilliseconds) => {
      await redis?.connection.connect(longestMilliseconds)
      for (const part of exchanged) part?.start()
    },
    close: async () => {
      keyStore.close()
      prover.close()
      await learnt.close()
      await recorder?.close()
      await Promise.all([shared, ...exchanged].map((part) => part?.close(flushMilliseconds)))
      redis?.connection.close()
    },
  }
}

function createBodyMemory(config: Config, { metrics }: Telemetry): BodyMemory {
  const release = new MemoryRelease(collectGarbage)
  return new BodyMemory(memoryForBodies(config.limits.body_bytes, config.bodyMemoryBytes), (bytes) => {
    metrics.bodyBytes.set(bytes)
    release.note(bytes)
  })
}

/** Throws a ConfigError if the folder cannot be written to. */
function createRecorder(
  { record: { folder, text } }: Config,
  replicas: Pipeline['replicas'],
  { metrics }: Telemetry,
  log: Log,
): Recorder | undefined {
  if (folder === undefined) return undefined
  const options: RecorderOptions = {
    folder,
    hasText: text,
    now: Date.now,
    // a replay has one cache, and several engines do not add up to one
    capacityTokens: () => (replicas.all.length === 1 ? replicas.all[0]!.statedCache?.capacityTokens : undefined),
    onWritten: (requests) => metrics.recordedRequests.inc(requests),
    onLost: (requests) => metrics.recordLostRequests.inc(requests),
    onFault: (error) => log.error({ error, folder }, 'requests are not recorded: the folder cannot be written to'),
  }
  try {
    return new Recorder(options)
  } catch (error) {
    throw unwritableFolder(folder, error as Error)
  }
}

/** What all that is shared through Redis needs. */
function toSharing(
  { connection, namespace, ttlSeconds, proxy, countFaults }: SharedRedis,
  { metrics, now }: Telemetry,
) {
  const onFault = (reason: RedisFault, count = 1): void => metrics.failOpen.inc({ reason }, count)
  countFaults(onFault)
  return { redis: connection, namespace, ttlSeconds, proxy, now, wallClock: Date.now, onFault }
}

function createProver({ templates, telemetry, log }: Pick<Pipeline, 'templates' | 'telemetry' | 'log'>): Prover {
  return new Prover({
    templates,
    createIndex: () => createMirrors()().createIndex(),
    onSample: (outcome) => telemetry.metrics.proofs.inc({ outcome }),
    log,
    now: telemetry.now,
  })
}

function createLearntTemplates({ telemetry, log }: Pick<Pipeline, 'telemetry' | 'log'>): LearntTemplates {
  return new LearntTemplates((error) => {
    telemetry.metrics.failOpen.inc({ reason: 'templates' })
    log.error({ error }, 'the thread that learns templates was lost, with the texts it held')
  })
}

function createLiveTenancy({ tenants: { from, trusted_peers: trustedPeers } }: Config, { keys }: KeyStore): Tenancy {
  return createTenancy({ keys, trustedPeers, from })
}

/** Whether words of prompts may be kept for people to read. */
export function mayKeepWords({ logs, record }: Config): boolean {
  return logs.prompts || (record.folder !== undefined && record.text)
}

function toSettings(config: Config, { keys }: KeyStore, templates: Settings['templates']): Settings {
  const keepsClientKey = !keys.isOpen && !config.keys.forward_client_authorization
  return {
    ...config,
    templates,
    options: readOptions(config.options),
    wording: { ...defaultWording, ...config.annotations },
    keepsWords: mayKeepWords(config),
    keepsClientKey,
  }
}
