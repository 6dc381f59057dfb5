import Table from 'cli-table3'
import type { Estimate } from './bootstrap.ts'
import type { Comparison, PassReport } from './comparison.ts'
import { passes } from './passes.ts'

const columns = [
  'sent',
  'changed',
  'equal answers',
  'F1 with received',
  'F1 with gold',
  'change of it',
  'log-probability',
  'cached',
  'first token p50 / p99',
]

/** Renders the comparison for people at a terminal. */
export function renderComparison(comparison: Comparison): string {
  const table = new Table({ head: columns, style: { head: [], border: [] } })
  for (const report of comparison.passes) table.push(cellsOf(report))
  return `${titleOf(comparison)}\n${table.toString()}\n${legend()}\n${comparison.verdict}\n`
}

/** Renders the comparison as Markdown; `plot`: a picture next to it. */
export function renderMarkdown(comparison: Comparison, plot: string | undefined): string {
  const row = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`
  const apart = comparison.caches_apart
    ? 'Each pass had a cache of its own (`cache_salt`).'
    : 'The engine takes no salts: passes shared its cache, so that cached tokens and times say little.'
  return [
    `# ${comparison.trace}: answers compared`,
    '',
    `**${comparison.verdict}.**`,
    '',
    `${comparison.requests} requests to ${comparison.model} at ${comparison.engine}, one after the other, at temperature 0. ${apart}`,
    '',
    row(columns),
    row(columns.map(() => '---')),
    ...comparison.passes.map((report) => row(cellsOf(report))),
    '',
    legend(),
    ...(plot === undefined ? [] : ['', `![Changes with their intervals](${plot})`]),
    '',
  ].join('\n')
}

function titleOf({ trace, requests, model, engine, caches_apart }: Comparison): string {
  const shared = caches_apart ? '' : ' (passes share its cache: cached tokens and times say little)'
  return `${trace}: ${requests} requests to ${model} at ${engine}${shared}`
}

function cellsOf(report: PassReport): string[] {
  const { pass, requests, changed, agreement, gold, log_probability_difference, first_token_ms: times } = report
  const { prompt_tokens, cached_tokens } = report
  return [
    pass,
    `${changed} of ${requests}`,
    share(agreement.exact),
    interval(agreement.f1),
    gold === null ? '–' : interval(gold.f1),
    gold === null ? '–' : interval(gold.f1_difference, true),
    log_probability_difference === null ? '–' : interval(log_probability_difference, true),
    cached_tokens === null || prompt_tokens === 0 ? '–' : `${((100 * cached_tokens) / prompt_tokens).toFixed(1)} %`,
    `${Math.round(times.p50)} / ${Math.round(times.p99)} ms`,
  ]
}

function legend(): string {
  const words = passes.map(({ name, says }) => `${name}: ${says}`).join('; ')
  return `${words}. Intervals are of 95 %, by bootstrap over requests; changes are from the requests as received.`
}

function share({ mean }: Estimate): string {
  return `${(100 * mean).toFixed(1)} %`
}

function interval({ mean, low, high }: Estimate, isSigned = false): string {
  const write = (value: number): string => `${isSigned && value > 0 ? '+' : ''}${value.toFixed(3)}`
  return `${write(mean)} (${write(low)} to ${write(high)})`
}
