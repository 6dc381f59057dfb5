import { setTimeout as sleep } from 'node:timers/promises'
import { request } from 'undici'
import { DemoError } from './demo-error.ts'

const KEYS = ['requests', 'prompt_tokens', 'without_tokens', 'with_tokens', 'possible_tokens'] as const

/**
 * Requests and prompt tokens counted, and the tokens cached without reprise, cached with it, and seen before anywhere.
 */
export type GainTokens = Readonly<Record<(typeof KEYS)[number], number>>

const POLL_MS = 100
const MOST_POLLS = 50

/**
 * Asks a proxy's control plane for its gain since it started, once it has counted `requests` requests: it counts
 * asynchronously to the answers. After five seconds, returns what was counted so far.
 */
export async function readGain(adminUrl: string, requests = 0): Promise<GainTokens> {
  for (let poll = 0; ; poll++) {
    const gain = await askForGain(adminUrl)
    if (gain.requests >= requests || poll === MOST_POLLS) return gain
    await sleep(POLL_MS)
  }
}

async function askForGain(adminUrl: string): Promise<GainTokens> {
  const response = await request(`${adminUrl}/v1/gain`)
  const { total } = (await response.body.json()) as { total?: Partial<GainTokens> }
  return toGain((key) => {
    const count = total?.[key]
    if (count === undefined) throw new DemoError(`${adminUrl}/v1/gain does not tell ${key}`)
    return count
  })
}

/** Returns what was counted between two readings. */
export function subtractGain(after: GainTokens, before: GainTokens): GainTokens {
  return toGain((key) => after[key] - before[key])
}

function toGain(count: (key: keyof GainTokens) => number): GainTokens {
  return Object.fromEntries(KEYS.map((key) => [key, count(key)])) as GainTokens
}
