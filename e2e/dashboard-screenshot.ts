import { setTimeout as delay } from 'node:timers/promises'
import { emulatorDefaults, startEmulator } from '#emulator/emulator.ts'
import { startTestBrowser } from './dashboard-browser.ts'
import { findFreePort } from './demo/find-free-port.ts'
import { postJson, ragRequest, startTestProxy } from './start-test-proxy.ts'

/*
 * `node --import tsx e2e/dashboard-screenshot.ts [MINUTES] [FILE]`: sends made-up requests through a proxy with two
 * engine emulators for some minutes, then takes a screenshot of its dashboard.
 */

const [minutes = '10', file = 'docs/plots/dashboard.png'] = process.argv.slice(2)
const words = 'river harbour ledger copper orchard signal valley lantern archive granite meadow compass'.split(' ')
const [topics, blocksPerTopic] = [30, 8]

let state = 7
/** Marsaglia's xorshift, so that the requests are the same every time. */
function random(): number {
  state ^= state << 13
  state ^= state >>> 17
  state ^= state << 5
  return (state >>> 0) / 2 ** 32
}

const textOf = (block: number): string =>
  `Note ${block}. ${Array.from({ length: 90 + (block % 7) * 30 }, (_, i) => words[(block * 31 + i * 17 + i * i * block) % words.length]).join(' ')}`

/** Picks blocks mostly of one topic, popular topics more often, with a few from elsewhere. */
function retrieve(): string[] {
  const topic = Math.floor(random() ** 2 * topics)
  const pick = (): number =>
    random() < 0.75
      ? topic * blocksPerTopic + Math.floor(random() * blocksPerTopic)
      : Math.floor(random() ** 2 * topics * blocksPerTopic)
  return [...new Set(Array.from({ length: 9 }, pick))].map(textOf)
}

async function ask(url: string, question: string): Promise<void> {
  const kind = random()
  const blocks = kind < 0.08 ? [] : retrieve()
  const body =
    blocks.length === 0 ? { model: 'm', messages: [{ role: 'user', content: question }] } : ragRequest(question, blocks)
  const headers: Record<string, string> = kind > 0.96 ? { 'x-reprise-options': 'reorder=off' } : {}
  const signal = kind > 0.93 && kind < 0.945 ? AbortSignal.timeout(5) : null
  const response = await postJson(`${url}/v1/chat/completions`, body, { headers, signal })
  await response.text()
}

const adminPort = await findFreePort()
const ids = ['gpu-0', 'gpu-1']
const engines = await Promise.all(
  ids.map(async (id) => {
    const callbackUrl = `http://127.0.0.1:${adminPort}/v1/replicas/${id}`
    const options = { ...emulatorDefaults, capacityTokens: 60_000, host: '127.0.0.1', port: 0, callbackUrl }
    return { id, kind: 'vllm' as const, url: (await startEmulator({ ...options, warn: () => {} })).url }
  }),
)
const proxy = await startTestProxy(undefined, { engines, admin: { listen: `127.0.0.1:${adminPort}` } })
const until = Date.now() + Number(minutes) * 60_000
for (let i = 0; Date.now() < until; i++) {
  // clients that leave early are part of the picture
  ask(proxy.url, `Question ${i}: what about ${words[i % words.length]}?`).catch(() => {})
  await delay(120 + 240 * random())
}
const browser = await startTestBrowser()
const page = await browser.context.newPage()
await page.goto(proxy.adminUrl)
await page.locator('#live-text', { hasText: 'live' }).waitFor()
await page.fill('#body', JSON.stringify(ragRequest('what about copper?', [5, 0, 3, 7, 1, 40].map(textOf)), null, 2))
await page.click('#explain button[type=submit]')
await page.locator('#summary .pill').first().waitFor()
await page.screenshot({ path: file, fullPage: true })
await browser.close()
process.exit(0)
