import { type Comparison, renderSentence, renderTable } from './compare-runs.ts'
import type { FittedTurns } from './fit-turns.ts'
import type { GainTokens } from './read-gain.ts'
import type { Model } from './read-model.ts'
import type { TokenKinds } from './vllm/token-kinds.ts'

/** Everything a demo reports at its end. */
export interface Report {
  readonly workload: string
  readonly engine: string
  readonly model: Model
  readonly fitted: FittedTurns
  /** requests before these, which filled the caches */
  readonly warm_up: number
  readonly comparison: Comparison
  /** the gain reported by the proxy; undefined: it was not asked */
  readonly gain?: GainTokens | undefined
  /** the share of the prompts' text that was sent before, at any position: the most a cache can save */
  readonly seen_before?: number | undefined
  /** if the engine reuses at any position: its counts of prompt tokens, by how they were handled */
  readonly kinds?: TokenKinds | undefined
}

/** Renders the report for people. */
export function renderReport({ workload, engine, model, fitted, warm_up, comparison, ...told }: Report): string {
  const { turns, shortened, leftOut } = fitted
  const limit = `${model.positions.toLocaleString('en-US')} tokens`
  const notes = [
    shortened > 0 ? `${shortened} requests go with fewer blocks, to fit the model's ${limit}.\n` : '',
    leftOut > 0 ? `${leftOut} requests are left out: their conversations outgrew the model's ${limit}.\n` : '',
  ]
  const title = `${workload}: ${turns.length} requests after ${warm_up} to warm up, ${engine}\n`
  return `${title}${notes.join('')}${renderTable(comparison)}\n${renderSentence(comparison)}\n${renderTold(told)}`
}

/** Returns the report as JSON, for programs. */
export function toJsonReport({ workload, engine, model, fitted, comparison, ...told }: Report): string {
  const { turns, shortened, leftOut } = fitted
  const head = { workload, engine, model: model.name, requests: turns.length, shortened, left_out: leftOut }
  return `${JSON.stringify({ ...head, ...comparison, ...told })}\n`
}

function renderTold({ gain, seen_before: bound, kinds }: Pick<Report, 'gain' | 'seen_before' | 'kinds'>): string {
  const lines = [
    ...(bound === undefined ? [] : [`Bound: ${share(bound)} of the prompts had been sent before, by characters.`]),
    ...(gain === undefined ? [] : [renderGain(gain)]),
    ...(kinds === undefined ? [] : [renderKinds(kinds)]),
  ]
  return lines.map((line) => `${line}\n`).join('')
}

function renderGain({ prompt_tokens: all, without_tokens, with_tokens, possible_tokens }: GainTokens): string {
  const of = (tokens: number): string => `${tokens.toLocaleString('en-US')} (${share(all === 0 ? 0 : tokens / all)})`
  return `Cached tokens by GET /v1/gain: without reprise ${of(without_tokens)}, with it ${of(with_tokens)}, possible ${of(possible_tokens)}.`
}

function renderKinds(kinds: TokenKinds): string {
  const total = Object.values(kinds).reduce((sum, count) => sum + count, 0)
  const shares = Object.entries(kinds).map(([kind, count]) => `${kind} ${share(total === 0 ? 0 : count / total)}`)
  return `Of the prompts' tokens: ${shares.join(', ')}.`
}

function share(part: number): string {
  return `${(100 * part).toFixed(1)} %`
}
