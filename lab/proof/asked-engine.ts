import type { EngineKind } from '#engine-adapters/engine-adapter.ts'
import type { AskScores } from '#engine-adapters/scoring/scored-prompt.ts'

/** An engine to ask. */
export interface AskedEngine {
  readonly url: string
  readonly kind: EngineKind
  readonly model: string
}

/** Returns what posts questions to an engine; what it refuses is said on stderr. */
export function askOf({ url }: AskedEngine): AskScores {
  return async ({ path, body }) => {
    const response = await fetch(url + path, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
    const text = await response.text()
    if (response.ok) return JSON.parse(text)
    process.stderr.write(`${path}: ${response.status} ${text.slice(0, 300)}\n`)
    return undefined
  }
}
