import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { stringify } from 'yaml'
import { exampleValues, find, mergeValues, render, type Values } from './render.ts'
import { hasTool, toolPath } from './tools/tool-path.ts'

const labels = 'namespace="ai",pod="r-reprise-1"'
/** Labels of another release's series, which the rules must ignore. */
const foreign = 'namespace="ai",pod="other-1"'

interface Case {
  readonly alert: string
  /** series with one value per minute */
  readonly series: Readonly<Record<string, string>>
  /** when the alert is evaluated */
  readonly at: string
  /** labels of the firing alert in addition to the rule's; undefined: none fires */
  readonly fires?: Readonly<Record<string, string>>
}

const pod = { namespace: 'ai', pod: 'r-reprise-1' }
const scraped = { [`reprise_build_info{${labels}}`]: '1x3000' }
const busy = (outcome: string, step: number): Record<string, string> => ({
  [`reprise_requests_total{${labels},route="chat_completions",outcome="${outcome}"}`]: `0+${step}x3000`,
})
/** 120,000 prompt tokens per minute, of which `first` are cached on the first day and `second` on the second. */
const tokens = (first: number, second: number): Record<string, string> => ({
  [`reprise_prompt_tokens_total{${labels}}`]: '0+120000x3000',
  [`reprise_cached_tokens_total{${labels},source="engine"}`]: `0+${first}x1440 ${first * 1440 + second}+${second}x1500`,
})

const failOpen = (reason: string): string => `reprise_fail_open_total{${labels},reason="${reason}"}`
const causedByClients = ['too_large_to_rewrite', 'unknown_turn', 'ambiguous_turn', 'answer_too_large']

const cases: Case[] = [
  {
    alert: 'RepriseDown',
    series: { [`reprise_build_info{${foreign}}`]: '1x60' },
    at: '6m',
    fires: { namespace: 'ai' },
  },
  { alert: 'RepriseDown', series: scraped, at: '30m' },
  {
    alert: 'RepriseEngineDown',
    series: {
      ...scraped,
      [`reprise_replica_state{${labels},replica="gpu-0",state="open"}`]: '1 1 1 _ 1 1 1 _ 1 1 1 _ 1',
    },
    at: '8m',
    fires: { ...pod, replica: 'gpu-0' },
  },
  {
    alert: 'RepriseEngineDown',
    series: {
      ...scraped,
      [`reprise_replica_state{${labels},replica="gpu-0",state="ready"}`]: '1x60',
      [`reprise_replica_state{${labels},replica="gpu-0",state="unhealthy"}`]: '_x20 1 _x39',
    },
    at: '22m',
  },
  {
    alert: 'RepriseEngineUnreachable',
    series: { ...busy('completed', 900), ...busy('engine_unreachable', 100) },
    at: '10m',
    fires: {},
  },
  {
    alert: 'RepriseEngineUnreachable',
    series: { ...busy('completed', 999), ...busy('engine_unreachable', 1) },
    at: '30m',
  },
  {
    alert: 'RepriseMirrorDegraded',
    series: { [`reprise_mirror_mode{${labels},replica="gpu-0"}`]: '1x60' },
    at: '11m',
    fires: { ...pod, replica: 'gpu-0' },
  },
  {
    alert: 'RepriseMirrorDegraded',
    series: {
      [`reprise_mirror_mode{${labels},replica="gpu-0"}`]: '1x5 2x60',
      [`reprise_mirror_mode{${foreign},replica="gpu-0"}`]: '1x60',
    },
    at: '30m',
  },
  {
    alert: 'RepriseMirrorWithoutReports',
    series: { [`reprise_mirror_mode{${labels},replica="gpu-0"}`]: '0x60' },
    at: '31m',
    fires: { ...pod, replica: 'gpu-0' },
  },
  {
    alert: 'RepriseMirrorWithoutReports',
    series: {
      [`reprise_mirror_mode{${labels},replica="embedder"}`]: '0x60',
      [`reprise_replica_info{${labels},replica="embedder",kind="openai"}`]: '1x60',
    },
    at: '45m',
  },
  {
    alert: 'RepriseMirrorWithoutReports',
    series: { [`reprise_mirror_mode{${labels},replica="gpu-0"}`]: '0x10 2x50' },
    at: '45m',
  },
  {
    alert: 'RepriseFailsOpen',
    series: { ...busy('completed', 1000), [failOpen('redis_late')]: '0+50x60' },
    at: '20m',
    fires: { reason: 'redis_late' },
  },
  {
    alert: 'RepriseFailsOpen',
    series: { ...busy('completed', 1000), [failOpen('redis_late')]: '0+5x60' },
    at: '20m',
  },
  {
    alert: 'RepriseFailsOpen',
    series: { ...busy('completed', 1000), [failOpen('not_known_yet')]: '0+50x60' },
    at: '20m',
    fires: { reason: 'not_known_yet' },
  },
  {
    // what clients cause by what they send
    alert: 'RepriseFailsOpen',
    series: {
      ...busy('completed', 1000),
      ...Object.fromEntries(causedByClients.map((reason) => [failOpen(reason), '0+900x60'])),
    },
    at: '20m',
  },
  { alert: 'RepriseHitRatioDropped', series: tokens(60_000, 12_000), at: '1600m', fires: {} },
  { alert: 'RepriseHitRatioDropped', series: tokens(60_000, 50_000), at: '1600m' },
  { alert: 'RepriseQueueLong', series: { [`reprise_queue_depth{${labels}}`]: '100x60' }, at: '11m', fires: pod },
  { alert: 'RepriseQueueLong', series: { [`reprise_queue_depth{${labels}}`]: '100x2 0x60' }, at: '11m' },
  { alert: 'RepriseRedisDown', series: { [`reprise_redis_up{${labels}}`]: '0x60' }, at: '6m', fires: pod },
  { alert: 'RepriseRedisDown', series: { [`reprise_redis_up{${labels}}`]: '1x60' }, at: '30m' },
]

