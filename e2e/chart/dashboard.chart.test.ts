import { type ChildProcess, spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { stringify } from 'yaml'
import { findFreePort } from '../demo/find-free-port.ts'
import { prompt } from '../pod/load.ts'
import { hasRedis, type RunningRedis, startRedis, waitFor } from '../redis-server.ts'
import { Reprises, type RunningReprise } from '../run-reprise.ts'
import { exampleValues, find, render } from './render.ts'
import { chart, hasTool, toolPath } from './tools/tool-path.ts'

interface Panel {
  readonly title: string
  readonly targets: readonly { readonly expr: string; readonly legendFormat: string }[]
}

interface Series {
  readonly metric: Readonly<Record<string, string>>
  /** when, and what */
  readonly value: readonly [number, string]
}

const { panels } = JSON.parse(readFileSync(join(chart, 'files', 'dashboard.json'), 'utf8')) as { panels: Panel[] }
const queries = panels.flatMap(({ title, targets }) =>
  targets.map(({ expr, legendFormat }): [string, string, string] => [`${title}: ${legendFormat}`, expr, legendFormat]),
)
/** Counters that exist only after a failure. */
const faults = ['reprise_fail_open_total', 'reprise_retries_total', 'reprise_caller_limited_requests_total']
const labels = { namespace: 'ai', pod: 'r-reprise-1' }
/** Two callers, by their keys. */
const callers = { 'sk-1': { tenant: 'acme', name: 'app' }, 'sk-2': { tenant: 'beta', name: 'batch' } } as const

/** A prompt on documents of its own, in one order or the other: only whoever turns them back finds them cached. */
function promptOn(subject: number, isTurned: boolean): object {
  const names = isTurned ? ['rivers', 'hills', 'lakes'] : ['lakes', 'hills', 'rivers']
  const documents = names.map(
    (name, k) =>
      `<document index="${k + 1}">Of ${name}, ${subject}. ${`What is said of ${name}. `.repeat(20)}</document>`,
  )
  const content = `<documents>\n${documents.join('\n')}\n</documents>\n\nQuestion: what is ${subject}?`
  return { ...prompt(1, subject), messages: [{ role: 'user', content }] }
}

test('the dashboard’s ConfigMap holds the file, and no panel or query of it is named twice', () => {
  const { data } = find(render(exampleValues('everything')), 'ConfigMap', 'r-reprise-dashboard')
  expect(JSON.parse(data!['r-reprise.json']!)).toMatchObject({ title: 'reprise', panels })
  expect(new Set(queries.map(([name]) => name)).size).toBe(queries.length)
})

describe.runIf(hasTool('bin', 'prometheus') && hasRedis)('a Prometheus that scrapes a proxy', () => {
  const reprises = new Reprises()
  let folder: string
  let redis: RunningRedis
  let emulator: RunningReprise
  let proxy: RunningReprise
  let prometheus: ChildProcess
  let prometheusUrl: string
  let exposed: string

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'reprise-prometheus-'))
    redis = await startRedis()
    const adminPort = await findFreePort()
    const callback = `http://127.0.0.1:${adminPort}/v1/replicas/gpu-0`
    emulator = await reprises.start(['emulate', '--listen', '127.0.0.1:0', '--callback', callback])
    const engine = ['--engine', `${emulator.listening.url},kind=vllm,id=gpu-0`]
    const places = ['--listen', '127.0.0.1:0', '--admin-listen', `127.0.0.1:${adminPort}`]
    const keys = Object.entries(callers).map(([key, caller]) => ({
      ...caller,
      sha256: createHash('sha256').update(key).digest('hex'),
    }))
    writeFileSync(join(folder, 'keys.json'), JSON.stringify({ keys }))
    const access = { REPRISE_KEYS_FILE: join(folder, 'keys.json') }
    proxy = await reprises.start(['serve', '--mode', 'on', ...engine, ...places, '--redis', redis.url], access)
    prometheusUrl = await startPrometheus(`127.0.0.1:${adminPort}`)
    for (let i = 0; i < 12; i++) {
      for (const isTurned of [false, true]) await ask(proxy.listening.url!, promptOn(i, isTurned))
      await expect(ask(proxy.listening.url!, prompt(1, i), 'of nobody')).rejects.toThrow('unauthorized')
      await ask(
        proxy.listening.url!,
        { ...prompt(1, i), messages: [{ role: 'user', content: `no documents ${i}` }] },
        'sk-2',
      )
      await new Promise((resolve) => setTimeout(resolve, 500))
    }
    exposed = await (await fetch(`${proxy.listening.admin_url}/metrics`)).text()
    // a rate needs two scrapes
    await waitFor(async () => (await query('rate(reprise_prompt_tokens_total[20s]) > 0')).length > 0, 60_000)
  })
  afterAll(async () => {
    reprises.stopAll()
    prometheus?.kill('SIGKILL')
    if (prometheus) await once(prometheus, 'exit')
    await redis?.close()
    rmSync(folder, { recursive: true, force: true })
  })

  async function startPrometheus(target: string): Promise<string> {
    const config = {
      global: { scrape_interval: '1s' },
      scrape_configs: [{ job_name: 'reprise', static_configs: [{ targets: [target], labels }] }],
    }
    const file = join(folder, 'prometheus.yaml')
    writeFileSync(file, stringify(config))
    const address = `127.0.0.1:${await findFreePort()}`
    const flags = [
      `--config.file=${file}`,
      `--storage.tsdb.path=${join(folder, 'data')}`,
      `--web.listen-address=${address}`,
    ]
    prometheus = spawn(toolPath('bin', 'prometheus'), flags, { stdio: 'ignore' })
    await waitFor(async () => (await fetch(`http://${address}/-/ready`)).ok, 60_000)
    return `http://${address}`
  }

  async function query(expr: string): Promise<Series[]> {
    const written = expr
      .replaceAll('$__rate_interval', '20s')
      .replaceAll('$namespace', labels.namespace)
      .replaceAll('$pod', '.*')
    const response = await fetch(`${prometheusUrl}/api/v1/query?query=${encodeURIComponent(written)}`)
    const { status, error, data } = (await response.json()) as {
      status: string
      error?: string
      data: { result: Series[] }
    }
    if (status !== 'success') throw new Error(error)
    return data.result
  }

  function expectExposed(expr: string): void {
    const metrics = [...expr.matchAll(/reprise_\w+/g)].map(([name]) => name.replace(/_(bucket|sum|count)$/, ''))
    expect(metrics.length).toBeGreaterThan(0)
    const known = new Set([...exposed.matchAll(/^# TYPE (\w+)/gm)].map(([, name]) => name))
    expect(metrics.filter((name) => !known.has(name))).toEqual([])
  }

  test.each(queries)('has something for “%s”', async (_, expr, legend) => {
    expectExposed(expr)
    const result = await query(expr)
    if (faults.some((name) => expr.includes(name))) return
    expect(result.length).toBeGreaterThan(0)
    for (const [, label] of legend.matchAll(/\{\{(\w+)\}\}/g)) {
      for (const { metric } of result)
        expect({ label, value: metric[label!] }).toEqual({ label, value: expect.stringMatching(/./) })
    }
  })

  test('says what it is worth, what goes wrong, what is slow, and who asks', async () => {
    const of = async (title: string, legend: string): Promise<Record<string, number>> => {
      const [, expr] = queries.find(([name]) => name === `${title}: ${legend}`)!
      const labelled = (await query(expr)).map(({ metric, value: [, value] }): [string, number] => [
        legend.replaceAll(/\{\{(\w+)\}\}/g, (_, label: string) => metric[label]!),
        Number(value),
      ])
      return Object.fromEntries(labelled)
    }
    const ratio = 'Prefix cache hit ratio'
    const { cached } = await of(ratio, 'cached')
    expect(cached).toBeGreaterThan((await of(ratio, 'without reprise'))['without reprise']!)
    const saved = await of('Saved tokens by caller', '{{tenant}} {{key}}')
    expect([saved['acme app']! > 0, saved['beta batch']]).toEqual([true, 0])
    const { finished, unauthorized } = await of('Requests', '{{outcome}}')
    expect(unauthorized!).toBeGreaterThan(0)
    expect(finished!).toBeGreaterThan(unauthorized!)
    const [first, last] = [await of('Time to first token', 'p50'), await of('Time to first token', 'p99')]
    const added = await of('Added by reprise', 'all stages')
    expect(first.p50!).toBeGreaterThan(0)
    expect(last.p99!).toBeGreaterThanOrEqual(first.p50!)
    expect(added['all stages']!).toBeGreaterThan(0)
    const asked = await of('Requests by caller', '{{tenant}} {{key}}')
    expect(Object.keys(asked).filter((caller) => asked[caller]! > 0)).toEqual(['acme app', 'beta batch'])
  })

  test('knows every metric of the alerts', () => {
    const { groups } = find(render(exampleValues('everything')), 'PrometheusRule').spec as {
      groups: [{ rules: { expr: string }[] }]
    }
    // those of the plugins are the engines' own
    for (const { expr } of groups[0].rules) if (!/:reprise_/.test(expr)) expectExposed(expr)
  })

  test('is told labels and states by the names that the alerts ask for', async () => {
    expect(await query('reprise_replica_state{replica="gpu-0",state="ready"} == 1')).toHaveLength(1)
    expect(await query('reprise_mirror_mode{replica="gpu-0"} == 2')).toHaveLength(1)
    expect(await query('reprise_redis_up == 1')).toHaveLength(1)
    emulator.child.kill('SIGKILL')
    const refused = await ask(proxy.listening.url!, prompt(1, 1)).catch((error: Error) => error.message)
    expect(refused).toContain('engine_unreachable')
    await waitFor(async () => (await query('reprise_requests_total{outcome="engine_unreachable"}')).length > 0, 30_000)
  })
})

async function ask(url: string, body: object, key = 'sk-1'): Promise<void> {
  const response = await fetch(`${url}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${key}` },
    body: JSON.stringify(body),
  })
  if (!response.ok) throw new Error(await response.text())
  await response.text()
}
