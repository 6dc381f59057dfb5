import { type Comparison, renderSentence, renderTable } from './compare-runs.ts'
import type { FittedTurns } from './fit-turns.ts'
import type { Model } from './read-model.ts'

/** All that a demo tells at its end. */
export interface Report {
  readonly workload: string
  readonly engine: string
  readonly model: Model
  readonly fitted: FittedTurns
  readonly comparison: Comparison
}

/** The report for people. */
export function renderReport({ workload, engine, model, fitted, comparison }: Report): string {
  const { turns, shortened, leftOut } = fitted
  const limit = `${model.positions.toLocaleString('en-US')} tokens`
  const notes = [
    shortened > 0 ? `${shortened} requests go with fewer blocks, to fit the model's ${limit}.\n` : '',
    leftOut > 0 ? `${leftOut} requests are left out: their conversations outgrew the model's ${limit}.\n` : '',
  ]
  const title = `${workload}: ${turns.length} requests, ${engine}\n`
  return `${title}${notes.join('')}${renderTable(comparison)}\n${renderSentence(comparison)}\n`
}

/** The report for programs. */
export function toJsonReport({ workload, engine, model, fitted, comparison }: Report): string {
  const { turns, shortened, leftOut } = fitted
  const head = { workload, engine, model: model.name, requests: turns.length, shortened, left_out: leftOut }
  return `${JSON.stringify({ ...head, ...comparison })}\n`
}
