import { setTimeout as sleep } from 'node:timers/promises'
import { request } from 'undici'
import { DemoError } from './demo-error.ts'

const KEYS = ['requests', 'prompt_tokens', 'without_tokens', 'with_tokens', 'possible_tokens'] as const

/** Prompt tokens that were counted, and those found cached without reprise, with it, and seen before anywhere. */
export type GainTokens = Readonly<Record<(typeof KEYS)[number], number>>

const POLL_MS = 100
const MOST_POLLS = 50

/**
 * Asks a proxy's control plane what it has brought since its start, once it has counted so many requests: it counts
 * beside the answers. After five seconds what was counted by then is told.
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

/** What was counted between two readings. */
export function subtractGain(after: GainTokens, before: GainTokens): GainTokens {
  return toGain((key) => after[key] - before[key])
}

function toGain(count: (key: keyof GainTokens) => number): GainTokens {
  return Object.fromEntries(KEYS.map((key) => [key, count(key)])) as GainTokens
}
