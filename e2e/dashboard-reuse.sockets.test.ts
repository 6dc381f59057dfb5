import { afterEach, expect, test, vi } from 'vitest'
import { type Emulator, startEmulator } from '#emulator/emulator.ts'
import type { RunningProxy } from '#proxy/start/main.ts'
import { chromiumPath, startTestBrowser, type TestBrowser } from './dashboard-browser.ts'
import { findFreePort } from './demo/find-free-port.ts'
import { reusing } from './emulated-reuse/reusing-cache.ts'
import { postJson, ragRequest, startTestProxy } from './start-test-proxy.ts'

let proxy: RunningProxy
let emulator: Emulator
let browser: TestBrowser

afterEach(async () => {
  await browser.close()
  await proxy.close()
  await emulator.close()
})

test.skipIf(chromiumPath === undefined)('the dashboard tells what was reused at another position', async () => {
  const port = await findFreePort()
  const callbackUrl = `http://127.0.0.1:${port}/v1/replicas/gpu-0`
  const fast = { host: '127.0.0.1', port: 0, capacityTokens: 100_000, prefillTokensPerSecond: 1e9 }
  emulator = await startEmulator({ ...fast, kind: 'vllm', ...reusing(0.2), callbackUrl })
  const admin = { listen: `127.0.0.1:${port}` }
  proxy = await startTestProxy({ url: emulator.url, kind: 'vllm', id: 'gpu-0' }, { admin })
  // the dashboard's figures are those since its first sample
  await proxy.opened
  const blocks = ['a', 'b'].map((letter) => `Block ${letter}, said again. `.repeat(60))
  for (const body of [ragRequest('first', blocks), ragRequest('second', blocks.toReversed())]) {
    const headers = { 'x-reprise-options': 'reorder=off' }
    await (await postJson(`${proxy.url}/v1/chat/completions`, body, { headers })).json()
  }
  const figure = async (name: string): Promise<number> =>
    Number(
      new RegExp(`^reprise_${name} (\\S+)$`, 'm').exec(await (await fetch(`${proxy.adminUrl}/metrics`)).text())?.[1],
    )
  await vi.waitFor(async () => expect(await figure('recomputed_tokens_total')).toBeGreaterThan(50), { timeout: 10_000 })

  browser = await startTestBrowser()
  const page = await browser.context.newPage()
  await page.setViewportSize({ width: 1280, height: 800 })
  await page.goto(proxy.adminUrl)
  const [reused, again] = [await figure('reused_tokens_total'), await figure('recomputed_tokens_total')]
  await page.locator('#hit-note', { hasText: `exact; ${reused} reused, ${again} computed again` }).waitFor()
  expect(await page.locator('#reused-key').isVisible()).toBe(true)
  expect(await page.locator('[data-ratio="and reused"]').textContent()).toMatch(/[1-9]\d* %/)
  expect(await page.locator('#replicas tr').textContent()).toContain('reuse 20 %')
  const cut = await page.evaluate(`[...document.querySelectorAll('.scroll')]
    .filter((box) => box.scrollWidth > box.clientWidth).map((box) => box.innerText)`)
  expect(cut).toEqual([])
})
