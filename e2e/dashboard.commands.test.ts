import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { chromiumPath, startTestBrowser, type TestBrowser } from './dashboard-browser.ts'
import { postJson, ragRequest } from './start-test-proxy.ts'

const reprise = join(import.meta.dirname, '..', 'bin', 'reprise')
interface Stats {
  readonly samples: readonly Record<'cached_tokens' | 'prompt_tokens' | 'seen_tokens', number>[]
  readonly outcomes: Readonly<Record<string, number>>
  readonly replicas: readonly { readonly cached_tokens: number }[]
  readonly top_blocks: readonly { readonly id: string; readonly count: number }[]
}

const blocks = ['Harbour', 'Meadow', 'Glacier', 'Orchard'].map((place) => `${place} keepers write this. `.repeat(30))

let child: ChildProcess
let url: string
let adminUrl: string
let browser: TestBrowser
let page: Page
const faults: string[] = []

async function startReprise(...more: string[]): Promise<{ child: ChildProcess; url: string; adminUrl: string }> {
  const args = [reprise, 'serve', '--emulate', '--listen', '127.0.0.1:0', '--admin-listen', '127.0.0.1:0', ...more]
  const started = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'ignore'] })
  const [line] = await once(createInterface(started.stdout!), 'line')
  const told = JSON.parse(line) as { url: string; admin_url: string }
  return { child: started, url: told.url, adminUrl: told.admin_url }
}

function writeConfig(yaml: string): string {
  const file = join(mkdtempSync(join(tmpdir(), 'reprise-dashboard-')), 'reprise.yaml')
  writeFileSync(file, yaml)
  return file
}

async function openPage(at: string): Promise<Page> {
  const opened = await browser.context.newPage()
  opened.on('pageerror', (error) => faults.push(error.message))
  opened.on('console', (message) => {
    if (message.type() === 'error') faults.push(message.text())
  })
  await opened.goto(at)
  return opened
}

async function sendRequests(): Promise<void> {
  const [a, b, c, d] = blocks as [string, string, string, string]
  const send = async (...[question, list]: [string, string[]]): Promise<void> => {
    await (await postJson(`${url}/v1/chat/completions`, ragRequest(question, list))).json()
  }
  await send('first', [a, b, c])
  await send('second', [c, b, a])
  await send('third', [d, a, b])
  await postJson(`${url}/v1/chat/completions`, { model: 'm', messages: [{ role: 'user', content: 'hello' }] })
}

