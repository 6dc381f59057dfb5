import { randomInt } from 'node:crypto'
import type { ApiKeys, KeyRecord } from '../access/api-keys.ts'
import { RateLimits } from '../access/rate-limits.ts'
import { Tenancy } from '../access/tenancy.ts'
import { KnownChunks } from '../chunks/known-chunks.ts'
import { readOptions } from '../common/request-options.ts'
import type { Config, Settings } from '../config/config.ts'
import { unwritableFolder } from '../config/read-files.ts'
import { KeyStore } from '../config/sources/key-store.ts'
import { BodyMemory, collectGarbage, MemoryRelease, memoryForBodies } from '../http/bounds/body-memory.ts'
import { HeavyTurns } from '../http/bounds/event-loop.ts'
import { Prover } from '../idle/prove/prover.ts'
import { MemoryConversationStore } from '../prompt/turns/memory-conversation-store.ts'
import { defaultWording } from '../prompt/wording.ts'
import type { Recorder, RecorderOptions } from '../record/recorder.ts'
import type { SharedConversationStore } from '../redis/conversations/shared-conversation-store.ts'
import type { SharedRedis } from '../redis/create-shared-redis.ts'
import { BorderPositions } from '../request/borders/border-positions.ts'
import type { Pipeline } from '../request/pipeline.ts'
import { RequestIds } from '../request/request-ids.ts'
import { createMetrics, type MetricSources, type Metrics } from '../telemetry/metrics.ts'
import type { Telemetry } from '../telemetry/telemetry.ts'
import { readDeclaredTemplates } from '../templates/declared-templates.ts'
import { LearntTemplates } from '../templates/learner/learnt-templates.ts'
import { createMirrors } from './create-replicas.ts'
import type { Exchanged, shareState } from './share-state.ts'

const conversationBytes = 64 * 1024 * 1024
/** How long shutdown waits for pending writes to Redis. */
const flushMilliseconds = 2_000

type PipelineParts = Pick<
  Pipeline,
  | ('replicas' | 'modelLists' | 'warmer' | 'pins' | 'processed' | 'gain' | 'chunks' | 'templates' | 'telemetry')
  | ('recorder' | 'log')
> & { readonly redis?: OpenRedis | undefined }

/** Redis, with what shares state through it. */
export interface OpenRedis extends SharedRedis {
  readonly shareState: typeof shareState
}

/** What requests go through, whose configuration can change while it runs. */
export class LivePipeline {
  readonly pipeline: Pipeline
  readonly #parts: PipelineParts
  readonly #keyStore: KeyStore
  /** what is shared through Redis, and exchanged in the background */
  readonly #exchanged: readonly Exchanged[]
  readonly #turns: SharedConversationStore | undefined
  #settings: Settings
  #tenancy: Tenancy

  /** Throws a ConfigError if keys or templates cannot be used. */
  constructor(config: Config, parts: PipelineParts) {
    const { redis, ...given } = parts
    const { replicas, chunks, templates, telemetry, log } = given
    const memory = new MemoryConversationStore(conversationBytes)
    const rateLimits = new RateLimits()
    const onChange = ({ entries }: ApiKeys): void => rateLimits.retain(entries)
    this.#parts = parts
    this.#keyStore = new KeyStore(config.keys, { log, onChange })
    for (const keeper of this.#keepers) keeper.admits = (key) => this.#keyStore.keys.admits(key)
    this.#settings = toSettings(config, this.#keyStore, readDeclaredTemplates(config.templates))
    this.#tenancy = toTenancy(config, this.#keyStore)
    const learnt = createLearntTemplates(parts)
    const keys = (): ApiKeys => this.#keyStore.keys
    const shared = redis?.shareState(redis, { memory, chunks, templates, learnt, limits: rateLimits, keys, telemetry })
    this.#turns = shared?.turns
    this.#exchanged = shared?.exchanged ?? []
    this.pipeline = {
      ...given,
      settings: () => this.#settings,
      tenancy: () => this.#tenancy,
      learnt,
      models: replicas.models,
      rateLimits,
      heavyTurns: new HeavyTurns(),
      bodyMemory: createBodyMemory(config, telemetry),
      prover: createProver(parts),
      borders: new BorderPositions(),
      store: this.#turns ?? memory,
      sharedTurns: this.#turns,
      requestIds: new RequestIds((request) => replicas.all.some(({ mirror }) => mirror.has(request))),
      createMirror: () => createMirrors()(),
      now: telemetry.now,
    }
  }

  /** Applies a new configuration, whose keys were read. Throws if it cannot, and then keeps the old one. */
  reload(next: Config, keys: readonly KeyRecord[]): void {
    const { telemetry, log, replicas } = this.#parts
    const tenancy = toTenancy(next, this.#keyStore)
    const templates = readDeclaredTemplates(next.templates)
    this.#tenancy = tenancy
    // the store decides whether keys are required: a reload never lets everyone in
    this.#keyStore.reload(next.keys, keys)
    // nobody will ask for what was computed under another salt
    if (next.tenants.salt_secret !== this.#settings.tenants.salt_secret)
      for (const keeper of this.#keepers) keeper.clear()
    this.#settings = toSettings(next, this.#keyStore, templates)
    if (!this.#settings.keepsWords) telemetry.words.clear()
    log.level = next.logs.level
    this.pipeline.bodyMemory.setLimit(memoryForBodies(next.limits.body_bytes, next.bodyMemoryBytes))
    for (const { admission } of replicas.all) admission.setInFlight(next.limits.in_flight_per_replica)
  }

  /** Connects to Redis, waiting at most this long, and begins to share state with other proxies. */
  async connect(longestMilliseconds: number): Promise<void> {
    await this.#parts.redis?.connection.connect(longestMilliseconds)
    for (const part of this.#exchanged) part.start()
  }

  async close(): Promise<void> {
    const { prover, learnt, recorder } = this.pipeline
    this.#keyStore.close()
    prover.close()
    await learnt.close()
    await recorder?.close()
    await Promise.all([this.#turns, ...this.#exchanged].map((part) => part?.close(flushMilliseconds)))
    this.#parts.redis?.connection.close()
  }

  get #keepers(): (Pipeline['pins'] | Pipeline['warmer'])[] {
    return [this.#parts.pins, this.#parts.warmer]
  }
}

function createBodyMemory(config: Config, { metrics }: Telemetry): BodyMemory {
  const release = new MemoryRelease(collectGarbage)
  return new BodyMemory(memoryForBodies(config.limits.body_bytes, config.bodyMemoryBytes), (bytes) => {
    metrics.bodyBytes.set(bytes)
    release.note(bytes)
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

/** Creates an empty set of known chunks, and the metrics: each of the two reads the other. */
export function createCountedChunks(
  { chunks: { max_chunks } }: Pick<Config, 'chunks'>,
  sources: Omit<MetricSources, 'knownChunks'>,
): { readonly chunks: KnownChunks; readonly metrics: Metrics } {
  const metrics = createMetrics({ knownChunks: () => chunks.size, ...sources })
  const chunks = new KnownChunks({
    maxChunks: max_chunks,
    // random, so that proxies which share their chunks do not mix up their orders
    source: randomInt(1, 2 ** 31 - 1),
    onLearned: (source, count) => metrics.chunksLearned.inc({ source }, count),
    onIgnored: (reason, count) => metrics.chunksIgnored.inc({ reason }, count),
  })
  return { chunks, metrics }
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

function toTenancy({ tenants: { from, trusted_peers: trustedPeers } }: Config, { keys }: KeyStore): Tenancy {
  return new Tenancy({ keys, trustedPeers, from })
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
