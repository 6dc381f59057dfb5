import { execFile, spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { emulatorDefaults, startEmulator } from '#emulator/emulator.ts'
import type { RunningProxy } from '#proxy/start/main.ts'
import { startEmbedderDouble } from '../embedder-double.ts'
import { startTestProxy } from '../start-test-proxy.ts'
import { readSnippets } from './read-snippets.ts'

const setUp = spawnSync(join(import.meta.dirname, 'setup-apps.sh'), { encoding: 'utf8', timeout: 300_000 })
const python = setUp.stdout?.trim()
if (setUp.status !== 0) process.stderr.write(`the frameworks cannot be installed: ${setUp.stderr}\n`)

describe.skipIf(setUp.status !== 0)('docs/apps.md, with the frameworks (needs Python and its packages)', () => {
  let proxy: RunningProxy
  beforeAll(async () => {
    proxy = await startTestProxy()
  })
  afterAll(() => proxy.close())

  const snippets = readSnippets('docs/apps.md').filter(({ language }) => language === 'python')

  test('has a snippet for each', () => {
    expect(snippets.map(({ heading }) => heading)).toEqual([
      'OpenAI SDK',
      'Anthropic SDK',
      'LangChain',
      'LlamaIndex',
      'Haystack',
    ])
  })

  test.each(snippets)('$heading: the snippet gets an answer, and its documents are found', async ({ text }) => {
    const found = await countBlocks(proxy)
    const script = text.replaceAll('http://127.0.0.1:8080', proxy.url)
    expect(await run(['-c', script])).not.toBe('')
    expect((await countBlocks(proxy)) - found).toBe(2)
  })
})

describe.skipIf(setUp.status !== 0)(
  'two models and an embedder behind one proxy (needs Python and its packages)',
  () => {
    test('LangChain, LlamaIndex and Haystack each reach all three', async () => {
      const local = { ...emulatorDefaults, host: '127.0.0.1', port: 0 }
      const models = await Promise.all(['big', 'small'].map((model) => startEmulator({ ...local, model })))
      const embedder = await startEmbedderDouble()
      const engines = [...models, embedder].map(({ url }, at) => ({ url, kind: 'openai' as const, id: `engine-${at}` }))
      const proxy = await startTestProxy(undefined, { engines })
      const answered = ['big', 'small', [0.5]]
      expect(JSON.parse(await run([join(import.meta.dirname, 'models.py'), proxy.url]))).toEqual({
        LangChain: answered,
        LlamaIndex: answered,
        Haystack: answered,
      })
      expect(embedder.received.map(({ path }) => path)).toEqual(Array(3).fill('/v1/embeddings'))
      await proxy.close()
      for (const engine of [...models, embedder]) await engine.close()
    })
  },
)

async function run(arguments_: readonly string[]): Promise<string> {
  const env = { ...process.env, HAYSTACK_TELEMETRY_ENABLED: 'False', NO_PROXY: '127.0.0.1' }
  return (await promisify(execFile)(python!, arguments_, { env })).stdout.trim()
}

async function countBlocks({ adminUrl }: RunningProxy): Promise<number> {
  const text = await (await fetch(`${adminUrl}/metrics`)).text()
  const counts = [...text.matchAll(/^reprise_blocks_total\{[^}]*\} (\d+)$/gm)].map(([, count]) => Number(count))
  return counts.reduce((sum, count) => sum + count, 0)
}
