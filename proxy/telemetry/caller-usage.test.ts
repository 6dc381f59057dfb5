import { Registry } from 'prom-client'
import { expect, test } from 'vitest'
import { type CallerNames, CallerUsage, mostLabels, mostListed } from './caller-usage.ts'

function create(): { usage: CallerUsage; series: (name: string) => Promise<Record<string, number>> } {
  const [usage, registry] = [new CallerUsage('2026-01-01T00:00:00Z'), new Registry()]
  usage.addCounters(registry)
  const series = async (name: string): Promise<Record<string, number>> => {
    const { values } = await registry.getSingleMetric(`reprise_caller_${name}_total`)!.get()
    return Object.fromEntries(values.map(({ labels, value }) => [`${labels.tenant}/${labels.key}`, value]))
  }
  return { usage, series }
}

const callerOf = (tenant: string, name?: string): CallerNames => ({
  tenant: `key:${tenant}`,
  key: name === undefined ? undefined : { name },
})

const told = (unreported_requests: number, limited_requests: number): object => ({
  unreported_requests,
  limited_requests,
})

test('each caller has its sums, the largest first; saved is what was cached only because of reprise', () => {
  const { usage } = create()
  usage.note(callerOf('acme', 'a'), { requests: 1, ...told(1, 2) })
  usage.note(callerOf('acme', 'a'), { prompt_tokens: 100, cached_tokens: 40, reused_tokens: 7 })
  usage.note(callerOf('acme', 'a'), { baseline_cached_tokens: 50 })
  usage.note(callerOf('acme', 'b'), { requests: 2, ...told(0, 0), prompt_tokens: 300, cached_tokens: 90 })
  const a = { requests: 1, ...told(1, 2), prompt_tokens: 100, cached_tokens: 40, reused_tokens: 7, saved_tokens: -10 }
  const b = { requests: 2, ...told(0, 0), prompt_tokens: 300, cached_tokens: 90, reused_tokens: 0, saved_tokens: 90 }
  expect(usage.report()).toEqual({
    since: '2026-01-01T00:00:00Z',
    total: { requests: 3, ...told(1, 2), prompt_tokens: 400, cached_tokens: 130, reused_tokens: 7, saved_tokens: 80 },
    callers: [
      { tenant: 'acme', key: 'b', ...b },
      { tenant: 'acme', key: 'a', ...a },
    ],
    other: { requests: 0, ...told(0, 0), prompt_tokens: 0, cached_tokens: 0, reused_tokens: 0, saved_tokens: 0 },
  })
})

test('whatever callers come, so many are kept; the largest stay, and nothing is lost from the total', () => {
  const { usage } = create()
  usage.note(callerOf('large'), { prompt_tokens: 1_000 })
  for (let i = 0; i < 10 * mostListed; i++) usage.note(callerOf(`small ${i}`), { prompt_tokens: 1 })
  const { callers, other, total } = usage.report()
  expect(callers).toHaveLength(mostListed)
  expect(callers[0]).toMatchObject({ tenant: 'large', key: null, prompt_tokens: 1_000 })
  expect(total.prompt_tokens).toBe(1_000 + 10 * mostListed)
  expect(other.prompt_tokens).toBe(9 * mostListed + 1)
})

test('metrics have the largest callers as labels and the others as one', async () => {
  const { usage, series } = create()
  for (let i = 0; i <= mostLabels; i++) usage.note(callerOf(`t${i}`, 'k'), { requests: 1, prompt_tokens: 10 + i })
  expect(Object.keys(await series('requests'))).toHaveLength(mostLabels + 1)
  expect(await series('prompt_tokens')).toMatchObject({ 'other/other': 10, 't1/k': 11, 't20/k': 30 })
})

test('a tenant and a key with the name of the rest are told from it', async () => {
  const { usage, series } = create()
  for (let i = 0; i < mostLabels; i++) usage.note(callerOf(`t${i}`), { prompt_tokens: 10 })
  for (const [i, name] of ['other', 'other (key)', undefined].entries())
    usage.note(callerOf('other', name), { prompt_tokens: 100 + i })
  usage.note(callerOf('t0', 'other'), { prompt_tokens: 200 })
  expect(await series('prompt_tokens')).toMatchObject({
    'other/other (key)': 100,
    'other/other (key) (key)': 101,
    'other/none': 102,
    't0/other': 200,
    'other/other': 40,
  })
  expect(usage.report().callers).toContainEqual(expect.objectContaining({ tenant: 'other', key: 'other' }))
})

test('while callers overtake each other no series falls, and each token is counted once', async () => {
  const { usage, series } = create()
  const before: Record<string, number> = {}
  let counted = 0
  let sum = 0
  for (let round = 0; round < 60; round++) {
    for (let i = 0; i < mostLabels + 5; i++) {
      const tokens = ((round * 7 + i * 13) % 11) * i
      sum += tokens
      usage.note(callerOf(`t${(i + round) % 40}`), { prompt_tokens: tokens })
    }
    const now = await series('prompt_tokens')
    expect(Object.keys(now).length).toBeLessThanOrEqual(mostLabels + 1)
    // as Prometheus adds up within its window, also a series that is gone for a while
    for (const [name, value] of Object.entries(now)) {
      expect(value).toBeGreaterThanOrEqual(before[name] ?? 0)
      counted += value - (before[name] ?? 0)
      before[name] = value
    }
  }
  expect(counted).toBe(sum)
})

test('a tenant whom only a bearer distinguishes is a hash of it', () => {
  const { usage } = create()
  usage.note({ tenant: 'digest-of-a-bearer', key: undefined }, { requests: 1 })
  expect(usage.report().callers[0]!.tenant).toMatch(/^[\w-]{12}$/)
})
