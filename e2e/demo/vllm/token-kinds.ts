import { request } from 'undici'
import { DemoError } from '../demo-error.ts'

const KINDS = ['exact', 'reused', 'recomputed', 'cold'] as const

/** Prompt tokens by how they were handled, as counted by the plugin since vLLM started. */
export type TokenKinds = Readonly<Record<(typeof KINDS)[number], number>>

/** Reads the counts from vLLM's metrics. */
export async function readTokenKinds(engineUrl: string): Promise<TokenKinds> {
  const response = await request(`${engineUrl}/metrics`)
  const text = await response.body.text()
  if (!text.includes('# TYPE vllm:reprise_prompt_tokens')) {
    throw new DemoError(`${engineUrl}/metrics counts no prompt tokens by kind: the plugin is not there`)
  }
  const count = (kind: keyof TokenKinds): number =>
    Number(
      new RegExp(`^vllm:reprise_prompt_tokens_total\\{[^}]*kind="${kind}"[^}]*\\} (\\S+)`, 'm').exec(text)?.[1] ?? 0,
    )
  return toKinds(count)
}

/** Returns what was counted between two readings. */
export function subtractKinds(after: TokenKinds, before: TokenKinds): TokenKinds {
  return toKinds((kind) => after[kind] - before[kind])
}

function toKinds(count: (kind: keyof TokenKinds) => number): TokenKinds {
  return Object.fromEntries(KINDS.map((kind) => [kind, count(kind)])) as TokenKinds
}