const overhead = (seconds: number, rate: number): Record<string, string> => ({
  [`reprise_request_overhead_seconds_bucket{${labels},le="${seconds}"}`]: `0+${rate}x60`,
  [`reprise_request_overhead_seconds_bucket{${labels},le="+Inf"}`]: '0+1000x60',
})
const worth = (cached: number, baseline: number): Record<string, string> => ({
  [`reprise_prompt_tokens_total{${labels}}`]: '0+120000x600',
  [`reprise_cached_tokens_total{${labels},source="engine"}`]: `0+${cached}x600`,
  [`reprise_baseline_cached_tokens_total{${labels},replica="gpu-0"}`]: `0+${baseline}x600`,
})

/** Events of a shared store per minute, as two ranks of an engine count them. */
function remote(
  engine: 'vllm' | 'sglang',
  events: Readonly<Record<string, number>>,
  of = labels,
): Record<string, string> {
  const series = Object.entries(events).flatMap(([event, rate]) =>
    [0, 1].map((rank) => [`${engine}:reprise_remote_total{${of},engine="${rank}",event="${event}"}`, `0+${rate}x60`]),
  )
  return Object.fromEntries(series) as Record<string, string>
}

cases.push(
  {
    alert: 'RepriseErrors',
    series: { ...busy('finished', 900), ...busy('engine_error', 100) },
    at: '20m',
    fires: { outcome: 'engine_error' },
  },
  { alert: 'RepriseErrors', series: { ...busy('finished', 900), ...busy('client_left', 500) }, at: '30m' },
  {
    alert: 'RepriseCallersLimited',
    series: { ...busy('finished', 900), [`reprise_rate_limited_total{${labels}}`]: '0+100x60' },
    at: '50m',
    fires: {},
  },
  {
    alert: 'RepriseCallersLimited',
    series: { ...busy('finished', 900), [`reprise_rate_limited_total{${foreign}}`]: '0+100x60' },
    at: '50m',
  },
  { alert: 'RepriseCostsMoreThanItSaves', series: worth(20_000, 40_000), at: '450m', fires: {} },
  { alert: 'RepriseCostsMoreThanItSaves', series: worth(40_000, 20_000), at: '450m' },
  { alert: 'RepriseSlow', series: { ...overhead(0.1, 900), ...overhead(1, 999) }, at: '20m', fires: {} },
  { alert: 'RepriseSlow', series: overhead(0.1, 999), at: '30m' },
  // a store that is left alone is tried again twice a minute
  { alert: 'RepriseStoreFails', series: remote('vllm', { failed: 2 }), at: '12m', fires: pod },
  {
    alert: 'RepriseStoreFails',
    series: remote('sglang', { looked_up: 50, read: 20, refused: 30 }),
    at: '12m',
    fires: pod,
  },
  {
    alert: 'RepriseStoreFails',
    series: remote('vllm', { looked_up: 50, read: 50, missing: 900, failed: 2 }),
    at: '30m',
  },
  { alert: 'RepriseStoreFails', series: remote('vllm', { failed: 2 }, foreign), at: '30m' },
  { alert: 'RepriseStoreNotWritten', series: remote('sglang', { unwritten: 9, written: 1 }), at: '40m', fires: pod },
  { alert: 'RepriseStoreNotWritten', series: remote('vllm', { unwritten: 9, written: 1, known: 90 }), at: '40m' },
)

