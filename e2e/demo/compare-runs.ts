import Table from 'cli-table3'
import type { RunSummary } from './summarize-run.ts'

/** The same workload, sent directly to the engine and through the proxy. */
export interface Comparison {
  readonly direct: RunSummary
  readonly reprise: RunSummary
}

interface Row {
  readonly label: string
  readonly read: (summary: RunSummary) => number
  readonly show: (value: number) => string
}

const ROWS: readonly Row[] = [
  { label: 'requests answered', read: (summary) => summary.requests, show: toCount },
  { label: 'prompt tokens', read: (summary) => summary.prompt_tokens, show: toCount },
  { label: 'cached tokens, by the engine', read: (summary) => summary.cached_tokens, show: toCount },
  { label: 'hit ratio', read: (summary) => summary.hit_ratio, show: toPercent },
  { label: 'reused at any position, by the engine', read: (summary) => summary.reused_tokens, show: toCount },
  { label: 'tokens computed', read: (summary) => summary.computed_tokens, show: toCount },
  { label: 'time to first token, median', read: (summary) => summary.ttft_p50_ms, show: toDuration },
  { label: 'time to first token, p95', read: (summary) => summary.ttft_p95_ms, show: toDuration },
  { label: 'total time', read: (summary) => summary.seconds * 1000, show: toDuration },
]

/** Renders the comparison as a table for people. */
export function renderTable({ direct, reprise }: Comparison): string {
  const table = new Table({
    head: ['', 'direct', 'through reprise', 'ratio'],
    colAligns: ['left', 'right', 'right', 'right'],
    style: { head: [], border: [] },
  })
  for (const { label, read, show } of ROWS.filter(({ read }) => read(direct) + read(reprise) > 0)) {
    table.push([label, show(read(direct)), show(read(reprise)), toTimes(read(reprise), read(direct))])
  }
  for (const [label, value] of blockRows(reprise)) table.push([label, '', value, ''])
  return table.toString()
}

/** Summarises the comparison in one sentence. */
export function renderSentence({ direct, reprise }: Comparison): string {
  const work = `tokens computed for each request ${toCount(perRequest(direct))} → ${toCount(perRequest(reprise))}`
  const hits = `hit ratio ${toPercent(direct.hit_ratio)} → ${toPercent(reprise.hit_ratio)}`
  const anywhere = `reused at any position ${toPercent(shareReused(direct))} → ${toPercent(shareReused(reprise))}`
  const waits = `median time to first token ${toDuration(direct.ttft_p50_ms)} → ${toDuration(reprise.ttft_p50_ms)}`
  const gained = direct.reused_tokens + reprise.reused_tokens > 0 ? [work, hits, anywhere] : [work, hits]
  return `${judge(direct, reprise)}: ${[...gained, waits].join(', ')}.`
}

/** Differences below this share are not told from chance. */
const NOISE = 0.05

function judge(direct: RunSummary, reprise: RunSummary): string {
  const work = change(perRequest(direct), perRequest(reprise))
  const wait = change(direct.ttft_p50_ms, reprise.ttft_p50_ms)
  if (work >= -NOISE) return `reprise gained nothing here${wait > NOISE ? ', and the first token came later' : ''}`
  const less = `Through reprise the engine computed ${toPercent(-work)} less`
  if (wait < -NOISE) return `${less}, and the first token came sooner`
  return `${less}, but the first token came ${wait > NOISE ? 'later' : 'no sooner'}`
}

/** The change from one value to another, as a share. */
function change(from: number, to: number): number {
  return from === 0 ? 0 : to / from - 1
}

function perRequest({ computed_tokens, requests }: RunSummary): number {
  return requests === 0 ? 0 : Math.round(computed_tokens / requests)
}

function shareReused({ reused_tokens, prompt_tokens }: RunSummary): number {
  return prompt_tokens === 0 ? 0 : reused_tokens / prompt_tokens
}

function blockRows({ blocks }: RunSummary): [label: string, value: string][] {
  if (!blocks) return []
  return [
    ['blocks found', toCount(blocks.found)],
    ['blocks moved', toCount(blocks.moved)],
    ['blocks de-duplicated', toCount(blocks.deduplicated)],
    ...Object.entries(blocks.skipped).map(([reason, count]): [string, string] => [
      `requests left as they were: ${reason}`,
      toCount(count),
    ]),
  ]
}

function toCount(value: number): string {
  return value.toLocaleString('en-US')
}

function toPercent(share: number): string {
  return `${(100 * share).toFixed(1)} %`
}

function toDuration(ms: number): string {
  return ms < 1000 ? `${ms.toFixed(0)} ms` : `${(ms / 1000).toFixed(2)} s`
}

function toTimes(value: number, base: number): string {
  return base === 0 ? '–' : `${(value / base).toFixed(2)}×`
}
