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
  const { trace, verdict } = comparison
  return [`${trace}: ${subjectOf(comparison)}.`, ...notesOf(comparison), table.toString(), legend(), verdict, ''].join(
    '\n',
  )
}

/** Renders the comparison as Markdown. */
export function renderMarkdown(comparison: Comparison): string {
  const row = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`
  return [
    `# ${comparison.trace}: answers compared`,
    '',
    `**${comparison.verdict}.**`,
    '',
    `${subjectOf(comparison)}, one after the other, at temperature 0. ${notesOf(comparison).join(' ')}`,
    '',
    row(columns),
    row(columns.map(() => '---')),
    ...comparison.passes.map((report) => row(cellsOf(report))),
    '',
    legend(),
    '',
  ].join('\n')
}

function subjectOf({ requests, model, engine }: Comparison): string {
  return `${requests} requests to ${model} at ${engine}`
}

function notesOf({ caches_apart, left_out, log_probabilities_refused, passes }: Comparison): string[] {
  return [
    caches_apart
      ? 'Each pass had a cache of its own (cache_salt).'
      : 'The engine takes no salts: passes shared its cache, so that cached tokens and times say little.',
    ...(left_out > 0 ? [`Recorded requests that did not go to /v1/chat/completions were left out: ${left_out}.`] : []),
    ...(log_probabilities_refused ? ['The engine refuses log-probabilities: it was asked without.'] : []),
    ...(passes.some(({ prompt_tokens }) => prompt_tokens === null)
      ? ['The engine does not report usage in its streams: what it had cached is unknown.']
      : []),
  ]
}

function cellsOf(report: PassReport): string[] {
  const { pass, requests, changed, agreement, gold, log_probability_difference, first_token_ms: times } = report
  const { prompt_tokens, cached_tokens } = report
  return [
    pass,
    `${changed} of ${requests}`,
    `${(100 * agreement.exact.mean).toFixed(1)} %`,
    interval(agreement.f1),
    gold === null ? '–' : interval(gold.f1),
    gold === null ? '–' : interval(gold.f1_difference, true),
    log_probability_difference === null ? '–' : interval(log_probability_difference, true),
    cached_tokens === null || !prompt_tokens ? 'unknown' : `${((100 * cached_tokens) / prompt_tokens).toFixed(1)} %`,
    `${Math.round(times.p50)} / ${Math.round(times.p99)} ms`,
  ]
}

function legend(): string {
  const words = passes.map(({ name, says }) => `${name}: ${says}`).join('; ')
  return `${words}. Intervals are of 95 %, by bootstrap over requests; changes are from the requests as received.`
}

function interval({ mean, low, high }: Estimate, isSigned = false): string {
  const write = (value: number): string => `${isSigned && value > 0 ? '+' : ''}${value.toFixed(3)}`
  return `${write(mean)} (${write(low)} to ${write(high)})`
}
