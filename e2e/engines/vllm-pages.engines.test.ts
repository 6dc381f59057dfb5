import { request } from 'undici'
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import { SYSTEM_MESSAGE, toUserMessage } from '../demo/prompt.ts'
import type { Turn } from '../demo/workload.ts'
import { Deployment } from './deployment.ts'
import { modelName } from './engine.ts'
import { checkoutTurns } from './prompts.ts'
import { selectingVllmEngine } from './vllm-engine.ts'

/*
 * Page selection through the whole chain: a client, the proxy, and vLLM's own server, which finds the plugin by its
 * entry points. The plugin's own tests cover the engine's side; these cover what crosses processes: options and counts.
 */

const setup = inject('vllm')
const answerTokens = 40

describe.skipIf('missing' in setup)('vLLM that selects pages', () => {
  let deployment: Deployment
  let turns: Turn[]

  beforeAll(async () => {
    if ('missing' in setup) return
    deployment = await Deployment.start(selectingVllmEngine, 'callbacks', setup)
    turns = await checkoutTurns(4)
  })
  afterAll(() => deployment?.close())

  async function answer(turn: Turn, pages?: number, xargs?: object): Promise<string> {
    return JSON.parse(await send(turn, pages, xargs ? { vllm_xargs: xargs } : {})).choices[0].message.content
  }

  async function send(turn: Turn, pages: number | undefined, more: object): Promise<string> {
    const response = await request(`${deployment.proxy.url}/v1/chat/completions`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'x-reprise-options': ['reorder=off,dedup=off', ...(pages === undefined ? [] : [`pages=${pages}`])].join(),
      },
      body: JSON.stringify({
        model: modelName,
        max_tokens: answerTokens,
        temperature: 0,
        ignore_eos: true,
        messages: [SYSTEM_MESSAGE, toUserMessage(turn)],
        ...more,
      }),
    })
    const text = await response.body.text()
    expect(response.statusCode, text).toBe(200)
    return text
  }

  /** Returns the engine's own counter for `label`, summed over its other labels. */
  async function count(name: string, label: string): Promise<number> {
    const metrics = await (await request(`${deployment.engine.url}/metrics`)).body.text()
    const lines = metrics
      .split('\n')
      .filter((line) => line.startsWith(`vllm:${name}_total{`) && line.includes(`"${label}"`))
    return lines.reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0)
  }

  test('all pages are stock, fewer are counted, and leave nothing for others', async () => {
    const stock: string[] = []
    for (const turn of turns) stock.push(await answer(turn))
    expect(await count('reprise_page_requests', 'sparse')).toBe(0)
    for (const [index, turn] of turns.entries()) expect(await answer(turn, 1)).toBe(stock[index])
    expect(await count('reprise_page_requests', 'sparse')).toBe(0)

    const mixed = await Promise.all(turns.map((turn, index) => answer(turn, index % 2 ? 0.1 : undefined)))
    expect(mixed.filter((_, index) => index % 2 === 0)).toEqual(stock.filter((_, index) => index % 2 === 0))
    await expect.poll(() => count('reprise_page_requests', 'sparse')).toBe(2)
    const [listed, all] = [await count('reprise_pages', 'listed'), await count('reprise_pages', 'all')]
    expect(listed).toBeGreaterThan(0)
    // the self-test's step is dense and lists all pages
    expect(listed).toBeLessThan(all / 2)
    expect(await count('reprise_page_refusals', 'fault')).toBe(0)
    expect(await count('reprise_page_refusals', 'self_test')).toBe(0)

    for (const [index, turn] of turns.entries()) expect(await answer(turn)).toBe(stock[index])
  })

  test('usage tells what was read of each request, in streams too, and the proxy counts it', async () => {
    const usageOf = (json: string): Record<string, number> => JSON.parse(json).usage.prompt_tokens_details
    const [turn] = turns
    expect(usageOf(await send(turn!, undefined, {}))).not.toHaveProperty('all_pages')
    const whole = usageOf(await send(turn!, 0.25, {}))
    const streamed = { stream: true, stream_options: { include_usage: true } }
    const stream = usageOf((await send(turn!, 0.25, streamed)).split('\n\n').at(-3)!.slice(6))
    expect(whole).toMatchObject({ page_choices: Math.ceil((answerTokens - 1) / 2), page_backtracks: 0 })
    expect(whole.listed_pages! / whole.all_pages!).toBeGreaterThan(0.2)
    expect(whole.listed_pages! / whole.all_pages!).toBeLessThan(0.6)
    const pagesOf = ({ listed_pages, all_pages }: Record<string, number>) => ({ listed_pages, all_pages })
    expect(pagesOf(stream)).toEqual(pagesOf(whole))
    const metrics = await (await request(`${deployment.proxy.adminUrl}/metrics`)).body.text()
    const counted = Number(/^reprise_listed_pages_total (\d+)$/m.exec(metrics)?.[1])
    expect(counted).toBeGreaterThanOrEqual(whole.listed_pages! + stream.listed_pages!)
    // a front end that finds a stop text does not wait for the engine's last output, which has the counts
    const stopped = usageOf(await send(turn!, 0.25, { stop: [' '] }))
    expect(stopped).not.toHaveProperty('all_pages')
  })

  test('a wish of the client itself goes before the header, and one that is none is counted', async () => {
    const stock = await answer(turns[0]!)
    expect(await answer(turns[0]!, 0.1, { reprise_pages: 1 })).toBe(stock)
    expect(await answer(turns[0]!, undefined, { reprise_pages: 'much' })).toBe(stock)
    await expect.poll(() => count('reprise_page_stock_requests', 'malformed')).toBe(1)
  })
})
