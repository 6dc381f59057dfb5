import { promptApis } from '#engine-adapters/prompt-api.ts'
import { outcomes, skippedReasons } from '#proxy/common/reasons.ts'
import { noSums } from '#proxy/gain/gain-ledger.ts'
import { reuseReport } from '#proxy/replicas/reports/callback-bodies.ts'
import {
  byName,
  flag,
  integer,
  like,
  list,
  number,
  object,
  oneOf,
  orNull,
  portable,
  reference,
  type Schema,
  text,
} from './schemas.ts'

const mode = oneOf('auto', 'ask', 'on', 'shadow', 'off')
const replicaState = oneOf('ready', 'draining', 'unhealthy', 'open')
const skipped = oneOf(...skippedReasons)
const templateState = oneOf('learning', 'sequence', 'torn', 'ready', 'refuted', 'proved', 'on', 'off')

const sums = like(noSums)
const saved = object({ tokens: integer, prefill_seconds: orNull(number) })
const named = list(reference('GainOf'))
const leftOut = object({ unreported: integer, too_long: integer, too_many: integer })
const gainTotal = object({ ...sums, uncounted_requests: integer, uncounted_by_reason: leftOut, saved })

const usage = {
  requests: integer,
  unreported_requests: integer,
  limited_requests: integer,
  prompt_tokens: integer,
  cached_tokens: integer,
  reused_tokens: integer,
  saved_tokens: integer,
}

const replica = object({
  replica: text,
  url: text,
  mode: oneOf('exact', 'degraded', 'fallback'),
  generation: orNull(text),
  sequence: integer,
  requests: integer,
  cached_tokens: integer,
  unknown_requests: integer,
  capacity_tokens: orNull(integer),
  divergence: orNull(integer),
  divergence_by: orNull(object({ stale_index: integer, routing: integer, tokenisation: integer })),
  state: orNull(replicaState),
  models: orNull(list(text)),
  in_flight: integer,
  warming: orNull(object({ requests: integer, tokens: integer })),
  reuse: orNull(portable(reuseReport)),
  checkpoints: orNull(object({ borders: flag }, { unit: integer, kinds: list(text), room_tokens: integer })),
})
const topBlocks = list(object({ id: text, count: integer, tokens: integer }, { words: text }))
const shape = object({
  api: oneOf(...promptApis),
  role: text,
  characters: integer,
  skipped,
  reason: orNull(text),
  remedy: text,
  count: integer,
  last_seen_seconds_ago: integer,
})
const interval = object({ mean: number, low: orNull(number), high: orNull(number) })
const template = object({
  id: text,
  tenant: text,
  state: templateState,
  moves: flag,
  meaning: text,
  found_by: text,
  skeleton: orNull({ type: 'object' }),
  requests: integer,
  blocks: integer,
  moved: integer,
  followed: integer,
  last_seen_seconds_ago: orNull(integer),
  traffic: { ...byName(number), required: ['verdict'], properties: { verdict: text } },
  proof: object({
    verdict: text,
    samples: integer,
    tokens: integer,
    loss: interval,
    worst: interval,
    dependent: integer,
  }),
  gain: object({ as_received: number, as_ordered: number }),
})

const latency = orNull(object({ p50: number, p99: number }))
const sampled = [
  ...['requests', 'prompt_tokens', 'cached_tokens', 'reused_tokens', 'recomputed_tokens', 'predicted_cached_tokens'],
  ...['baseline_cached_tokens', 'shadow_cached_tokens', 'seen_tokens', 'listed_pages', 'all_pages', 'page_choices'],
  ...['page_backtracks', 'overhead_seconds', 'decided', 'first_byte_seconds', 'answered', 'queue_depth', 'in_flight'],
]
const stats = object({
  version: text,
  mode,
  draining: flag,
  interval_seconds: number,
  queue_depth: integer,
  in_flight: integer,
  outcomes: { ...byName(integer), propertyNames: { enum: outcomes } },
  ...like({ routes: 0, blocks: 0, skipped: 0, fail_open: 0, stream_aborts: 0 }, byName(integer)),
  shapes: list(reference('Shape')),
  templates: list(reference('Template')),
  known_chunks: object({
    ...like({ known: 0, capacity: 0, learned: 0, registered: 0, matched: 0 }),
    by_source: byName(integer),
    lists: byName(integer),
    last_match_seconds_ago: orNull(integer),
  }),
  gain: reference('GainTotal'),
  gain_by: object(like({ tenant: 0, api: 0, shape: 0 }, list(reference('GainOf')))),
  replicas: list(reference('ReplicaReport')),
  top_blocks: topBlocks,
  latencies: list(object({ range_seconds: integer, overhead_ms: latency, first_byte_ms: latency })),
  samples: list(object({ at: integer, ...Object.fromEntries(sampled.map((name) => [name, number])) })),
})

