import { type Comparison, renderSentence, renderTable } from './compare-runs.ts'
import type { FittedTurns } from './fit-turns.ts'
import type { Model } from './read-model.ts'
import type { TokenKinds } from './vllm/token-kinds.ts'

/** All that a demo tells at its end. */
export interface Report {
  readonly workload: string
  readonly engine: string
  readonly model: Model
  readonly fitted: FittedTurns
  readonly comparison: Comparison
  /** where the engine reuses at any position */
  readonly reused?: ReusedTokens | undefined
}

/** Prompt tokens as the engine counted them, by what became of them. */
export interface ReusedTokens {
  readonly kinds: TokenKinds
  /** the share of the prompts that had been sent before, at some position: what a cache can save at most */
  readonly seen_before: number
}

/** The report for people. */
export function renderReport({ workload, engine, model, fitted, comparison, reused }: Report): string {
  const { turns, shortened, leftOut } = fitted
  const limit = `${model.positions.toLocaleString('en-US')} tokens`
  const notes = [
    shortened > 0 ? `${shortened} requests go with fewer blocks, to fit the model's ${limit}.\n` : '',
    leftOut > 0 ? `${leftOut} requests are left out: their conversations outgrew the model's ${limit}.\n` : '',
  ]
  const title = `${workload}: ${turns.length} requests, ${engine}\n`
  return `${title}${notes.join('')}${renderTable(comparison)}\n${renderSentence(comparison)}\n${reused ? renderReused(reused) : ''}`
}

/** The report for programs. */
export function toJsonReport({ workload, engine, model, fitted, comparison, reused }: Report): string {
  const { turns, shortened, leftOut } = fitted
  const head = { workload, engine, model: model.name, requests: turns.length, shortened, left_out: leftOut }
  return `${JSON.stringify({ ...head, ...comparison, ...reused })}\n`
}

function renderReused({ kinds, seen_before }: ReusedTokens): string {
  const total = Object.values(kinds).reduce((sum, count) => sum + count, 0)
  const share = (part: number): string => `${(100 * part).toFixed(1)} %`
  const shares = Object.entries(kinds).map(([kind, count]) => `${kind} ${share(total === 0 ? 0 : count / total)}`)
  return `Of the prompts' tokens: ${shares.join(', ')}; ${share(seen_before)} had been sent before, by characters.\n`
}
