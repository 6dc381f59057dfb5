import { randomInt } from 'node:crypto'
import type { ReplicaId } from '#index/context-block.ts'
import type { ConversationStore } from '#index/conversation-store.ts'
import { getOrMake } from '#index/get-or-make.ts'
import type { CacheMirror } from '#index/mirror/cache-mirror.ts'
import { MemoryConversationStore } from '../prompt/turns/memory-conversation-store.ts'
import { ReplicaCache } from '../replicas/mirror/replica-cache.ts'
import { GainLedger, type GainSums, type GainTotal, type NamedSums } from './gain-ledger.ts'
import { ReplicaWorlds } from './replica-worlds.ts'
import { SeenSpans } from './seen-spans.ts'

const plannedBytes = 16 * 1024 * 1024

/** Saved tokens, and the engine time they would have taken; null if that is not known yet. */
interface Savings {
  readonly tokens: number
  readonly prefill_seconds: number | null
}

/** What reprise gains, as `GET /v1/gain` returns it. */
export interface GainReport {
  readonly mode: string
  readonly since: string
  readonly total: GainTotal & { readonly saved: Savings }
  readonly replicas: readonly (NamedSums & {
    readonly prefill_tokens_per_second: number | null
    readonly saved: Savings
  })[]
  readonly routes: readonly NamedSums[]
  readonly tenants: readonly NamedSums[]
  readonly shapes: readonly NamedSums[]
}

/** The results of the two worlds of all replicas: with reprise, without it, and what was possible. */
export class Gain {
  readonly seen: SeenSpans = new SeenSpans(randomInt(2 ** 31))
  readonly ledger: GainLedger = new GainLedger()
  /** how turns that shadow mode only planned would have been sent */
  readonly plannedTurns: ConversationStore = new MemoryConversationStore(plannedBytes)
  /** whether anybody has asked for a report: only then is it worth asking engines about their caches */
  isRead = false
  readonly #since: string
  readonly #createMirror: () => CacheMirror
  readonly #worlds = new Map<ReplicaId, ReplicaWorlds>()
  readonly #planned = new Map<ReplicaId, ReplicaCache>()

  /** `createMirror`: creates an empty mirror like those of the replicas; `since`: when counting began, as ISO 8601. */
  constructor(createMirror: () => CacheMirror, since: string) {
    this.#createMirror = createMirror
    this.#since = since
  }

  /** Returns the two worlds of a replica. */
  worldsOf(replica: ReplicaId): ReplicaWorlds {
    return getOrMake(this.#worlds, replica, () => new ReplicaWorlds())
  }

  /** Returns what a replica would hold if everything planned had been sent: shadow mode orders against that. */
  plannedOf(replica: ReplicaId): ReplicaCache {
    return getOrMake(this.#planned, replica, () => new ReplicaCache(this.#createMirror()))
  }

  /** Call when a replica's engine has lost all it held. */
  lost(replica: ReplicaId): void {
    this.#worlds.get(replica)?.clear()
    this.#planned.get(replica)?.clear()
  }

  /** Call when a replica is gone for good. Its sums stay in the report. */
  drop(replica: ReplicaId): void {
    this.#worlds.delete(replica)
    this.#planned.delete(replica)
  }

  /** Reports what is known so far. */
  report(mode: string): GainReport {
    this.isRead = true
    const replicas = this.ledger.by('replicas').map((sums) => {
      const rate = this.#worlds.get(sums.name as ReplicaId)?.rate.secondsPerToken
      return {
        ...sums,
        prefill_tokens_per_second: rate === undefined ? null : Math.round(1 / rate),
        saved: toSavings(sums, rate),
      }
    })
    const seconds = replicas.map(({ saved }) => saved.prefill_seconds)
    const { total } = this.ledger
    const known = seconds.length > 0 && seconds.every((own) => own !== null)
    return {
      mode,
      since: this.#since,
      total: {
        ...total,
        saved: {
          tokens: total.with_tokens - total.without_tokens,
          prefill_seconds: known ? rounded(seconds.reduce((sum, own) => sum + own, 0)) : null,
        },
      },
      replicas,
      routes: this.ledger.by('routes'),
      tenants: this.ledger.by('tenants'),
      shapes: this.ledger.by('shapes'),
    }
  }
}

function toSavings({ with_tokens, without_tokens }: GainSums, secondsPerToken: number | undefined): Savings {
  const tokens = with_tokens - without_tokens
  return { tokens, prefill_seconds: secondsPerToken === undefined ? null : rounded(tokens * secondsPerToken) }
}

function rounded(seconds: number): number {
  return Math.round(seconds * 100) / 100
}
