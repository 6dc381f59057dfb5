import { readUsage } from '#engine-adapters/read-usage.ts'
import type { SentRequest } from './send-request.ts'

/** What came of a batch. */
export interface BatchSummary {
  /** lines of the file that are not blank */
  readonly requests: number
  /** with a status of 200 to 299 */
  readonly answered: number
  /** of these, by an earlier run */
  readonly resumed: number
  /** with another status, or no answer */
  readonly failed: number
  /** lines that are no request */
  readonly invalid: number
  /** of this run: requests whose blocks were moved */
  readonly moved: number
  /** of this run: why nothing was done, and how often */
  readonly skipped: Readonly<Record<string, number>>
  /** of all answers that state them; null: none does */
  readonly prompt_tokens: number | null
  readonly cached_tokens: number | null
  readonly hit_ratio: number | null
  readonly seconds: number
  readonly out: string
}

/** Adds up what comes of a batch. */
export class BatchCounts {
  readonly #counts = { answered: 0, resumed: 0, failed: 0, moved: 0 }
  readonly #skipped: Record<string, number> = {}
  #promptTokens: number | null = null
  #cachedTokens: number | null = null
  /** of the requests whose cached tokens are known */
  #knownPromptTokens = 0

  /** Counts a result of this run. */
  sent({ status, body, moved, skipped }: SentRequest): void {
    this.#add(status, body)
    if (moved > 0) this.#counts.moved += 1
    if (skipped !== undefined) this.#skipped[skipped] = (this.#skipped[skipped] ?? 0) + 1
  }

  /** Counts a result of an earlier run. */
  resumed(status: number, body: string): void {
    if (this.#add(status, body)) this.#counts.resumed += 1
  }

  /** Returns whether there was an answer with a status of 200 to 299. */
  #add(status: number | undefined, body: string): boolean {
    const isAnswered = status !== undefined && status >= 200 && status <= 299
    this.#counts[isAnswered ? 'answered' : 'failed'] += 1
    const { promptTokens, cachedTokens } = (isAnswered ? readUsage(body) : undefined) ?? {}
    if (promptTokens !== undefined) this.#promptTokens = (this.#promptTokens ?? 0) + promptTokens
    if (promptTokens === undefined || cachedTokens === undefined) return isAnswered
    this.#cachedTokens = (this.#cachedTokens ?? 0) + cachedTokens
    this.#knownPromptTokens += promptTokens
    return isAnswered
  }

  summary(requests: number, invalid: number, seconds: number, out: string): BatchSummary {
    const cached = this.#cachedTokens
    const { moved, ...counts } = this.#counts
    return {
      requests,
      ...counts,
      invalid,
      moved,
      skipped: this.#skipped,
      prompt_tokens: this.#promptTokens,
      cached_tokens: cached,
      hit_ratio: cached === null ? null : cached / Math.max(1, this.#knownPromptTokens),
      seconds,
      out,
    }
  }
}

/** Writes a summary for people. */
export function renderSummary(summary: BatchSummary): string {
  const { requests, answered, resumed, failed, invalid, moved, skipped, seconds, out } = summary
  const whole = (count: number | null): string => (count === null ? 'unknown' : count.toLocaleString('en-US'))
  const earlier = resumed > 0 ? ` (${whole(resumed)} by an earlier run)` : ''
  const bad = invalid > 0 ? `, ${whole(invalid)} were no request` : ''
  const ratio = summary.hit_ratio === null ? '' : ` (${(100 * summary.hit_ratio).toFixed(1)} %)`
  const reasons = Object.entries(skipped).map(([reason, count]) => `${reason} ${whole(count)}`)
  const left = reasons.length > 0 ? `; left as received: ${reasons.join(', ')}` : ''
  const hint = skipped.not_permitted ? ' (--set states that the order of these lists means nothing)' : ''
  return [
    `${whole(requests)} requests in ${seconds.toFixed(1)} s: ${whole(answered)} answered${earlier}, ${whole(failed)} failed${bad}`,
    `prompt tokens: ${whole(summary.prompt_tokens)}; cached: ${whole(summary.cached_tokens)}${ratio}`,
    `blocks moved in ${whole(moved)} requests${left}${hint}`,
    `results: ${out}`,
    '',
  ].join('\n')
}
