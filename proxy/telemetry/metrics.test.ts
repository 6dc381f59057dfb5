import { expect, test } from 'vitest'
import { failOpenReasons, skippedReasons } from '../common/reasons.ts'
import type { Replica } from '../replicas/replica.ts'
import { createMetrics, type MetricSources } from './metrics.ts'

/** What the metrics read of a replica. */
const replicaOf = (id: string, mode: string, inFlight: number) => ({
  id,
  inFlight,
  state: 'ready',
  adapter: { kind: 'vllm' },
  admission: { depth: 1 },
  mirror: { statistics: { nodes: 7, bytes: 617 } },
  replicaMirror: { state: { mode }, applied: { stored: 1, evicted: 3 } },
})
const sourcesWith = (...all: ReturnType<typeof replicaOf>[]): MetricSources => ({
  version: '1.2.3',
  replicas: { all: all as unknown as Replica[] },
  hot: { load: 0.25 },
  knownChunks: () => 0,
  templates: { states: new Map() },
  redis: undefined,
})
const [a, b] = [replicaOf('a', 'exact', 2), replicaOf('b', 'fallback', 0)]
const sources = sourcesWith(a, b)

test('every metric of the contract is there by its name', async () => {
  const text = await createMetrics(sources).registry.metrics()
  const names = [...text.matchAll(/^# TYPE (\S+)/gm)].map(([, name]) => name)
  expect(names).toEqual(
    expect.arrayContaining(
      [
        'requests_total',
        'prompt_tokens_total',
        'cached_tokens_total',
        'reused_tokens_total',
        'recomputed_tokens_total',
        'predicted_cached_tokens_total',
        'seen_tokens_total',
        'listed_pages_total',
        'pages_total',
        'page_choices_total',
        'page_backtracks_total',
        'blocks_total',
        'fail_open_total',
        'queue_depth',
        'queue_seconds',
        'overhead_seconds',
        'time_to_first_token_seconds',
        'stream_aborts_total',
        'mirror_mode',
        'mirror_events_total',
        'mirror_gaps_total',
        'mirror_divergence_tokens',
        'index_nodes',
        'index_bytes',
        'hotness_filter_load',
        'skipped_total',
        'in_flight',
        'build_info',
        'process_resident_memory_bytes',
      ].map((name) => `reprise_${name}`),
    ),
  )
  // all have our prefix
  expect(names.filter((name) => !name!.startsWith('reprise_'))).toEqual([])
})

test('what is counted by a word that is known beforehand is 0 until it happens', async () => {
  const text = await createMetrics(sources).registry.metrics()
  for (const action of ['kept', 'moved', 'deduplicated']) {
    expect(text).toContain(`\nreprise_blocks_total{action="${action}"} 0\n`)
  }
  for (const phase of ['queue', 'before_head', 'mid_stream']) {
    expect(text).toContain(`\nreprise_stream_aborts_total{phase="${phase}"} 0\n`)
  }
  for (const reason of skippedReasons) expect(text).toContain(`\nreprise_skipped_total{reason="${reason}"} 0\n`)
  for (const reason of failOpenReasons) expect(text).toContain(`\nreprise_fail_open_total{reason="${reason}"} 0\n`)
  expect(text).toContain('\nreprise_cached_tokens_total{source="engine"} 0\n')
})

test('what is read elsewhere is read when it is asked for', async () => {
  const busy = replicaOf('a', 'exact', 2)
  const { registry } = createMetrics(sourcesWith(busy, b))
  busy.admission.depth = 8
  const text = await registry.metrics()
  expect(text).toContain('\nreprise_queue_depth 9\n')
  expect(text).toContain('\nreprise_index_bytes 1234\n')
  expect(text).toContain('\nreprise_hotness_filter_load 0.25\n')
  expect(text).toContain('\nreprise_in_flight{replica="a"} 2\nreprise_in_flight{replica="b"} 0\n')
  expect(text).toContain('\nreprise_mirror_mode{replica="a"} 2\nreprise_mirror_mode{replica="b"} 0\n')
  expect(text).toContain('\nreprise_mirror_events_total{type="evicted"} 6\n')
  expect(text).toMatch(/\nreprise_build_info\{version="1\.2\.3",node="\d+\.\d+\.\d+"\} 1\n/)
})

test('Redis has a metric only where there is a Redis', async () => {
  expect(await createMetrics(sources).registry.metrics()).not.toContain('redis_up')
  const connection = { isUp: true }
  const { registry } = createMetrics({ ...sources, redis: { connection } })
  expect(await registry.metrics()).toContain('\nreprise_redis_up 1\n')
  connection.isUp = false
  expect(await registry.metrics()).toContain('\nreprise_redis_up 0\n')
})

test('a replica is in one state at a time, and one that is gone in none', async () => {
  const all = [replicaOf('a', 'exact', 0), b]
  const { registry } = createMetrics({ ...sources, replicas: { all: all as unknown as Replica[] } })
  expect(await registry.metrics()).toContain('reprise_replica_state{replica="a",state="ready"} 1')
  all.pop()
  all[0]!.state = 'draining'
  const text = await registry.metrics()
  expect(text.match(/reprise_replica_state\{.*/g)).toEqual(['reprise_replica_state{replica="a",state="draining"} 1'])
})

/** Checks what promtool's linter requires of names, types and help texts. */
function lint(text: string): string[] {
  const helps = new Set([...text.matchAll(/^# HELP (\S+) \S/gm)].map(([, name]) => name))
  return [...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)].flatMap(([, name = '', type = '']) => {
    const faults: [boolean, string][] = [
      [!helps.has(name), 'no help text'],
      [type === 'counter' && !name.endsWith('_total'), 'counter metrics should have "_total" suffix'],
      [type !== 'counter' && name.endsWith('_total'), 'non-counter metrics should not have "_total" suffix'],
      [type !== 'histogram' && /_(bucket)$/.test(name), 'non-histogram metrics should not have "_bucket" suffix'],
      [!/^(histogram|summary)$/.test(type) && /_(count|sum)$/.test(name), 'only histograms have "_count" and "_sum"'],
      [/_(milliseconds|minutes|hours|days|kilobytes|megabytes|percent|ms|kb|mb)(_|$)/.test(name), 'no base unit'],
      [/(^|_)(counter|gauge|histogram|summary)(_|$)/.test(name), 'metric name should not include type'],
      [/[A-Z:]/.test(name), 'metric names should be in snake_case'],
    ]
    return faults.flatMap(([isFault, fault]) => (isFault ? [`${name}: ${fault}`] : []))
  })
}

test("names and types pass promtool's linter", async () => {
  const all = { ...sources, redis: { connection: { isUp: true } } }
  expect(lint(await createMetrics(all).registry.metrics())).toEqual([])
  expect(lint('# TYPE reprise_x_total gauge\n')).toHaveLength(2)
})
