import type { EngineRequest } from '#engine-adapters/engine-client.ts'
import type { SentPrompt } from '#index/cache-event.ts'
import type { ScopeId } from '#index/context-block.ts'
import type { KeyEntry } from '../access/api-keys.ts'
import { credentialsOf } from '../access/engine-credentials.ts'
import type { Call } from '../call/call.ts'
import type { Replica } from '../replicas/replica.ts'

/** A prompt that an engine has run, and what is needed to send it to another. */
export interface RunPrompt {
  readonly api: Call['api']
  readonly model: string | undefined
  /** id of the caller's API key, if keys are required */
  readonly key: string | undefined
  readonly from: Pick<Replica, 'adapter' | 'apiKey'>
  readonly prompt: SentPrompt
  readonly request: EngineRequest
}

/** A prompt that nobody has asked for since then is not hot, in milliseconds. */
const longest = 3_600_000
/** Bodies that wait in memory, together. */
const mostBytes = 8 * 1024 * 1024

/** The last prompts that began as others did, so that an engine which comes finds what is asked for most. */
export class HotPrompts {
  readonly #kept = new Map<ScopeId, RunPrompt & { readonly at: number; readonly bytes: number }>()
  #bytes = 0

  /** Keeps a prompt in place of the oldest above `most`. `now` in milliseconds. */
  note(run: RunPrompt, most: number, now: number): void {
    const { path, method, headers, body } = run.request
    const name = run.prompt.prefixes.at(-1)
    if (name === undefined || !Buffer.isBuffer(body)) return
    this.#drop(name)
    // a part of a buffer would keep all of it
    const own = body.length === body.buffer.byteLength ? body : Buffer.from(body)
    const request = { path, method, headers: credentialsOf(headers), body: own }
    this.#kept.set(name, { ...run, request, at: now, bytes: body.length })
    this.#bytes += body.length
    for (const [oldest, { at }] of this.#kept) {
      if (this.#kept.size <= most && this.#bytes <= mostBytes && now - at <= longest) return
      this.#drop(oldest)
    }
  }

  /** The prompts kept, first the one of which most characters were asked for by the others, too. */
  hottest(now: number): RunPrompt[] {
    const kept = [...this.#kept.values()].filter(({ at }) => now - at <= longest)
    const asked = new Map<ScopeId, number>()
    for (const { prompt } of kept) for (const prefix of prompt.prefixes) asked.set(prefix, (asked.get(prefix) ?? 0) + 1)
    const heat = ({ prompt: { prefixes, ends } }: RunPrompt): number =>
      prefixes.reduce((sum, prefix, i) => sum + (ends[i]! - (ends[i - 1] ?? 0)) * (asked.get(prefix)! - 1), 0)
    return kept
      .map((run) => ({ run, heat: heat(run) }))
      .toSorted((a, b) => b.heat - a.heat)
      .map(({ run }) => run)
  }

  /** Forgets the prompts of all API keys but these. */
  retain(keys: readonly Pick<KeyEntry, 'id'>[]): void {
    const ids = new Set<string | undefined>(keys.map(({ id }) => id))
    for (const [name, { key }] of this.#kept) if (!ids.has(key)) this.#drop(name)
  }

  #drop(name: ScopeId): void {
    this.#bytes -= this.#kept.get(name)?.bytes ?? 0
    this.#kept.delete(name)
  }
}
