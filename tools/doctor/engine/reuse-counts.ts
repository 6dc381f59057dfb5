import { type Finding, ok, warning } from '../finding.ts'

/** What a plugin has counted of reuse at any position since its engine started. */
export interface ReuseCounts {
  /** prompt tokens */
  readonly reused: number
  /** requests served as without reuse, by reason */
  readonly stock: ReadonlyMap<string, number>
  readonly faults: number
}

const COUNTER =
  /^(?:vllm|sglang):reprise_(prompt_tokens|stock_requests|faults)_total\{[^\n]{0,4096}?\b(?:kind|reason|what)="(\w{1,64})"[^\n]{0,4096}?\} (\d(?:\.?\d|e\+){0,24})$/gm

/** Reads an engine's metrics. Returns undefined if they count no request with regard to reuse. */
export function readReuseCounts(metrics: string): ReuseCounts | undefined {
  const stock = new Map<string, number>()
  let [isCounted, reused, faults] = [false, 0, 0]
  for (const [, counter, label, value] of metrics.matchAll(COUNTER)) {
    isCounted = true
    const count = Number(value)
    if (counter === 'stock_requests') stock.set(label!, (stock.get(label!) ?? 0) + count)
    else if (counter === 'faults') faults += count
    else if (label === 'reused') reused += count
  }
  return isCounted ? { reused, stock, faults } : undefined
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
