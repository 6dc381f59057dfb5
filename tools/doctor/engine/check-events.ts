import { setTimeout as pause } from 'node:timers/promises'
import { adapterFor } from '#engine-adapters/adapter-for.ts'
import { askReplay, EventSubscriber } from '#engine-adapters/kv-events/event-subscriber.ts'
import { ReportedCache } from '#engine-adapters/kv-events/reported-cache.ts'
import type { EngineSettings } from '#proxy/config/config.ts'
import { type Finding, hasComputed, notChecked, ok, warning } from '../finding.ts'
import { type EngineIdentity, writeEvents } from './engine-facts.ts'

/** An engine whose events can be heard. */
type ListenedEngine = EngineSettings & { readonly events: string }

/** Whether the settings name an address for events. */
export function hasEvents(engine: EngineSettings): engine is ListenedEngine {
  return engine.events !== undefined
}

/** Probes an engine, and judges whether its own cache events arrive meanwhile and missed ones can be replayed. */
export async function checkEvents(
  engine: ListenedEngine,
  identity: EngineIdentity,
  probe: () => Promise<Finding[]>,
  signal: AbortSignal,
): Promise<Finding[]> {
  const [probes, heard] = await hearEvents(engine.events, probe, signal)
  const arrival = judgeArrival(engine, identity, heard, probes)
  if (arrival.level !== 'ok') return [...probes, arrival]
  const replay = await checkReplay(engine, identity, signal)
  return [...probes, judgeReuse(engine, identity, heard) ?? arrival, replay]
}

function judgeArrival(
  engine: ListenedEngine,
  identity: EngineIdentity,
  { isConnected, batches, blocks, unknown, fault }: HeardEvents,
  probes: readonly Finding[],
): Finding {
  const say = (level: typeof ok, found: string, fix?: string): Finding =>
    level('events', `${engine.events}: ${found}`, fix)
  const start = fixFor(engine, identity)
  if (!isConnected) return say(warning, 'nobody publishes there', start)
  if (fault !== undefined) {
    const fix = 'see what publishes there: it is not a known version of vLLM or SGLang'
    return say(warning, `a message was not understood: ${fault}`, fix)
  }
  if (blocks === 0 && !hasComputed(probes)) {
    const found = 'something publishes there; the check needs an engine that computes prompts'
    return say(notChecked, found, 'first fix what keeps the engine from answering')
  }
  if (blocks === 0) {
    const what = batches === 0 ? 'nothing was published' : 'no stored block was reported'
    const isCaching = !probes.some(({ check, level }) => check === 'prefix_caching' && level === 'fatal')
    const fix = isCaching
      ? `see whose events these are; ${start}`
      : 'switch on prefix caching: without it there is nothing to report'
    return say(warning, `${what} while the engine computed prompts`, fix)
  }
  if (unknown > 0) {
    const found = `${blocks} stored blocks were reported, and ${unknown} events of unknown kinds`
    return say(warning, found, 'use the plugin for this version of the engine')
  }
  return say(ok, `arrive, ${blocks} stored ${blocks === 1 ? 'block was' : 'blocks were'} reported`)
}

/** Reused blocks have the tokens of exact blocks, but other hashes: only known hashes can distinguish them. */
function judgeReuse({ events }: ListenedEngine, { facts }: EngineIdentity, heard: HeardEvents): Finding | undefined {
  if (!facts.reuse || !heard.isByContent) return undefined
  const found = `${events}: arrive, but the engine reuses KV at any position and has hashes that cannot be computed here, so nothing shows what is exact`
  const fix =
    'start vLLM with --prefix-caching-hash-algo sha256 and without PYTHONHASHSEED, or leave out events= and let its plugin report'
  return warning('events', found, fix)
}

