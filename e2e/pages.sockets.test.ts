import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import type { RunningProxy } from '#proxy/start/main.ts'
import { chromiumPath, startTestBrowser } from './dashboard-browser.ts'
import { type RecordingEngineDouble, startRecordingEngineDouble } from './recording-engine-double.ts'
import { postJson, startTestProxy } from './start-test-proxy.ts'

let proxy: RunningProxy
let engine: RecordingEngineDouble

/** What an engine whose plugin selects pages tells of an answer for which it read a quarter of 36 pages. */
const read = { listed_pages: 9, all_pages: 36, page_choices: 4, page_backtracks: 1 }

beforeEach(async () => {
  engine = await startRecordingEngineDouble()
  engine.answer((response, { body }) => {
    const { vllm_xargs: wishes, stream } = JSON.parse(body.toString())
    const share = wishes?.reprise_pages ?? 1
    const details = { cached_tokens: 0, ...(share < 1 ? read : {}) }
    const usage = { prompt_tokens: 600, completion_tokens: 9, total_tokens: 609, prompt_tokens_details: details }
    const answer = JSON.stringify({ id: 'x', choices: [], usage })
    response.writeHead(200, { 'content-type': stream ? 'text/event-stream' : 'application/json' })
    response.end(stream ? `data: ${answer}\n\ndata: [DONE]\n\n` : answer)
  })
  proxy = await startTestProxy({ url: engine.url, kind: 'vllm', id: 'gpu-0' })
})
afterEach(async () => {
  await proxy.close()
  await engine.close()
})

async function ask(options: string | undefined, more: object = {}, path = 'chat/completions'): Promise<unknown> {
  const prompt = path === 'completions' ? { prompt: 'Is it?' } : { messages: [{ role: 'user', content: 'Is it?' }] }
  const headers: Record<string, string> = options === undefined ? {} : { 'x-reprise-options': options }
  const answer = await postJson(`${proxy.url}/v1/${path}`, { ...prompt, max_tokens: 9, ...more }, { headers })
  expect(answer.status).toBe(200)
  const body = await answer.text()
  return JSON.parse(/\{.*\}/.exec(body)![0]).usage.prompt_tokens_details
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
    expect(await ask('pages=0.25', more, path)).toEqual({ cached_tokens: 0, ...read })
    await vi.waitFor(async () => expect(await figure('pages_total')).toBe(36))
    expect(await figure('listed_pages_total')).toBe(9)
    expect(await figure('page_choices_total')).toBe(4)
    expect(await figure('page_backtracks_total')).toBe(1)
  })

  test.each([
    ['who ask for nothing', undefined, {}],
    ['who ask for all', 'pages=1', {}],
    ['whose own word goes before the header', 'pages=0.5', { vllm_xargs: { reprise_pages: 1 } }],
  ])('tells nothing to those %s', async (_, options, more) => {
    expect(await ask(options, more)).toEqual({ cached_tokens: 0 })
    expect(await figure('pages_total')).toBe(0)
  })

  test.skipIf(chromiumPath === undefined)('is seen on the dashboard, once it has told', async () => {
    const browser = await startTestBrowser()
    try {
      const page = await browser.context.newPage()
      await page.goto(proxy.adminUrl)
      await page.locator('#in-flight', { hasText: '0' }).waitFor()
      expect(await page.locator('#pages-tile').isVisible()).toBe(false)
      await ask('pages=0.25')
      await vi.waitFor(async () => expect(await figure('pages_total')).toBe(36))
      await page.reload()
      await page.locator('#pages-note', { hasText: '9 of 36; chosen 4 times, 1 in doubt' }).waitFor()
      expect(await page.locator('#pages').textContent()).toMatch(/25(\.0)? %/)
    } finally {
      await browser.close()
    }
  })
})
