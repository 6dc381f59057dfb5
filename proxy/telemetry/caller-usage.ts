import { Counter, type Registry } from 'prom-client'
import { tenantName } from '../access/tenancy.ts'

export interface CallerNames {
  readonly tenant: string
  /** the API key that was presented, by the name in its configuration entry */
  readonly key: { readonly name: string } | undefined
}

/** What is summed up, and what its metric says. */
const help = {
  requests: 'Requests that went to an engine, by caller: the largest by prompt tokens, the rest as other',
  unreported_requests: 'Requests that an engine answered without saying how many tokens it read, by caller',
  limited_requests: 'Requests refused because of the limits of their key, by caller',
  prompt_tokens: 'Prompt tokens as the engine counted them, by caller',
  cached_tokens: 'Prompt tokens served from cache, by caller',
  reused_tokens: 'Prompt tokens whose KV was taken over from another position, by caller',
  baseline_cached_tokens:
    'Prompt tokens that would have been served from cache had nothing ever been rewritten, by caller',
}
export type CallerSums = Record<keyof typeof help, number>
const names = Object.keys(help) as (keyof CallerSums)[]
const nothing = (): CallerSums => Object.fromEntries(names.map((name) => [name, 0])) as CallerSums

/** What a caller used since the start; `saved_tokens`: cached only because of reprise. */
interface Usage extends Omit<CallerSums, 'baseline_cached_tokens'> {
  readonly saved_tokens: number
}

/** What each caller used, as `GET /v1/usage` returns it, the largest first. */
export interface UsageReport {
  readonly since: string
  readonly total: Usage
  readonly callers: readonly ({ readonly tenant: string; readonly key: string | null } & Usage)[]
  /** callers that are not listed, because many others used more */
  readonly other: Usage
}

interface Row {
  readonly tenant: string
  readonly key: string | undefined
  readonly sums: CallerSums
  /** what the metrics have counted of the sums, in its own series or as `other` */
  readonly counted: CallerSums
  /** what its own series holds, also while it is not shown */
  readonly shown: CallerSums
}

/** How many callers are listed. Up to twice as many are kept, so that a new one has time to grow. */
export const mostListed = 1_000
/** How many callers are labels of metrics. */
export const mostLabels = 20

/** Sums up what each caller used, by the names of its tenant and key. Bounded, whatever callers come. */
export class CallerUsage {
  readonly #since: string
  readonly #rows = new Map<string, Row>()
  readonly #other = newRow('other', 'other')

  /** `since`: when counting began, as ISO 8601. */
  constructor(since: string) {
    this.#since = since
  }

  note({ tenant, key }: CallerNames, used: Partial<CallerSums>): void {
    const id = JSON.stringify([tenant, key?.name])
    const known = this.#rows.get(id)
    const row = known ?? newRow(tenantName(tenant), key?.name)
    add(row.sums, used)
    if (known) return
    this.#rows.set(id, row)
    if (this.#rows.size > 2 * mostListed) this.#drop()
  }

  /** Returns what is known so far. */
  report(): UsageReport {
    const ranked = this.#ranked.map(([, row]) => row)
    const sumOf = (rows: readonly Row[]): CallerSums => rows.reduce((sum, { sums }) => add(sum, sums), nothing())
    return {
      since: this.#since,
      total: toUsage(sumOf([...ranked, this.#other])),
      callers: ranked
        .slice(0, mostListed)
        .map(({ tenant, key, sums }) => ({ tenant, key: key ?? null, ...toUsage(sums) })),
      other: toUsage(sumOf([...ranked.slice(mostListed), this.#other])),
    }
  }

  /** Adds counters of all that is summed up; the largest callers have labels of their own, the others share one. */
  addCounters(registry: Registry): void {
    const usage = this
    for (const name of names) {
      new Counter({
        name: `reprise_caller_${name}_total`,
        help: help[name],
        labelNames: ['tenant', 'key'],
        registers: [registry],
        collect() {
          const ranked = usage.#ranked.map(([, row]) => row)
          const largest = new Set(ranked.slice(0, mostLabels))
          // No series ever falls: what was counted as `other` stays there, and a caller that is back goes on where it was.
          for (const row of [...ranked, usage.#other]) {
            const { shown } = largest.has(row) ? row : usage.#other
            shown[name] += row.sums[name] - row.counted[name]
            row.counted[name] = row.sums[name]
          }
          this.reset()
          for (const row of largest) this.inc(labelsOf(row), row.shown[name])
          this.inc({ tenant: 'other', key: 'other' }, usage.#other.shown[name])
        },
      })
    }
  }

  get #ranked(): [string, Row][] {
    return [...this.#rows].sort(([, a], [, b]) => b.sums.prompt_tokens - a.sums.prompt_tokens)
  }

  #drop(): void {
    for (const [id, { sums, counted }] of this.#ranked.slice(mostListed)) {
      this.#rows.delete(id)
      add(this.#other.sums, sums)
      add(this.#other.counted, counted)
    }
  }
}

function newRow(tenant: string, key: string | undefined): Row {
  return { tenant, key, sums: nothing(), counted: nothing(), shown: nothing() }
}

function labelsOf({ tenant, key = 'none' }: Row): { tenant: string; key: string } {
  // the series of all the rest stays theirs
  const isTaken = tenant === 'other' && /^other( \(key\))*$/.test(key)
  return { tenant, key: isTaken ? `${key} (key)` : key }
}

function toUsage({ baseline_cached_tokens, ...sums }: CallerSums): Usage {
  return { ...sums, saved_tokens: sums.cached_tokens - baseline_cached_tokens }
}

function add(sums: CallerSums, more: Partial<CallerSums>): CallerSums {
  for (const name of names) sums[name] += more[name] ?? 0
  return sums
}
