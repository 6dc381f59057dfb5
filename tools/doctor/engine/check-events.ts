import { setTimeout as pause } from 'node:timers/promises'
import { adapterFor } from '#engine-adapters/adapter-for.ts'
import { askReplay, EventSubscriber } from '#engine-adapters/kv-events/event-subscriber.ts'
import { ReportedCache } from '#engine-adapters/kv-events/reported-cache.ts'
import type { EngineSettings } from '#proxy/config/config.ts'
import { type Finding, notChecked, ok, warning } from '../finding.ts'
import { type EngineIdentity, writeEvents } from './engine-facts.ts'

/** An engine whose events can be heard. */
export type ListenedEngine = EngineSettings & { readonly events: string }

/** What is known of an engine that was listened to while it computed prompts. */
interface EventEvidence {
  readonly engine: ListenedEngine
  readonly identity: EngineIdentity
  readonly heard: HeardEvents
  /** undefined: not asked */
  readonly answersReplays: boolean | undefined
  /** whether the engine computed new prompts meanwhile */
  readonly hasComputed: boolean
  /** whether it cached what it computed, as far as is known */
  readonly isCaching: boolean
}

/** Judges whether an engine's own cache events arrive, and whether missed events can be replayed. */
export function judgeEvents(evidence: EventEvidence): Finding[] {
  const events = judgeArrival(evidence)
  if (events.level !== 'ok') return [events]
  return [judgeReuse(evidence) ?? events, judgeReplay(evidence)]
}

function judgeArrival(evidence: EventEvidence): Finding {
  const { engine, heard, hasComputed, isCaching } = evidence
  const { isConnected, batches, blocks, unknown, fault } = heard
  const start = fixFor(evidence)
  if (!isConnected) return warning('events', `${engine.events}: nobody publishes there`, start)
  if (fault !== undefined) {
    const fix = 'see what publishes there: it is not a known version of vLLM or SGLang'
    return warning('events', `${engine.events}: a message was not understood: ${fault}`, fix)
  }
  if (blocks === 0 && !hasComputed) {
    const found = `${engine.events}: something publishes there; the check needs an engine that computes prompts`
    return notChecked('events', found, 'first fix what keeps the engine from answering')
  }
  if (blocks === 0) {
    const found = `${engine.events}: ${batches === 0 ? 'nothing was published' : 'no stored block was reported'} while the engine computed prompts`
    const fix = isCaching
      ? `see whose events these are; ${start}`
      : 'switch on prefix caching: without it there is nothing to report'
    return warning('events', found, fix)
  }
  if (unknown > 0) {
    const found = `${engine.events}: ${blocks} stored blocks were reported, and ${unknown} events of unknown kinds`
    return warning('events', found, 'use the plugin for this version of the engine')
  }
  return ok(
    'events',
    `${engine.events}: arrive, ${blocks} stored ${blocks === 1 ? 'block was' : 'blocks were'} reported`,
  )
}

/** Reused blocks have the tokens of exact blocks, but other hashes: only known hashes can distinguish them. */
function judgeReuse({ engine, heard, identity }: EventEvidence): Finding | undefined {
  if (!identity.facts.reuse || !heard.isByContent) return undefined
  const found = `${engine.events}: arrive, but the engine reuses KV at any position and has hashes that cannot be computed here, so nothing shows what is exact`
  const fix =
    'start vLLM with --prefix-caching-hash-algo sha256 and without PYTHONHASHSEED, or leave out events= and let its plugin report'
  return warning('events', found, fix)
}

function judgeReplay({ engine, identity, answersReplays }: EventEvidence): Finding {
  const { events, replay } = engine
  if (replay === undefined) {
    const found = 'no replay= is given: missed events stay missed, and the mirror stays degraded'
    return warning('replay', found, `${startWith(identity.kind, engine)} and add ,replay=${besideOf(events)}`)
  }
  if (answersReplays) return ok('replay', `${replay}: answers`)
  const found = `${replay}: does not answer, so missed events stay missed`
  return warning('replay', found, startWith(identity.kind, engine))
}

/** If the engine publishes elsewhere, advises to listen there; otherwise to configure the engine to publish. */
function fixFor({ engine, identity: { kind, facts } }: EventEvidence): string {
  const { publisher } = facts
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

/** Whether the settings name an address for events. */
export function hasEvents(engine: EngineSettings): engine is ListenedEngine {
  return engine.events !== undefined
}

/** The cache events received from an engine while it computed prompts. */
interface HeardEvents {
  /** whether a publisher answered at the address */
  readonly isConnected: boolean
  readonly batches: number
  /** blocks that were reported as stored */
  readonly blocks: number
  /** whether blocks are named by content, because their hashes cannot be computed here */
  readonly isByContent: boolean
  /** events of kinds that are not known */
  readonly unknown: number
  readonly fault: Fault
}

/** Why the last message could not be read. */
type Fault = string | undefined

/** If there is a publisher, its handshake takes no longer than this. */
const connectMilliseconds = 2_000
/** An engine publishes after its answer. */
const settleMilliseconds = 3_000
const pollMilliseconds = 20

/** Listens to an engine's cache events while it computes. Returns what `compute` does, and what was heard meanwhile. */
export async function hearEvents<Result>(
  eventsUrl: string,
  compute: () => Promise<Result>,
  signal: AbortSignal,
): Promise<[Result, HeardEvents]> {
  const heard = { isConnected: false, batches: 0, blocks: 0, isByContent: false, unknown: 0, fault: undefined as Fault }
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

/** Whether an engine answers a replay request at this address. */
export async function answersReplays(replayUrl: string, signal: AbortSignal): Promise<boolean> {
  // whatever else is there, it is not an engine's replay socket
  return askReplay(replayUrl, 0, () => {}, { timeoutMilliseconds: connectMilliseconds, signal }).catch(() => false)
}
