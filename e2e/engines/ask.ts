import { Agent, request } from 'undici'
import { SYSTEM_MESSAGE, toUserMessage } from '../demo/prompt.ts'
import type { Turn } from '../demo/workload.ts'
import { modelName } from './engine.ts'

/** The cached tokens predicted for a prompt, and those reported by the engine. */
export interface Answer {
  readonly predicted: number
  /** of these, what is in host memory */
  readonly host: number
  readonly reported: number
  readonly promptTokens: number
  readonly blocks: number
  readonly moved: number
}

/** Sends one turn. Rejects if there is no answer to compare. */
export type Ask = (turn: Turn, requestId: string) => Promise<Answer>

interface Usage {
  readonly prompt_tokens: number
  readonly prompt_tokens_details?: { readonly cached_tokens?: number } | null
}

// a prompt may take long on a busy machine, so there is no timeout
const agent = new Agent({ headersTimeout: 0, bodyTimeout: 0 })

/** Asks a proxy as one tenant, which cannot use what other tenants have cached. */
export function askAt(url: string, tenant: string): Ask {
  return async (turn, requestId) => {
    const response = await request(`${url}/v1/chat/completions`, {
      method: 'POST',
      dispatcher: agent,
      headers: { 'content-type': 'application/json', authorization: `Bearer ${tenant}`, 'x-request-id': requestId },
      body: JSON.stringify({
        model: modelName,
        messages: [SYSTEM_MESSAGE, toUserMessage(turn)],
        max_tokens: 9,
        temperature: 0,
      }),
    })
    const text = await response.body.text()
    if (response.statusCode !== 200) throw new Error(`${response.statusCode}: ${text.slice(0, 300)}`)
    const { usage } = JSON.parse(text) as { usage: Usage }
    const told = (name: string): number => Number(response.headers[`x-reprise-${name}`])
    return {
      predicted: told('predicted-cached-tokens'),
      host: told('predicted-host-tokens') || 0,
      // SGLang omits the details if nothing was cached
      reported: usage.prompt_tokens_details?.cached_tokens ?? 0,
      promptTokens: usage.prompt_tokens,
      blocks: told('blocks'),
      moved: told('moved'),
    }
  }
}