interface Rule {
  readonly alert: string
  readonly labels: Readonly<Record<string, string>>
  readonly annotations: Readonly<Record<string, string>>
}

describe.runIf(hasTool('bin', 'promtool'))('the alert', () => {
  let folder: string
  let rules: readonly Rule[]

  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'reprise-rules-'))
    const spec = find(render(exampleValues('everything')), 'PrometheusRule').spec as { groups: [{ rules: Rule[] }] }
    rules = spec.groups[0].rules
    writeFileSync(join(folder, 'rules.yaml'), stringify(spec))
    // annotations are text for people and are not compared
    const bare = { groups: [{ name: 'bare', rules: rules.map(({ annotations: _, ...rule }) => rule) }] }
    writeFileSync(join(folder, 'bare.yaml'), stringify(bare))
  })
  afterAll(() => rmSync(folder, { recursive: true }))

  test('rules are such as Prometheus reads', () => {
    expect(promtool('check', 'rules', join(folder, 'rules.yaml'))).toMatchObject({ status: 0 })
  })

  test('rules about a store are only for engines that the chart starts with one', () => {
    const ofStore = (values: Values): string[] => {
      const spec = find(
        render(mergeValues(values, { metrics: { prometheusRule: { enabled: true } } })),
        'PrometheusRule',
      )
      const { groups } = spec.spec as { groups: [{ rules: Rule[] }] }
      return groups[0].rules.map(({ alert }) => alert).filter((alert) => alert.startsWith('RepriseStore'))
    }
    expect(ofStore(exampleValues('mooncake'))).toHaveLength(2)
    expect(ofStore(exampleValues('vllm'))).toEqual([])
    expect(ofStore(exampleValues('gateway'))).toEqual([])
  })

  test('rules are all tested, firing and silent', () => {
    for (const { alert } of rules) {
      const tested = new Set(cases.filter((one) => one.alert === alert).map(({ fires }) => fires !== undefined))
      expect({ alert, tested: [...tested].toSorted() }).toEqual({ alert, tested: [false, true] })
    }
  })

  test.each(cases.map((one) => [`${one.alert} ${one.fires ? 'fires' : 'is silent'}`, one] as const))('%s', (_, one) => {
    const rule = rules.find(({ alert }) => alert === one.alert)!
    const file = join(folder, 'test.yaml')
    const alerts = one.fires ? [{ exp_labels: { ...rule.labels, ...one.fires } }] : []
    const tests = {
      rule_files: ['bare.yaml'],
      evaluation_interval: '1m',
      tests: [
        {
          interval: '1m',
          input_series: Object.entries(one.series).map(([series, values]) => ({ series, values })),
          alert_rule_test: [{ alertname: one.alert, eval_time: one.at, exp_alerts: alerts }],
        },
      ],
    }
    writeFileSync(file, stringify(tests))
    const { stdout, stderr } = promtool('test', 'rules', file)
    expect(stdout + stderr).toContain('SUCCESS')
  })
})

function promtool(...args: string[]): { status: number | null; stdout: string; stderr: string } {
  return spawnSync(toolPath('bin', 'promtool'), args, { encoding: 'utf8' })
}
