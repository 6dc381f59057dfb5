import { vi } from 'vitest'
import { startEmulator } from '#emulator/emulator.ts'
import type { ReplicaDescription } from '#proxy/admin/dashboard/describe-replicas.ts'
import type { Mode } from '#proxy/common/request-options.ts'
import type { GainReport } from '#proxy/gain/gain.ts'
import { findFreePort } from './demo/find-free-port.ts'
import { SYSTEM_MESSAGE, toUserMessage } from './demo/prompt.ts'
import { postJson, startTestProxy } from './start-test-proxy.ts'

/** The answer to a request of a trace, with the tokens the engine reported. */
export interface Answered {
  readonly cachedTokens: number
  readonly promptTokens: number
  readonly answer: string
  /** baseline from the proxy's answer header, if it has one */
  readonly baseline: number | undefined
}

const host = '127.0.0.1'

/** Sends the bodies directly to an engine, one after another. */
export async function runDirect(bodies: readonly object[], capacityTokens: number): Promise<Answered[]> {
  const emulator = await startEmulator({ host, port: 0, kind: 'vllm', capacityTokens, prefillTokensPerSecond: 1e9 })
  try {
    return await sendAll(emulator.url, bodies)
  } finally {
    await emulator.close()
  }
}

/** Sends the bodies through a proxy to an engine. Returns the answers, the proxy's gain report and its metrics. */
export async function runThrough(
  bodies: readonly object[],
  capacityTokens: number,
  {
    mode,
    isReported,
    prefillTokensPerSecond = 1e9,
    more = async () => {},
  }: {
    readonly mode: Mode
    readonly isReported: boolean
    readonly prefillTokensPerSecond?: number
    /** sends further requests to the proxy's address */
    readonly more?: (url: string) => Promise<void>
  },
): Promise<{ answers: Answered[]; gain: GainReport; metrics: string }> {
  const port = await findFreePort()
  const engine = { host, port, kind: 'vllm', capacityTokens, prefillTokensPerSecond } as const
  // an engine that reports needs the proxy's address; one that does not is asked for its size when the proxy starts
  const silent = isReported ? undefined : await startEmulator(engine)
  const proxy = await startTestProxy({ url: `http://${host}:${port}`, kind: 'vllm', id: 'gpu-0' }, { mode })
  const emulator = silent ?? (await startEmulator({ ...engine, callbackUrl: `${proxy.adminUrl}/v1/replicas/gpu-0` }))
  try {
    await (isReported ? untilExact(proxy) : untilSizeIsKnown(proxy))
    const answers = await sendAll(proxy.url, bodies)
    await more(proxy.url)
    const read = async (path: string): Promise<string> => (await fetch(proxy.adminUrl + path)).text()
    return { answers, gain: JSON.parse(await read('/v1/gain')) as GainReport, metrics: await read('/metrics') }
  } finally {
    await proxy.close()
    await emulator.close()
  }
}

/** Waits until the size of the engine's cache is known, which is asked for once somebody looks at the gain. */
async function untilSizeIsKnown({ adminUrl }: { readonly adminUrl: string }): Promise<void> {
  await fetch(`${adminUrl}/v1/gain`)
  await vi.waitFor(
    async () => {
      const mirror = (await (await fetch(`${adminUrl}/v1/mirror`)).json()) as { replicas: ReplicaDescription[] }
      if (!mirror.replicas[0]?.capacity_tokens) throw new Error('the engine has not said how large its cache is')
    },
    { timeout: 10_000, interval: 50 },
  )
}

/** Sends requests until one is followed by its tokens: the engine reports, and its cache and page sizes are known. */
export async function untilExact({
  url,
  adminUrl,
}: {
  readonly url: string
  readonly adminUrl: string
}): Promise<void> {
  await vi.waitFor(
    async () => {
      await sendAll(url, [
        { model: 'm', max_tokens: 1, messages: [{ role: 'user', content: `warm ${Math.random()}` }] },
      ])
      const { total } = (await (await fetch(`${adminUrl}/v1/gain`)).json()) as GainReport
      if (total.exact_requests === 0) throw new Error('no request has been followed by its tokens yet')
    },
    { timeout: 10_000, interval: 50 },
  )
}

export async function sendAll(url: string, bodies: readonly object[]): Promise<Answered[]> {
  const answers: Answered[] = []
  for (const body of bodies) {
    const response = await postJson(`${url}/v1/chat/completions`, body)
    const { usage, choices } = (await response.json()) as {
      choices: { message: { content: string } }[]
      usage?: { prompt_tokens: number; prompt_tokens_details: { cached_tokens: number } }
    }
    if (!usage) throw new Error(`status ${response.status}`)
    const header = response.headers.get('x-reprise-baseline-cached-tokens')
    answers.push({
      cachedTokens: usage.prompt_tokens_details.cached_tokens,
      promptTokens: usage.prompt_tokens,
      answer: choices[0]!.message.content,
      baseline: header === null ? undefined : Number(header),
    })
  }
  return answers
}

export function cachedOf(answers: readonly Answered[]): number {
  return answers.reduce((sum, { cachedTokens }) => sum + cachedTokens, 0)
}

/** Returns texts of 40 to 160 words each, the same every time. */
export function documents(count: number): string[] {
  let state = 11
  const next = (): number => {
    state = (state * 48_271) % 2_147_483_647
    return state
  }
  const words = 'alpha river Ünicode 42 the of retrieval, engine; "cache" block — token'.split(' ')
  return Array.from({ length: count }, (_, i) => {
    const text = Array.from({ length: 40 + (next() % 120) }, () => words[next() % words.length]).join(' ')
    const name = String.fromCodePoint(97 + Math.floor(i / 26), 97 + (i % 26))
    return `About ${name}: ${text}`
  })
}

/** Returns questions about up to six of twelve documents each, in varying order. */
export function smallTrace(count: number): object[] {
  const texts = documents(12)
  return Array.from({ length: count }, (_, i) => {
    const chosen = Array.from({ length: 6 }, (_, k) => (i * 5 + k * (1 + (i % 3)) + (k > 3 ? i : 0)) % 12)
    const blocks = [...new Set(chosen)].map((at) => ({ id: `d${at}`, text: texts[at]! }))
    return toBody({ question: `What is said in case ${i}?`, blocks })
  })
}

export function toBody(turn: Parameters<typeof toUserMessage>[0]): object {
  return { model: 'm', max_tokens: 9, messages: [SYSTEM_MESSAGE, toUserMessage(turn)] }
}
