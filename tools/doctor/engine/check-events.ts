import { adapterFor } from '#engine-adapters/adapter-for.ts'
import type { EngineSettings } from '#proxy/config/config.ts'
import { type Finding, notChecked, ok, warning } from '../finding.ts'
import { writeEvents } from './engine-facts.ts'
import type { HeardEvents } from './hear-events.ts'
import type { EngineIdentity } from './identify-engine.ts'

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
