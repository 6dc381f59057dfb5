import { randomInt } from 'node:crypto'
import type { ApiKeys, KeyRecord } from '../access/api-keys.ts'
import { RateLimits } from '../access/rate-limits.ts'
import { Tenancy } from '../access/tenancy.ts'
import { KnownChunks } from '../chunks/known-chunks.ts'
import { readOptions } from '../common/request-options.ts'
import type { Config, Settings } from '../config/config.ts'
import { unwritableFolder } from '../config/read-files.ts'
import { KeyStore } from '../config/sources/key-store.ts'
import { BodyMemory, collectGarbage, memoryForBodies, memoryRelease } from '../http/bounds/body-memory.ts'
import { HeavyTurns } from '../http/bounds/event-loop.ts'
import { Prover } from '../idle/prove/prover.ts'
import { MemoryConversationStore } from '../prompt/turns/memory-conversation-store.ts'
import type { Recorder, RecorderOptions } from '../record/recorder.ts'
import type { SharedRedis } from '../redis/create-shared-redis.ts'
import { BorderPositions } from '../request/borders/border-positions.ts'
import type { Pipeline } from '../request/pipeline.ts'
import { RequestIds } from '../request/request-ids.ts'
import type { Metrics } from '../telemetry/metrics.ts'
import type { Telemetry } from '../telemetry/telemetry.ts'
import { readDeclaredTemplates } from '../templates/declared-templates.ts'
import { LearntTemplates } from '../templates/learner/learnt-templates.ts'
import { createMirrors } from './create-replicas.ts'
import type { shareState } from './share-state.ts'

const conversationBytes = 64 * 1024 * 1024
/** How long shutdown waits for pending writes to Redis. */
const flushMilliseconds = 2_000

interface PipelineParts
  extends Pick<Pipeline, 'replicas' | 'modelLists' | 'warmer' | 'pins' | 'processed' | 'gain' | 'chunks' | 'templates'>,
    Pick<Pipeline, 'telemetry' | 'recorder' | 'log'> {
  readonly redis: OpenRedis | undefined
}

/** Redis, with what shares state through it. */
export interface OpenRedis extends SharedRedis {
  readonly shareState: typeof shareState
}

/** What requests go through, whose configuration can change while it runs. */
export class LivePipeline {
  readonly pipeline: Pipeline
  readonly #redis: OpenRedis | undefined
  readonly #keyStore: KeyStore
  readonly #shared: ReturnType<typeof shareState> | undefined
  #settings: Settings
  #tenancy: Tenancy