async function checkReplay(engine: ListenedEngine, { kind }: EngineIdentity, signal: AbortSignal): Promise<Finding> {
  const { events, replay } = engine
  const start = startWith(kind, engine)
  if (replay === undefined) {
    const found = 'no replay= is given: missed events stay missed, and the mirror stays degraded'
    return warning('replay', found, `${start} and add ,replay=${besideOf(events)}`)
  }
  const asked = askReplay(replay, 0, () => {}, { timeoutMilliseconds: connectMilliseconds, signal })
  // whatever else is there, it is not an engine's replay socket
  const answers = await asked.catch(() => false)
  signal.throwIfAborted()
  if (answers) return ok('replay', `${replay}: answers`)
  return warning('replay', `${replay}: does not answer, so missed events stay missed`, start)
}

/** If the engine publishes elsewhere, advises to listen there; otherwise to configure the engine to publish. */
function fixFor(engine: ListenedEngine, { kind, facts: { publisher } }: EngineIdentity): string {
  if (!publisher || String(publisher.port) === portOf(engine.events)) return startWith(kind, engine)
  return `write ${writeEvents(publisher)}, where the engine says that it publishes`
}

function startWith(kind: EngineIdentity['kind'], { events, replay }: ListenedEngine): string {
  const config = {
    ...(kind === 'sglang' ? {} : { enable_kv_cache_events: true }),
    publisher: 'zmq',
    // with a host name, both engines would connect there instead of listening
    endpoint: `tcp://*:${portOf(events)}`,
    replay_endpoint: `tcp://*:${portOf(replay ?? besideOf(events))}`,
  }
  return `start ${adapterFor(kind ?? 'openai').advice.name} with --kv-events-config '${JSON.stringify(config)}'`
}

/** The same address with the next port, which is free by convention. */
function besideOf(eventsUrl: string): string {
  return eventsUrl.replace(/\d+$/, (port) => String(Number(port) + 1))
}

function portOf(url: string): string {
  return /\d+$/.exec(url)?.[0] ?? '5557'
}

/** The cache events received from an engine while it computed prompts. */
interface HeardEvents {
  /** whether a publisher answered at the address */
  isConnected: boolean
  batches: number
  /** blocks that were reported as stored */
  blocks: number
  /** whether blocks are named by content, because their hashes cannot be computed here */
  isByContent: boolean
  /** events of kinds that are not known */
  unknown: number
  /** why the last message could not be read */
  fault?: string
}

/** If there is a publisher, its handshake takes no longer than this. */
const connectMilliseconds = 2_000
/** An engine publishes after its answer. */
const settleMilliseconds = 3_000
const pollMilliseconds = 20

/** Listens to an engine's cache events while it computes. Returns what `compute` does, and what was heard meanwhile. */
async function hearEvents<Result>(
  eventsUrl: string,
  compute: () => Promise<Result>,
  signal: AbortSignal,
): Promise<[Result, HeardEvents]> {
  const heard: HeardEvents = { isConnected: false, batches: 0, blocks: 0, isByContent: false, unknown: 0 }
  const cache = new ReportedCache(() => {})
  const subscriber = new EventSubscriber({
    eventsUrl,
    onConnected: () => {
      heard.isConnected = true
    },
    onBatch: ({ events, unknown }) => {
      for (const event of events) {
        cache.apply(event)
        if (event.type === 'stored') heard.blocks += event.hashes.length
      }
      heard.batches += 1
      heard.isByContent = cache.trustsContent
      heard.unknown += unknown
    },
    onLost: () => {},
    onFault: (error) => {
      heard.fault = (error as Error).message
    },
  })
  const wait = async (holds: () => boolean, milliseconds: number): Promise<void> => {
    const end = performance.now() + milliseconds
    while (!holds() && performance.now() < end) await pause(pollMilliseconds, undefined, { signal })
  }
  try {
    // what is published before the handshake is not received
    await wait(() => heard.isConnected, connectMilliseconds)
    const result = await compute()
    await wait(() => !heard.isConnected || heard.blocks > 0 || heard.fault !== undefined, settleMilliseconds)
    return [result, heard]
  } finally {
    await subscriber.close()
  }
}