describe.skipIf(chromiumPath === undefined)('the dashboard in Chromium', () => {
  beforeAll(async () => {
    ;({ child, url, adminUrl } = await startReprise('--mode', 'on'))
    // the dashboard's figures are those since its first sample, which it takes before it answers
    await fetch(`${adminUrl}/v1/stats`)
    await sendRequests()
    browser = await startTestBrowser()
    page = await openPage(adminUrl)
  })

  afterAll(async () => {
    await browser?.close()
    child?.kill('SIGKILL')
  })

  const stats = async (): Promise<Stats> => (await (await fetch(`${adminUrl}/v1/stats`)).json()) as Stats

  test('shows the hit ratio that the engine reported, and what was predicted and possible', async () => {
    const { prompt_tokens, cached_tokens, seen_tokens } = (await stats()).samples.at(-1)!
    expect(cached_tokens).toBeGreaterThan(500)
    expect(seen_tokens).toBeGreaterThanOrEqual(cached_tokens)
    const ratio = `${((100 * cached_tokens) / prompt_tokens).toFixed(1)} %`
    await page.locator('#hit-ratio', { hasText: ratio }).waitFor()
    const bound = `${Math.round((100 * seen_tokens) / prompt_tokens)} %`
    expect(await page.locator('[data-ratio="bound"]').textContent()).toContain(bound)
    expect(await page.locator('#ratio-chart svg').getAttribute('aria-label')).toContain(`engine ${ratio}`)
    expect(await page.locator('#rate-note').textContent()).toBe('4 in this range')
  })

  test('says in one sentence what reprise brought', async () => {
    const { total } = (await (await fetch(`${adminUrl}/v1/gain`)).json()) as { total: Record<string, number> }
    const share = (tokens: number): string => `${((100 * tokens) / total.prompt_tokens!).toFixed(1)} %`
    expect(total.with_tokens).toBeGreaterThan(total.without_tokens!)
    const sentence = await page.locator('#gain').textContent()
    expect(sentence).toContain(`${share(total.with_tokens!)} of prompt tokens came from cache with reprise`)
    expect(sentence).toContain(`${share(total.without_tokens!)} would have come without it`)
    expect(sentence).toContain(`off by ${((100 * total.model_off_tokens!) / total.cached_tokens!).toFixed(1)} %`)
    const shares = page.locator('#gain-shares tr', { hasText: /tenant\s*default/ })
    expect(await shares.textContent()).toContain(`${share(total.without_tokens!)}${share(total.with_tokens!)}`)
    const box = (await page.locator('#gain').boundingBox())!
    expect(box.width).toBeGreaterThan(900)
    expect(await page.locator('#gained').textContent()).toMatch(/^\+[\d.]+K?tokens$/)
    expect(await page.locator('#on-key').isVisible()).toBe(true)
    expect(await page.locator('#shadow-key').isVisible()).toBe(false)
  })

  test('says what to do where streams report no tokens, in the mode that is used without one', async () => {
    const other = await startReprise()
    try {
      const chat = { ...ragRequest('first', blocks), stream: true }
      for (let i = 0; i < 3; i++) await (await postJson(`${other.url}/v1/chat/completions`, chat)).text()
      const opened = await openPage(other.adminUrl)
      const sentence = opened.locator('#gain', { hasText: '3 requests are left out' })
      expect(await sentence.textContent()).toMatch(/stream_options\.include_usage.*--enable-force-include-usage/)
      expect(await opened.locator('#gained-label').textContent()).toBe('Gained by reprise')
      await opened.close()
    } finally {
      other.child.kill('SIGKILL')
    }
  })

  test('shows the median and the 99th percentile beside means', async () => {
    const told = /^mean: p50 ≈ [\d,.]+, p99 ≈ [\d,.]+ ms$/
    expect(await page.locator('#overhead-note').textContent()).toMatch(told)
    expect(await page.locator('#first-byte-note').textContent()).toMatch(told)
    const { latencies } = (await stats()) as Stats & { latencies: Record<string, { p50: number; p99: number }>[] }
    for (const { first_byte_ms: first } of latencies) {
      expect(first!.p50).toBeGreaterThan(0)
      expect(first!.p99).toBeGreaterThanOrEqual(first!.p50)
    }
  })

  test('shows what was done with the blocks, what was left alone and why, and how requests ended', async () => {
    expect(await page.locator('[data-blocks="moved"]').textContent()).toMatch(/^moved[2-9]$/)
    expect(await page.locator('#skipped [data-name="no_blocks"] .n').textContent()).toContain('1 ·')
    expect(await page.locator('#outcomes [data-name="finished"] .n').textContent()).toBe('4 · 100 %')
  })

  test('shows the mirror of the replica and the hottest blocks, by id', async () => {
    const { replicas, top_blocks } = await stats()
    const row = await page.locator('#replicas tr').allTextContents()
    expect(row).toHaveLength(1)
    expect(row[0]).toContain('emulator')
    expect(row[0]).toContain('exact')
    expect(row[0]).toContain(new Intl.NumberFormat('en').format(replicas[0]!.cached_tokens))
    expect(top_blocks.map(({ count }) => count)).toEqual([3, 3, 2, 1])
    expect(await page.locator('#hot tr').first().textContent()).toContain(top_blocks[0]!.id.slice(0, 10))
    const figures = page.locator('#index-figures', { hasText: 'memory' })
    expect(await figures.textContent()).toMatch(/contexts3nodes\d+height\d+memory[\d.]+ kB/)
    expect(await page.content()).not.toContain('keepers')
  })

  test('lists recent prompts in which nothing was found by shape, with what would help, and what is known of chunks', async () => {
    const long = 'What a secret sentence. '.repeat(200)
    for (const content of [`${long}\n\n[1] ${long}\n[2] ${long}`, long, long]) {
      await postJson(`${url}/v1/chat/completions`, { model: 'm', messages: [{ role: 'user', content }] })
    }
    const chunks = ['First', 'Second'].map((text) => ({
      text: `${text} chunk of a corpus that somebody has registered.`,
    }))
    await fetch(`${adminUrl}/v1/chunks`, { method: 'PUT', body: JSON.stringify({ chunks }) })
    const content = `Context: ${chunks[1]!.text}\n\nWhy?`
    await postJson(`${url}/v1/chat/completions`, { model: 'm', messages: [{ role: 'user', content }] })
    const fresh = await openPage(adminUrl)
    const rows = fresh.locator('#shapes tr')
    await rows.first().waitFor()
    const listed = await rows.allTextContents()
    expect(listed).toEqual([
      expect.stringMatching(/^chat_completions user, shortno_blocks2none/),
      expect.stringMatching(/user, from 4.1K charactersno_blocks2if it holds documents/),
      expect.stringMatching(/user, from 8.2K charactersno_evidence1announce the list/),
    ])
    const { shapes } = (await (await fetch(`${adminUrl}/v1/shapes`)).json()) as { shapes: object[] }
    expect(shapes).toHaveLength(3)
    expect(shapes.at(-1)).toMatchObject({ api: 'chat_completions', role: 'user', reason: 'no_evidence', count: 1 })
    expect(JSON.stringify(shapes)).not.toContain('secret')
    expect(await fresh.locator('#chunk-figures').textContent()).toMatch(/known2registered2.*found in prompts1/)
    expect(await fresh.locator('#chunk-note').textContent()).toMatch(/^Last found in a prompt \d+ s ago/)
    await fresh.fill(
      '#body',
      JSON.stringify({ messages: [{ role: 'user', content: `Hello.\n[1] ${long}\n[2] ${long}` }] }),
    )
    await fresh.click('#explain button[type=submit]')
    await fresh.locator('#notes li', { hasText: 'no_evidence: announce the list' }).waitFor()
    await fresh.close()
  })

  test('explains a pasted request: its blocks, their order, what the model is told, before and after', async () => {
    const body = ragRequest('fourth', [blocks[3]!, blocks[1]!, blocks[0]!])
    await page.fill('#body', JSON.stringify(body))
    await page.click('#explain button[type=submit]')
    await page.waitForSelector('#explained:not([hidden])')
    expect(await page.locator('#summary').textContent()).toMatch(/rewritten3 blocks, [23] moved/)
    const explained = (await (await postJson(`${adminUrl}/v1/explain`, body)).json()) as { order: number[] }
    const order = explained.order.map((from) => from + 1).join(', ')
    expect(await page.locator('#moves').getAttribute('aria-label')).toBe(`Order as sent, by place received: ${order}`)
    expect(await page.locator('#notes').textContent()).toContain('in the following priority order: [')
    expect(await page.locator('#diff .add').count()).toBeGreaterThan(1)
    expect(await page.locator('#diff .del').count()).toBeGreaterThan(0)
    await page.selectOption('#api', 'generate')
    await page.click('#explain button[type=submit]')
    await page.locator('#summary', { hasText: 'unchanged: unexpected_shape' }).waitFor()
    await page.selectOption('#api', '')
    // none of it was sent to the engine
    expect((await stats()).outcomes).toEqual({ finished: 8 })
  })

  test('has an example in which blocks move, in the default mode too', async () => {
    const standard = await startReprise()
    try {
      const opened = await openPage(standard.adminUrl)
      await opened.click('#example')
      await opened.click('#explain button[type=submit]')
      await opened.locator('#summary', { hasText: /rewritten3 blocks, [23] moved/ }).waitFor()
      await opened.close()
    } finally {
      standard.child.kill('SIGKILL')
    }
  })

  test('has an example in which blocks move, with the request that they are moved for', async () => {
    const before = (await stats()).outcomes
    await page.click('#example')
    await page.click('#explain button[type=submit]')
    await page.locator('#summary', { hasText: /rewritten3 blocks, [23] moved/ }).waitFor()
    const drawn = page.locator('#moves')
    expect(await drawn.getAttribute('aria-label')).toBe('Order as sent, by place received: 3, 1, 2')
    expect(await drawn.textContent()).toContain('The Seine rises')
    expect(await page.locator('#notes').textContent()).toContain('priority order: [2] > [3] > [1]')
    // none of it was sent or remembered: without the earlier request nothing moves
    expect((await stats()).outcomes).toEqual(before)
    await page.fill('#earlier', '')
    await page.click('#explain button[type=submit]')
    await page.locator('#summary', { hasText: '3 blocks, 0 moved' }).waitFor()
  })

  test('says what is wrong with requests that were sent before', async () => {
    await page.fill('#earlier', '{"model": "m"}')
    await page.click('#explain button[type=submit]')
    await page.locator('#explain-error', { hasText: 'no JSON array' }).waitFor()
    await page.fill('#earlier', '')
  })

  test('says what is wrong with a body that cannot be explained', async () => {
    await page.fill('#body', '{"messages":')
    await page.click('#explain button[type=submit]')
    await page.waitForSelector('#explain-error:not([hidden])')
    expect(await page.locator('#explain-error').textContent()).toContain('not JSON')
    expect(await page.locator('#explained').isVisible()).toBe(false)
  })

  test('shows every column of its tables in a window of a small laptop', async () => {
    const before = page.viewportSize()!
    await page.setViewportSize({ width: 1280, height: 800 })
    const cut = await page.evaluate(`[...document.querySelectorAll('.scroll')]
      .filter((box) => box.scrollWidth > box.clientWidth).map((box) => box.innerText)`)
    await page.setViewportSize(before)
    expect(cut).toEqual([])
  })

  test('is no wider than a narrow window, and what scrolls there has a bar that stays', async () => {
    const before = page.viewportSize()!
    await page.setViewportSize({ width: 400, height: 800 })
    const { wide, hidden, boxes } = await page.evaluate<{
      wide: number
      hidden: number
      boxes: [number, boolean][]
    }>(`({
      wide: document.documentElement.scrollWidth,
      hidden: (({ scrollWidth, clientWidth }) => scrollWidth - clientWidth)(document.querySelector('.scroll:has(#shapes)')),
      boxes: [...document.querySelectorAll('.scroll')]
        .filter((box) => box.scrollWidth > box.clientWidth)
        .map((box) => [box.offsetHeight - box.clientHeight, getComputedStyle(box).backgroundAttachment.includes('local')]),
    })`)
    await page.setViewportSize(before)
    expect(wide).toBeLessThanOrEqual(400)
    // remedies are read without scrolling
    expect(hidden).toBe(0)
    expect(boxes.length).toBeGreaterThan(0)
    for (const [bar, hasShadow] of boxes) {
      expect(bar).toBeGreaterThanOrEqual(8)
      expect(hasShadow).toBe(true)
    }
  })

  test('shows first words of blocks where the configuration allows text', async () => {
    const open = await startReprise('--config', writeConfig('logs: { prompts: true }\n'))
    try {
      await (await postJson(`${open.url}/v1/chat/completions`, ragRequest('first', blocks.slice(0, 3)))).json()
      const allowed = await openPage(open.adminUrl)
      await allowed.locator('#hot tr', { hasText: 'Harbour keepers write this.' }).waitFor()
      expect(await allowed.locator('#hot-note').textContent()).toContain('the configuration allows text')
      await allowed.close()
    } finally {
      open.child.kill('SIGKILL')
    }
    expect(JSON.stringify(await stats())).not.toContain('keepers')
    expect(await page.locator('#hot').textContent()).not.toContain('keepers')
  })

  test('is readable in the dark, and nothing it did was an error or against its policy', async () => {
    await page.emulateMedia({ colorScheme: 'dark' })
    const [ink, paper] = await page.evaluate<number[][]>(`['color', 'backgroundColor'].map((property) =>
      getComputedStyle(document.body)[property].match(/\\d+/g).slice(0, 3).map(Number))`)
    expect(Math.min(...ink!)).toBeGreaterThan(200)
    expect(Math.max(...paper!)).toBeLessThan(40)
    expect(faults).toEqual([])
  })

  test('asks for the token when the proxy does, sends it with every question, and forgets it with the tab', async () => {
    const guarded = await startGuarded('let me in')
    try {
      const locked = await openPage(`http://127.0.0.1:${(guarded.address() as AddressInfo).port}/`)
      await locked.waitForSelector('#login[open]')
      await locked.fill('#token', 'let me in')
      await locked.click('#login button')
      await locked.locator('#live-text', { hasText: 'live' }).waitFor()
      expect(await locked.evaluate('[sessionStorage.length, localStorage.length]')).toEqual([1, 0])
    } finally {
      guarded.closeAllConnections()
      guarded.close()
    }
  })
})

/** Starts a server that guards the admin listener as for another machine: it requires the token. */
async function startGuarded(token: string): Promise<Server> {
  const server = createServer((request, response) => {
    if (request.url !== '/' && request.headers.authorization !== `Bearer ${token}`) {
      response.writeHead(401, { 'content-type': 'application/json' }).end('{"error":{"message":"token"}}')
      return
    }
    fetch(`${adminUrl}${request.url}`).then(
      async (answer) => {
        const headers = { 'content-type': answer.headers.get('content-type') ?? '' }
        response.writeHead(answer.status, headers).end(Buffer.from(await answer.arrayBuffer()))
      },
      () => response.destroy(),
    )
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return server
}