  /** Throws a ConfigError if keys or templates cannot be used. */
  constructor(config: Config, { redis, ...parts }: PipelineParts) {
    const { replicas, chunks, templates, telemetry, log } = parts
    const { metrics, now } = telemetry
    const memory = new MemoryConversationStore(conversationBytes)
    const limits = new RateLimits()
    this.#redis = redis
    this.#keyStore = new KeyStore(config.keys, { log, onChange: ({ entries }) => limits.retain(entries) })
    const keys = (): ApiKeys => this.#keyStore.keys
    this.#settings = toSettings(config, keys(), readDeclaredTemplates(config.templates))
    this.#tenancy = toTenancy(config, keys())
    const learnt = new LearntTemplates({
      onSeen: (template) => templates.adoptSeen(template),
      onFault: (error) => {
        metrics.failOpen.inc({ reason: 'templates' })
        log.error({ error }, 'the thread that learns templates was lost, with the texts it held')
      },
    })
    this.#shared = redis?.shareState(redis, { memory, chunks, templates, learnt, limits, keys, telemetry })
    this.pipeline = {
      ...parts,
      settings: () => this.#settings,
      tenancy: () => this.#tenancy,
      learnt,
      models: replicas.models,
      rateLimits: limits,
      heavyTurns: new HeavyTurns(),
      bodyMemory: createBodyMemory(config, metrics),
      prover: new Prover({
        templates,
        createIndex: () => createMirrors()().createIndex(),
        onSample: (outcome) => metrics.proofs.inc({ outcome }),
        log,
        now,
      }),
      borders: new BorderPositions(),
      store: this.#shared?.turns ?? memory,
      sharedTurns: this.#shared?.turns,
      requestIds: new RequestIds((request) => replicas.all.some(({ mirror }) => mirror.has(request))),
      createMirror: () => createMirrors()(),
      now,
    }
    for (const keeper of this.#keepers) keeper.admits = (key) => keys().admits(key)
  }

  /** Applies a new configuration, whose keys were read. Throws if it cannot, and then keeps the old one. */
  reload(next: Config, keys: readonly KeyRecord[]): void {
    const { telemetry, log, replicas, bodyMemory } = this.pipeline
    const tenancy = toTenancy(next, this.#keyStore.keys)
    const templates = readDeclaredTemplates(next.templates)
    this.#tenancy = tenancy
    // the store decides whether keys are required: a reload never lets everyone in
    this.#keyStore.reload(next.keys, keys)
    // nobody will ask for what was computed under another salt
    if (next.tenants.salt_secret !== this.#settings.tenants.salt_secret)
      for (const keeper of this.#keepers) keeper.clear()
    this.#settings = toSettings(next, this.#keyStore.keys, templates)
    if (!this.#settings.keepsWords) telemetry.words.clear()
    log.level = next.logs.level
    bodyMemory.limit = memoryForBodies(next.limits.body_bytes, next.bodyMemoryBytes)
    for (const { admission } of replicas.all) admission.setInFlight(next.limits.in_flight_per_replica)
  }

  /** Connects to Redis, waiting at most this long, and begins to share state with other proxies. */
  async connect(longestMilliseconds: number): Promise<void> {
    await this.#redis?.connection.connect(longestMilliseconds)
    for (const part of this.#shared?.exchanged ?? []) part.start()
  }

  async close(): Promise<void> {
    const { prover, learnt, recorder, telemetry } = this.pipeline
    this.#keyStore.close()
    prover.close()
    await learnt.close()
    await recorder?.close()
    const { turns, exchanged = [] } = this.#shared ?? {}
    await Promise.all([turns, ...exchanged].map((part) => part?.close(flushMilliseconds)))
    this.#redis?.connection.close()
    await telemetry.tracing?.close()
  }

  get #keepers(): (Pipeline['pins'] | Pipeline['warmer'])[] {
    return [this.pipeline.pins, this.pipeline.warmer]
  }
}

function createBodyMemory(config: Config, metrics: Metrics): BodyMemory {
  const release = memoryRelease(collectGarbage)
  return new BodyMemory(memoryForBodies(config.limits.body_bytes, config.bodyMemoryBytes), (bytes) => {
    metrics.bodyBytes.set(bytes)
    release(bytes)
  })
}

/** Creates what records requests, which is loaded only if it is configured. Throws a ConfigError if it cannot write. */
export async function createRecorder(
  { record: { folder, text } }: Config,
  replicas: Pipeline['replicas'],
  { metrics, log }: Telemetry,
): Promise<Recorder | undefined> {
  if (folder === undefined) return undefined
  const { Recorder } = await import('../record/recorder.ts')
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

/** Creates an empty set of known chunks. `metrics`: read when it is used, since they count the chunks that are known. */
export function createChunks({ chunks: { max_chunks } }: Config, metrics: () => Metrics): KnownChunks {
  return new KnownChunks({
    maxChunks: max_chunks,
    // random, so that proxies which share their chunks do not mix up their orders
    source: randomInt(1, 2 ** 31 - 1),
    onLearned: (source, count) => metrics().chunksLearned.inc({ source }, count),
    onIgnored: (reason, count) => metrics().chunksIgnored.inc({ reason }, count),
  })
}

function toTenancy({ tenants: { from, trusted_peers: trustedPeers } }: Config, keys: ApiKeys): Tenancy {
  return new Tenancy({ keys, trustedPeers, from })
}

function toSettings(config: Config, keys: ApiKeys, templates: Settings['templates']): Settings {
  return {
    ...config,
    templates,
    options: readOptions(config.options),
    keepsWords: config.logs.prompts || (config.record.folder !== undefined && config.record.text),
    keepsClientKey: !keys.isOpen && !config.keys.forward_client_authorization,
  }
}
