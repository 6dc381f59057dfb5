import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { type Emulator, startEmulator } from '#emulator/emulator.ts'
import type { RunningProxy } from '#proxy/main.ts'
import { chromiumPath, startTestBrowser } from './dashboard-browser.ts'
import { postJson, startTestProxy } from './start-test-proxy.ts'

interface Details {
  readonly cached_tokens: number
  readonly listed_pages?: number
  readonly all_pages?: number
  readonly page_choices?: number
  readonly page_backtracks?: number
}

let proxy: RunningProxy
let emulator: Emulator

beforeEach(async () => {
  const fast = { host: '127.0.0.1', port: 0, capacityTokens: 100_000, prefillTokensPerSecond: 1e9 }
  emulator = await startEmulator({ ...fast, kind: 'vllm', pages: 0.1 })
  proxy = await startTestProxy({ url: emulator.url, kind: 'vllm', id: 'gpu-0' })
})
afterEach(async () => {
  await proxy.close()
  await emulator.close()
})

async function ask(options: string | undefined, more: object = {}, path = 'chat/completions'): Promise<Details> {
  const text = 'All that is known of Paris, said again. '.repeat(60)
  const prompt = path === 'completions' ? { prompt: text } : { messages: [{ role: 'user', content: text }] }
  const headers: Record<string, string> = options === undefined ? {} : { 'x-reprise-options': options }
  const answer = await postJson(`${proxy.url}/v1/${path}`, { ...prompt, max_tokens: 9, ...more }, { headers })
  expect(answer.status).toBe(200)
  const body = await answer.text()
  const last = body.startsWith('data: ') ? body.split('\n\n').at(-3)!.slice(6) : body
  return JSON.parse(last).usage.prompt_tokens_details
}

const figure = async (name: string): Promise<number> =>
  Number(new RegExp(`^reprise_${name} (\\S+)$`, 'm').exec(await (await fetch(`${proxy.adminUrl}/metrics`)).text())?.[1])

const streamed = { stream: true, stream_options: { include_usage: true } }

describe('an engine that selects pages', () => {
  test.each([
    ['an answer', 'chat/completions', {}],
    ['a stream', 'chat/completions', streamed],
    ['a completion', 'completions', {}],
    ['a stream of one', 'completions', streamed],
  ])('tells of %s what it read, and the proxy counts it', async (_, path, more) => {
    const told = await ask('pages=0.25', more, path)
    expect(told).toMatchObject({ page_choices: 4, page_backtracks: 0 })
    const share = told.listed_pages! / told.all_pages!
    expect(share).toBeGreaterThan(0.24)
    expect(share).toBeLessThan(0.36)
    await vi.waitFor(async () => expect(await figure('pages_total')).toBe(told.all_pages))
    expect(await figure('listed_pages_total')).toBe(told.listed_pages)
    expect(await figure('page_choices_total')).toBe(4)
    expect(await figure('page_backtracks_total')).toBe(0)
  })

  test('reads its least share for those who ask for less', async () => {
    const [least, quarter] = [await ask('pages=0'), await ask('pages=0.25')]
    expect(least.listed_pages).toBeLessThan(quarter.listed_pages!)
    expect(least.listed_pages! / least.all_pages!).toBeGreaterThan(0.1)
  })

  test.each([
    ['who ask for nothing', undefined, {}],
    ['who ask for all', 'pages=1', {}],
    ['whose own word goes before the header', 'pages=0.5', { vllm_xargs: { reprise_pages: 1 } }],
    ['who ask for several samples', 'pages=0.5', { n: 2 }],
  ])('tells nothing to those %s', async (_, options, more) => {
    expect(await ask(options, more)).toEqual({ cached_tokens: expect.any(Number) })
    expect(await figure('pages_total')).toBe(0)
  })

  test.skipIf(chromiumPath === undefined)('is seen on the dashboard, once it has told', async () => {
    const browser = await startTestBrowser()
    try {
      const page = await browser.context.newPage()
      await page.goto(proxy.adminUrl)
      await page.locator('#in-flight', { hasText: '0' }).waitFor()
      expect(await page.locator('#pages-tile').isVisible()).toBe(false)
      const { listed_pages: listed, all_pages: all } = await ask('pages=0.25')
      await vi.waitFor(async () => expect(await figure('pages_total')).toBe(all))
      await page.reload()
      await page.locator('#pages-note', { hasText: `${listed} of ${all}; chosen 4 times, 0 in doubt` }).waitFor()
      expect(await page.locator('#pages').textContent()).toMatch(/[23]\d\.\d %|[23]\d %/)
    } finally {
      await browser.close()
    }
  })
})