const leftAlone = object(
  { at: text, reason: text, remedy: text },
  { template: text, line: integer, begins: text, role: text, byte: integer, here: text, instead_of: text },
)
const explanation = object({
  blocks: list(text),
  words: list(text),
  search_path: list(integer),
  order: list(integer),
  annotations: list(text),
  citations: byName(text),
  lists: list(
    object(
      { first_block: integer, blocks: integer, found_by: text },
      ...[
        {
          template: text,
          template_state: templateState,
          may_move: flag,
          differs_by: text,
          remedy: text,
        },
      ],
    ),
  ),
  known_chunks: object({ known: integer, matched: integer, lists: integer, refused: byName(integer) }),
  predicted_cached_tokens: integer,
  predicted_reused_tokens: orNull(integer),
  borders: orNull(list(integer)),
  replica: text,
  tenant: text,
  skipped: orNull(skipped),
  left_alone: list(leftAlone),
  body: {},
})

/** What the control plane answers, by the names in the document. */
export const answers: Readonly<Record<string, Schema>> = {
  Status: object({ status: oneOf('ok', 'ready', 'draining', 'no_engine', 'cleared') }),
  Usage: object({
    since: { type: 'string', format: 'date-time' },
    total: reference('UsageSums'),
    callers: list(object({ tenant: text, key: orNull(text), ...usage })),
    other: reference('UsageSums'),
  }),
  Gain: object({
    mode,
    since: { type: 'string', format: 'date-time' },
    total: reference('GainTotal'),
    replicas: list(object({ name: text, ...sums, prefill_tokens_per_second: orNull(integer), saved })),
    routes: named,
    tenants: named,
    shapes: named,
  }),
  Mirror: object({
    replicas: list(reference('ReplicaReport')),
    tenants: object({ from: oneOf('key', 'header', 'none'), keys: flag, trusts_caller: flag }),
  }),
  Index: object({
    ...like({ size: 0, height: 0, nodes: 0, memory: 0, requests: 0, contexts: 0 }),
    top_blocks: topBlocks,
  }),
  Shapes: object({ shapes: list(reference('Shape')) }),
  Stats: stats,
  Explanation: explanation,
  Chunks: object({
    ...like({ chunks: 0, everyone: 0, learned: 0, capacity: 0, bytes: 0 }),
    tenants: byName(integer),
    learns: flag,
    last_match_seconds_ago: orNull(integer),
  }),
  PutChunks: object(like({ added: 0, known: 0, too_short: 0, crowded: 0, chunks: 0 })),
  ForgottenChunks: object(like({ forgotten: 0, chunks: 0 })),
  Templates: object({ mode, templates: list(reference('Template')) }),
  Template: template,
  Shape: shape,
  ReplicaReport: replica,
  GainTotal: gainTotal,
  GainOf: object({ name: text, ...sums }),
  UsageSums: object(usage),
  TemplateState: object({ id: text, state: { enum: [...(templateState.enum as string[]), 'forgotten'] } }),
  Pins: object({
    ...like({ tokens: 0, limit_tokens: 0, tenant_limit_tokens: 0 }),
    pins: list(
      object({
        ...{ id: text, tenant: text, model: orNull(text), tokens: integer, expires_in_seconds: integer },
        cached_tokens: byName(integer),
      }),
    ),
  }),
  Unpinned: object({ state: oneOf('unpinned') }, { id: text }),
  Engines: object(
    { engines: list(object({ id: text, state: replicaState })) },
    { unresolved: list(object({ engine: text, fault: text })) },
  ),
  Replica: object({ replica: text, state: oneOf('draining', 'ready') }),
  Acknowledged: object({ sequence: integer }),
  Expected: object({ expected: integer }),
  Evicted: object({ evicted: integer, unknown: integer }),
}
