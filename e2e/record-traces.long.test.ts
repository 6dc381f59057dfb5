import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { startEmulator } from '#emulator/emulator.ts'
import { readJsonLines } from '#tools/replay/trace/read-json-lines.ts'
import { findFreePort } from './demo/find-free-port.ts'
import { readTrace } from './demo/trace.ts'
import { sendAll, toBody, untilExact } from './gain-worlds.ts'
import { runReprise } from './run-reprise.ts'
import { startTestProxy } from './start-test-proxy.ts'

const host = '127.0.0.1'
const data = join(import.meta.dirname, '..', '..', 'shared', 'data')
const traces = ['rag_cookbook_docs', 'rag_cookbook_code', 'rag_hotpot']
/** A prompt of as many characters fits into the smaller cache. */
const mostCharacters = 230_000

let folder: string

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'reprise-record-'))
})

afterEach(() => rmSync(folder, { recursive: true }))

/** Sends the requests of a trace through a proxy that records them. Returns the folder of what was recorded. */
async function record(trace: string, capacityTokens: number, hasText: boolean): Promise<string> {
  const port = await findFreePort()
  const options = { mode: 'on', record: { folder, text: hasText } } as const
  const proxy = await startTestProxy({ url: `http://${host}:${port}`, kind: 'vllm', id: 'gpu-0' }, options)
  const callbackUrl = `${proxy.adminUrl}/v1/replicas/gpu-0`
  const emulator = await startEmulator({
    host,
    port,
    kind: 'vllm',
    capacityTokens,
    prefillTokensPerSecond: 1e9,
    callbackUrl,
  })
  try {
    const { turns } = await readTrace(trace)
    const fitting = turns.filter(
      ({ blocks }) => blocks.reduce((sum, { text }) => sum + text.length, 0) < mostCharacters,
    )
    await untilExact(proxy)
    await sendAll(proxy.url, fitting.map(toBody))
  } finally {
    await proxy.close()
    await emulator.close()
  }
  return join(folder, readdirSync(folder).toSorted().at(-1)!)
}

async function liveRatio(recorded: string): Promise<number> {
  const { lines } = await readJsonLines(join(recorded, 'queries.jsonl.gz'))
  const total = (name: string): number => lines.reduce((sum, { fields }) => sum + (fields[name] as number), 0)
  return total('cached_tokens') / total('tokens')
}

function replayedRatio(recorded: string): number {
  const { stdout, stderr } = runReprise(['replay', recorded, '--policy', 'reprise', '--json'])
  expect(stderr).not.toContain('warning')
  const [replayed] = (JSON.parse(stdout) as { policies: { hit_ratio: number }[] }).policies
  return replayed!.hit_ratio
}

async function expectSameRatio(recorded: string): Promise<void> {
  const [live, replayed] = [await liveRatio(recorded), replayedRatio(recorded)]
  expect(Math.abs(replayed - live) / live, `${live} live, ${replayed} replayed`).toBeLessThan(0.02)
}

describe.each(traces)('the trace %s', (name) => {
  test.skipIf(!existsSync(join(data, name))).each([65_536, 4_000_000])(
    'with a cache of %i tokens is replayed from its record as it was served, within two per cent',
    async (capacity) => {
      await expectSameRatio(await record(join(data, name), capacity, false))
    },
  )
})

test.skipIf(!existsSync(join(data, 'rag_hotpot')))('texts in a record change nothing', async () => {
  await expectSameRatio(await record(join(data, 'rag_hotpot'), 65_536, true))
})
