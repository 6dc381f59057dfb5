import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, truncateSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { gunzipSync } from 'node:zlib'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { startEmulator } from '#emulator/emulator.ts'
import { readTrace } from '#tools/replay/trace/read-trace.ts'
import { findFreePort } from './demo/find-free-port.ts'
import { sendAll, smallTrace, untilExact } from './gain-worlds.ts'
import { runReprise } from './run-reprise.ts'
import { startReprise } from './start-reprise.ts'
import { startTestProxy } from './start-test-proxy.ts'

let folder: string
const host = '127.0.0.1'

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'reprise-record-'))
})

afterEach(() => {
  rmSync(folder, { recursive: true })
})

interface ReplayReport {
  readonly capacity_tokens: number | null
  readonly policies: readonly { readonly policy: string; readonly hit_ratio: number; readonly prompt_tokens: number }[]
}

const lastPart = (): string => join(folder, readdirSync(folder).toSorted().at(-1)!)

function linesOf(file: string): Record<string, unknown>[] {
  const text = gunzipSync(readFileSync(join(lastPart(), file))).toString()
  return text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>)
}

test.each([
  ['on', 'reprise', 12_000],
  ['on', 'reprise', 400_000],
  ['shadow', 'rank', 400_000],
  ['off', 'rank', 400_000],
] as const)(
  'the replay of what was recorded in mode %s, by %s, predicts the live hit ratio (%i tokens)',
  async (mode, policy, capacity) => {
    const port = await findFreePort()
    const record = { folder, text: false }
    const proxy = await startTestProxy({ url: `http://${host}:${port}`, kind: 'vllm', id: 'gpu-0' }, { mode, record })
    const callbackUrl = `${proxy.adminUrl}/v1/replicas/gpu-0`
    const options = {
      host,
      port,
      kind: 'vllm',
      capacityTokens: capacity,
      prefillTokensPerSecond: 1e9,
      callbackUrl,
    } as const
    const emulator = await startEmulator(options)
    const bodies = smallTrace(60)
    // in mode off, nothing is followed that could become exact
    if (mode !== 'off') await untilExact(proxy)
    await sendAll(proxy.url, bodies)
    await proxy.close()
    await emulator.close()
    const lines = linesOf('queries.jsonl.gz')
    const total = (name: string): number => lines.reduce((sum, line) => sum + (line[name] as number), 0)
    const live = total('cached_tokens') / total('tokens')
    const { stdout, stderr } = runReprise([
      'replay',
      lastPart(),
      '--policy',
      policy,
      '--capacity-tokens',
      String(capacity),
      '--json',
    ])
    expect(stderr).toBe('')
    if (mode !== 'off') expect((await readTrace(lastPart())).capacityTokens).toBe(capacity)
    const [replayed] = (JSON.parse(stdout) as ReplayReport).policies
    expect(Math.abs(replayed!.hit_ratio - live) / live).toBeLessThan(0.02)
  },
)

test('what is recorded holds no text unless it is asked for, and then the texts', async () => {
  const emulator = await startEmulator({
    host,
    port: 0,
    kind: 'vllm',
    capacityTokens: 400_000,
    prefillTokensPerSecond: 1e9,
  })
  for (const hasText of [false, true]) {
    const record = { folder, text: hasText }
    const proxy = await startTestProxy({ url: emulator.url, kind: 'vllm' }, { record })
    await sendAll(proxy.url, smallTrace(3))
    await proxy.close()
    const [blocks, queries] = [linesOf('blocks.jsonl.gz'), linesOf('queries.jsonl.gz')]
    expect(queries).toHaveLength(3)
    expect(blocks.some(({ text }) => String(text).includes('About a'))).toBe(hasText)
    expect(JSON.stringify([blocks, queries]).includes('What is said')).toBe(hasText)
    const { stdout, status } = runReprise(['plan', lastPart()])
    expect([status, stdout.trim().split('\n').length]).toEqual([0, 3])
    await delay(2)
  }
  await emulator.close()
})

test('a proxy that is killed has lost no more than what came last', async () => {
  const emulator = await startEmulator({
    host,
    port: 0,
    kind: 'vllm',
    capacityTokens: 400_000,
    prefillTokensPerSecond: 1e9,
  })
  const proxy = await startReprise(['--engine', `${emulator.url},kind=vllm`, '--record', folder])
  await sendAll(proxy.url, smallTrace(5))
  await vi.waitFor(() => expect(linesOf('queries.jsonl.gz')).toHaveLength(5), { timeout: 10_000 })
  // a second member of the file, so that one is whole when the last is cut
  await sendAll(proxy.url, smallTrace(3))
  await vi.waitFor(() => expect(linesOf('queries.jsonl.gz')).toHaveLength(8), { timeout: 10_000 })
  await sendAll(proxy.url, smallTrace(1))
  proxy.child.kill('SIGKILL')
  await proxy.exited
  expect(linesOf('queries.jsonl.gz').length).toBeGreaterThanOrEqual(8)
  const replayed = runReprise(['replay', lastPart(), '--policy', 'rank', '--json'])
  expect([replayed.status, (JSON.parse(replayed.stdout) as ReplayReport).capacity_tokens]).toEqual([0, 400_000])
  const queries = join(lastPart(), 'queries.jsonl.gz')
  truncateSync(queries, statSync(queries).size - 3)
  for (const command of [
    ['replay', lastPart(), '--policy', 'rank'],
    ['plan', lastPart()],
  ]) {
    const { status, stderr } = runReprise(command)
    expect([status, stderr]).toEqual([
      0,
      expect.stringMatching(
        /^warning: .*queries\.jsonl\.gz is cut or damaged.*\n(?:the cache has 400000 tokens.*\n)?$/,
      ),
    ])
  }
  await emulator.close()
})

test('a folder that cannot be made ends the start, in one line', () => {
  const { status, stderr } = runReprise(['serve', '--emulate', '--record', '/dev/null/here'])
  expect(status).toBe(1)
  expect(stderr.trim().split('\n')).toHaveLength(1)
  expect(stderr).toContain('record.folder')
})
