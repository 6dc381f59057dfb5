import type { EngineRequest } from '#engine-adapters/engine-client.ts'
import type { ReplicaId } from '#index/context-block.ts'
import type { KeyEntry } from '../../access/api-keys.ts'
import type { PinOutcome } from '../../common/reasons.ts'
import type { RunPrompt } from '../warming/hot-prompts.ts'
import type { MarkedPrompt } from './find-marks.ts'

/** A shorter prefix is computed about as soon as it is looked up; Anthropic's API pins none either. */
const leastTokens = 1_024
/** A prompt of which less stands up to its mark would fill caches with what nobody marked. */
const leastShare = 0.5
/** Bodies that wait in memory, of all pins together. */
const mostBytes = 64 * 1024 * 1024

/** How many tokens of prompts may be pinned; `tokens` 0: none. */
export interface PinLimits {
  readonly tokens: number
  readonly tenantTokens: number
}

/** A prompt that was sent with a mark. */
export interface MarkedRequest extends RunPrompt {
  readonly request: EngineRequest & { readonly body: Buffer }
  /** as the engine counted them; estimated if it did not say */
  readonly tokens: number
}

/** What is known of a pin at one replica. */
interface Held {
  /** when it was last asked for there, in milliseconds; undefined: not since the replica is there */
  readonly at?: number
  /** the last time most of it had to be computed */
  readonly isLost?: boolean
  /** the engine refused it */
  readonly isRefused?: boolean
}

/** A pinned prompt. */
export interface Pin extends MarkedRequest {
  /** the prompt up to its mark; its name, too */
  readonly prefix: string
  readonly seconds: number
  /** milliseconds, monotonic */
  expires: number
  /** where clients' requests, or warming, brought it */
  readonly held: Map<ReplicaId, Held>
}

/** The pinned prompts by their prefixes: each until its time to live is over since it was last asked for. */
export class PinBook extends Map<string, Pin> {
  get all(): readonly Pin[] {
    return [...this.values()]
  }

  get tokens(): number {
    return tokensOf(this.all)
  }

  /** Notes a prompt that an engine has run. Returns what became of each of its marks. */
  note(
    marked: MarkedRequest,
    { marks, prefixes }: Omit<MarkedPrompt, 'unknown'>,
    limits: PinLimits,
    now: number,
  ): PinOutcome[] {
    const passed = this.all.filter(({ prefix }) => prefixes.has(prefix))
    for (const pin of passed) {
      pin.expires = now + 1_000 * pin.seconds
      pin.held.set(marked.from.id, { at: now })
    }
    return marks.map(({ prefix, seconds, share }) => {
      const known = this.get(prefix)
      if (known && known.seconds >= seconds) return 'used'
      if (marked.tokens * share < leastTokens) return 'too_short'
      if (share < leastShare) return 'mark_too_early'
      // a prompt that goes on from them keeps them as well
      const covered = passed.filter((pin) => pin.seconds <= seconds && this.get(pin.prefix) === pin)
      const all = [...this.all.filter((pin) => !covered.includes(pin)), marked]
      if (tokensOf(all.filter(({ tenant }) => tenant === marked.tenant)) > limits.tenantTokens) return 'tenant_limit'
      const bytes = all.reduce((sum, { request }) => sum + request.body.length, 0)
      if (tokensOf(all) > limits.tokens || bytes > mostBytes) return 'limit'
      for (const pin of covered) this.delete(pin.prefix)
      const held = new Map([[marked.from.id, { at: now }]])
      this.set(prefix, { ...marked, prefix, seconds, expires: now + 1_000 * seconds, held })
      return 'pinned'
    })
  }

  /**
   * Forgets the pins whose time is over, those that every engine refused, those of keys that `admits` would not let in,
   * and the oldest above the limits.
   */
  expire(now: number, limits: PinLimits, admits: (key: KeyEntry | undefined) => boolean = () => true): void {
    const kept = new Map<string, number>()
    let all = 0
    for (const pin of this.all.toReversed()) {
      const own = (kept.get(pin.tenant) ?? 0) + pin.tokens
      const isOver =
        pin.expires <= now || !admits(pin.key) || [...pin.held.values()].every(({ isRefused }) => isRefused)
      if (isOver || own > limits.tenantTokens || all + pin.tokens > limits.tokens) this.delete(pin.prefix)
      else {
        kept.set(pin.tenant, own)
        all += pin.tokens
      }
    }
  }
}

function tokensOf(pins: readonly Pick<Pin, 'tokens'>[]): number {
  return pins.reduce((sum, { tokens }) => sum + tokens, 0)
}
