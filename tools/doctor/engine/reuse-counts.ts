import { getOrMake } from '#index/get-or-make.ts'
import { type Finding, ok, warning } from '../finding.ts'

/** What a plugin has counted of reuse at any position since its engine started. */
export interface ReuseCounts {
  /** prompt tokens */
  readonly reused: number
  /** requests served as without reuse, by reason */
  readonly stock: ReadonlyMap<string, number>
  readonly faults: number
  /** calls of a store that engines share; undefined: there is none */
  readonly store?: { readonly failed: number; readonly answered: number } | undefined
}

const COUNTER =
  /^(?:vllm|sglang):reprise_(prompt_tokens|stock_requests|faults|remote)_total\{[^\n]{0,4096}?\b(?:kind|reason|what|event)="(\w{1,64})"[^\n]{0,4096}?\} (\d(?:\.?\d|e\+){0,24})$/gm

/** Reads an engine's metrics. Returns undefined if they count no request with regard to reuse. */
export function readReuseCounts(metrics: string): ReuseCounts | undefined {
  const counters = new Map<string, Map<string, number>>()
  for (const [, counter, label, value] of metrics.matchAll(COUNTER)) {
    const counts = getOrMake(counters, counter!, () => new Map<string, number>())
    counts.set(label!, (counts.get(label!) ?? 0) + Number(value))
  }
  if (counters.size === 0) return undefined
  const of = (counter: string, label: string): number => counters.get(counter)?.get(label) ?? 0
  const faults = [...(counters.get('faults')?.values() ?? [])].reduce((sum, count) => sum + count, 0)
  // keys are asked for, whether they are there or not
  const answered = of('remote', 'keys') + of('remote', 'written')
  const store = counters.has('remote') ? { failed: of('remote', 'failed'), answered } : undefined
  const stock = counters.get('stock_requests') ?? new Map()
  return { reused: of('prompt_tokens', 'reused'), stock, faults, store }
}

/** Judges what a plugin has counted: whether reuse is of use to anybody. */
export function judgeReuse({ reused, stock, faults }: ReuseCounts): Finding {
  const reasons = [...stock].filter(([, count]) => count > 0).sort(([, one], [, other]) => other - one)
  const without = reasons.map(([reason, count]) => `${count} ${reason}`).join(', ')
  const served = without && `; requests served as without: ${without}`
  const found = `${reused} prompt tokens were reused at another position since the engine started${served}`
  if (faults > 0)
    return warning(
      'reuse',
      `${found}; ${faults} faults`,
      "see the engine's log: reuse ends for good after a few faults",
    )
  if (reused > 0 || (stock.get('slower') ?? 0) === 0) return ok('reuse', found)
  const fix = `start the engine again on a quiet machine, since it is timed at start, or with "when": "always" in its "reuse" settings`
  return warning('reuse', found, fix)
}

/** Judges a store that engines share: whether it has ever answered. */
export function judgeStore({ store }: ReuseCounts): Finding | undefined {
  if (!store) return undefined
  if (store.answered > 0) return ok('store', `the store that engines share answers; ${store.failed} calls failed`)
  const found = `the store that engines share has answered nothing since the engine started, and failed ${store.failed} times`
  return warning('store', found, 'see whether the address in "reuse.remote" is reached from the engine, and its log')
}
