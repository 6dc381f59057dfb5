import type { EngineRequest } from '#engine-adapters/engine-client.ts'
import type { SentPrompt } from '#index/cache-event.ts'
import type { ScopeId } from '#index/context-block.ts'
import { groupBy } from '#index/group-by.ts'
import type { KeyEntry } from '../../access/api-keys.ts'
import { credentialsOf } from '../../access/engine-credentials.ts'
import type { Call, RoutedCall } from '../../call/call.ts'
import type { Replica } from '../../replicas/replica.ts'

/** A prompt that an engine has run, and what is needed to send it to another. */
export interface RunPrompt {
  readonly api: Call['api']
  readonly model: string | undefined
  readonly tenant: string
  /** the caller's API key, if keys are required */
  readonly key: KeyEntry | undefined
  readonly from: Pick<Replica, 'id' | 'adapter' | 'apiKey'>
  readonly prompt: SentPrompt
  readonly request: EngineRequest
}

/** Longer bodies are not sent once more, in bytes. */
const longestBody = 256 * 1024

/** Returns what may be sent once more of a request that is sent now; undefined: it may not. */
export function runOf(
  { api, caller, model, content, isRefused }: Call,
  { replica: { id, adapter, apiKey }, decision }: RoutedCall,
): Omit<RunPrompt, 'request'> | undefined {
  const [prompt] = decision.sent
  // the owner of a service pays for each request
  if (adapter.cacheSources.length === 0 || prompt === undefined || decision.sent.length > 1) return undefined
  if (isRefused || content.body.length > longestBody) return undefined
  return { api, model, tenant: caller.tenant, key: caller.key, from: { id, adapter, apiKey }, prompt }
}

/** A prompt that is kept. */
interface HotPrompt extends RunPrompt {
  readonly request: EngineRequest & { readonly body: Buffer }
  /** all of it up to what the request asks anew */
  readonly beginning: Pick<SentPrompt, 'prefixes' | 'ends' | 'length'>
  /** when its beginning was last asked for, in milliseconds, and how often */
  readonly at: number
  readonly asked: number
}

/** What identifies a prompt's beginning. */
export function nameOf({ beginning }: HotPrompt): ScopeId {
  return beginning.prefixes.at(-1)!
}

/** What may be kept. */
export interface KeptLimits {
  readonly prompts: number
  /** whether a caller with this key would be let in now */
  readonly admits: (key: KeyEntry | undefined) => boolean
}

/** A prompt whose beginning nobody has asked for since then is not hot, in milliseconds. */
const longest = 3_600_000
/** Bodies that wait in memory, together. */
const mostBytes = 8 * 1024 * 1024

/**
 * One prompt for each of the beginnings that are asked for most, so that an engine which comes finds these. A beginning
 * is all that stands before what each request asks anew. Tenants have equal shares of what may be kept. A beginning that
 * takes the place of another counts as often and once more, so that it may stay (Space-Saving, ICDT 2005).
 */
export class HotPrompts {
  readonly #kept = new Map<ScopeId, HotPrompt>()

  /** Keeps a prompt, in place of the last one that began so. */
  note(run: RunPrompt, limits: KeptLimits, now: number): void {
    const { path, method, headers, body } = run.request
    const beginning = beginningOf(run.prompt)
    const name = beginning.prefixes.at(-1)
    if (name === undefined || !Buffer.isBuffer(body) || limits.prompts === 0 || !limits.admits(run.key)) return
    const known = this.#kept.get(name)
    this.#kept.delete(name)
    let asked = known?.asked ?? 0
    const bytes = (): number =>
      [...this.#kept.values()].reduce((sum, one) => sum + one.request.body.length, body.length)
    while (this.#kept.size >= limits.prompts || bytes() > mostBytes) {
      const least = this.#leastBeside(run.tenant)
      asked = Math.max(asked, this.#kept.get(least)!.asked)
      this.#kept.delete(least)
    }
    // a part of a buffer would keep all of it
    const own = body.length === body.buffer.byteLength ? body : Buffer.from(body)
    const request = { path, method, headers: credentialsOf(headers), body: own }
    this.#kept.set(name, { ...run, request, beginning, at: now, asked: asked + 1 })
  }

  /** Forgets what is an hour old, or of a key that is no longer let in, and above the limits what is asked for least. */
  expire({ prompts, admits }: KeptLimits, now: number): void {
    for (const [name, { at, key }] of this.#kept) if (now - at > longest || !admits(key)) this.#kept.delete(name)
    while (this.#kept.size > prompts) this.#kept.delete(this.#leastBeside())
  }

  /** The prompts kept, first the one of which most characters were asked for by others, too. */
  get hottest(): HotPrompt[] {
    const kept = [...this.#kept.values()]
    const askedFor = new Map<ScopeId, number>()
    for (const { prompt, asked } of kept)
      for (const prefix of prompt.prefixes) askedFor.set(prefix, (askedFor.get(prefix) ?? 0) + asked)
    const heat = ({ prompt: { prefixes, ends } }: RunPrompt): number =>
      prefixes.reduce((sum, prefix, i) => sum + (ends[i]! - (ends[i - 1] ?? 0)) * (askedFor.get(prefix)! - 1), 0)
    const heats = new Map(kept.map((run) => [run, heat(run)]))
    return kept.sort((a, b) => heats.get(b)! - heats.get(a)!)
  }

  /** What the tenant with most prompts asked for least, and longest ago. `coming`: a tenant that is about to have one more. */
  #leastBeside(coming?: string): ScopeId {
    const tenants = [...groupBy(this.#kept, ([, { tenant }]) => tenant)]
    const counted = tenants.map(([tenant, own]) => ({ own, count: own.length + Number(tenant === coming) }))
    const most = Math.max(...counted.map(({ count }) => count))
    const [least] = counted
      .filter(({ count }) => count === most)
      .flatMap(({ own }) => own)
      .toSorted(([, a], [, b]) => a.asked - b.asked || a.at - b.at)
    return least![0]
  }
}

/** Cuts a prompt at the end of its last list of documents, or before its last message if it has none. */
function beginningOf({ contexts, prefixes, ends }: SentPrompt): HotPrompt['beginning'] {
  const end = contexts.at(-1)?.ends.at(-1)
  const count = end === undefined ? Math.max(prefixes.length - 1, 1) : ends.indexOf(end) + 1
  return { prefixes: prefixes.slice(0, count), ends: ends.slice(0, count), length: ends[count - 1] ?? 0 }
}
