import { adapterFor } from '#engine-adapters/adapter-for.ts'
import type { EngineKind } from '#engine-adapters/engine-adapter.ts'
import type { EngineSettings } from '#proxy/config/config.ts'
import { type Finding, notChecked, ok, warning } from '../finding.ts'
import { type EventPublisher, writeEvents } from './engine-facts.ts'
import type { HeardEvents } from './event-watch.ts'

/** Where we listened for an engine's events, and what arrived. */
interface EventEvidence {
  readonly kind: EngineKind | undefined
  readonly eventsUrl: string
  readonly replayUrl: string | undefined
  /** where the engine reports that it publishes */
  readonly publisher: EventPublisher | undefined
  readonly heard: HeardEvents
  /** whether the engine reuses KV at any position */
  readonly reusesAnywhere?: boolean | undefined
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
  const { eventsUrl, heard, hasComputed, isCaching } = evidence
  const { isConnected, batches, blocks, unknown, fault } = heard
  const start = fixFor(evidence)
  if (!isConnected) return warning('events', `${eventsUrl}: nobody publishes there`, start)
  if (fault !== undefined) {
    const fix = 'see what publishes there: it is not a known version of vLLM or SGLang'
    return warning('events', `${eventsUrl}: a message was not understood: ${fault}`, fix)
  }
  if (blocks === 0 && !hasComputed) {
    const found = `${eventsUrl}: something publishes there; the check needs an engine that computes prompts`
    return notChecked('events', found, 'first fix what keeps the engine from answering')
  }
  if (blocks === 0) {
    const found = `${eventsUrl}: ${batches === 0 ? 'nothing was published' : 'no stored block was reported'} while the engine computed prompts`
    const fix = isCaching
      ? `see whose events these are; ${start}`
      : 'switch on prefix caching: without it there is nothing to report'
    return warning('events', found, fix)
  }
  if (unknown > 0) {
    const found = `${eventsUrl}: ${blocks} stored blocks were reported, and ${unknown} events of unknown kinds`
    return warning('events', found, 'use the plugin for this version of the engine')
  }
  return ok('events', `${eventsUrl}: arrive, ${blocks} stored ${blocks === 1 ? 'block was' : 'blocks were'} reported`)
}

/** Reused blocks have the tokens of exact blocks, but other hashes: only known hashes can distinguish them. */
function judgeReuse({ eventsUrl, heard, reusesAnywhere }: EventEvidence): Finding | undefined {
  if (!reusesAnywhere || !heard.isByContent) return undefined
  const found = `${eventsUrl}: arrive, but the engine reuses KV at any position and has hashes that cannot be computed here, so nothing shows what is exact`
  const fix =
    'start vLLM with --prefix-caching-hash-algo sha256 and without PYTHONHASHSEED, or leave out events= and let its plugin report'
  return warning('events', found, fix)
}

function judgeReplay({ kind, eventsUrl, replayUrl, answersReplays }: EventEvidence): Finding {
  if (replayUrl === undefined) {
    const found = 'no replay= is given: missed events stay missed, and the mirror stays degraded'
    const fix = `${startWith(kind, eventsUrl, undefined)} and add ,replay=${besideOf(eventsUrl)}`
    return warning('replay', found, fix)
  }
  if (answersReplays) return ok('replay', `${replayUrl}: answers`)
  const found = `${replayUrl}: does not answer, so missed events stay missed`
  return warning('replay', found, startWith(kind, eventsUrl, replayUrl))
}

/** If the engine publishes elsewhere, advises to listen there; otherwise to configure the engine to publish. */
function fixFor({ kind, eventsUrl, replayUrl, publisher }: EventEvidence): string {
  if (!publisher || String(publisher.port) === portOf(eventsUrl)) return startWith(kind, eventsUrl, replayUrl)
  return `write ${writeEvents(publisher)}, where the engine says that it publishes`
}

/** Writes the engine's flag with the ports given here. */
function startWith(kind: EventEvidence['kind'], eventsUrl: string, replayUrl: string | undefined): string {
  const config = {
    ...(kind === 'sglang' ? {} : { enable_kv_cache_events: true }),
    publisher: 'zmq',
    // with a host name, both engines would connect there instead of listening
    endpoint: `tcp://*:${portOf(eventsUrl)}`,
    replay_endpoint: `tcp://*:${portOf(replayUrl ?? besideOf(eventsUrl))}`,
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
export function hasEvents<T extends Pick<EngineSettings, 'events'>>(engine: T): engine is T & { events: string } {
  return engine.events !== undefined
}
