import fc from 'fast-check'
import { expect, test } from 'vitest'
import { judgeReuse, judgeStore, readReuseCounts } from './reuse-counts.ts'

const count = (name: string, labels: string, value: number | string): string =>
  `# TYPE ${name} counter\n${name}_total{${labels}} ${value}\n`
const stock = (reason: string, value: number): string =>
  count('vllm:reprise_stock_requests', `engine="0",model_name="m",reason="${reason}"`, value)
const judge = (metrics: string): unknown => judgeReuse(readReuseCounts(metrics)!)

test('an engine without the plugin, or that has had no request, counts nothing', () => {
  expect(readReuseCounts('vllm:prompt_tokens_total{engine="0"} 7.0\n')).toBeUndefined()
  expect(readReuseCounts('# TYPE vllm:reprise_prompt_tokens_total counter\n')).toBeUndefined()
})

test.each(['vllm', 'sglang'])('counts of %s are added up over ranks', (engine) => {
  const tokens = (rank: number): string =>
    count(
      `${engine}:reprise_prompt_tokens`,
      `engine="${rank}",kind="reused",model_name="kind of {}"`,
      rank === 0 ? '70.0' : '1.234567e+06',
    )
  const faults = count(`${engine}:reprise_faults`, 'what="filling"', '2.0')
  expect(readReuseCounts(tokens(0) + tokens(1) + faults)).toEqual({
    reused: 1_234_637,
    stock: new Map(),
    faults: 2,
    store: undefined,
  })
})

test('whatever an engine answers with, reading it does not fail', () => {
  fc.assert(fc.property(fc.string(), (metrics) => void expect(readReuseCounts(metrics)).toBeUndefined()))
})

test('that everything is predicted to be slower is a warning, with what to do', () => {
  expect(judge(stock('slower', 12) + stock('few_tokens', 30))).toMatchObject({
    level: 'warning',
    found:
      '0 prompt tokens were reused at another position since the engine started; requests served as without: 30 few_tokens, 12 slower',
    fix: expect.stringContaining('"when": "always"'),
  })
})

test('some requests without reuse are none', () => {
  const reused = count('vllm:reprise_prompt_tokens', 'kind="reused"', '900.0')
  expect(judge(reused + stock('slower', 12))).toMatchObject({ level: 'ok' })
  expect(judge(stock('few_tokens', 3))).toMatchObject({ level: 'ok' })
})

test('faults are a warning', () => {
  expect(judge(stock('off', 1) + count('vllm:reprise_faults', 'what="storing"', '3.0'))).toMatchObject({
    level: 'warning',
    found: expect.stringContaining('3 faults'),
  })
})

test('a store that has never answered is a warning, and one that has is none', () => {
  const event = (name: string, value: number): string =>
    count('vllm:reprise_remote', `engine="0",event="${name}",model_name="m"`, `${value}.0`)
  const judged = (metrics: string): unknown => judgeStore(readReuseCounts(metrics)!)
  expect(judged(stock('off', 1))).toBeUndefined()
  expect(judged(event('failed', 30) + event('unwritten', 12))).toMatchObject({
    level: 'warning',
    found: 'the store that engines share has answered nothing since the engine started, and failed 30 times',
  })
  expect(judged(event('failed', 3) + event('keys', 64))).toMatchObject({ level: 'ok' })
})
