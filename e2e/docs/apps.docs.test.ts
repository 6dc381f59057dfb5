import { execFile, spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { RunningProxy } from '#proxy/main.ts'
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
    const env = { ...process.env, HAYSTACK_TELEMETRY_ENABLED: 'False', NO_PROXY: '127.0.0.1' }
    const { stdout } = await promisify(execFile)(python!, ['-c', script], { env })
    expect(stdout.trim()).not.toBe('')
    expect((await countBlocks(proxy)) - found).toBe(2)
  })
})

async function countBlocks({ adminUrl }: RunningProxy): Promise<number> {
  const text = await (await fetch(`${adminUrl}/metrics`)).text()
  const counts = [...text.matchAll(/^reprise_blocks_total\{[^}]*\} (\d+)$/gm)].map(([, count]) => Number(count))
  return counts.reduce((sum, count) => sum + count, 0)
}
