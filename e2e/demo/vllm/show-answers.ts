import Table from 'cli-table3'
import type { Run, TurnOutcome } from '../run-requests.ts'

const SHOWN = 2
const COLUMN_WIDTH = 56

/** Shows the answers of both runs to two questions, preferring those in which the proxy moved most blocks. */
export function showAnswers(direct: Run, reprise: Run): string {
  const byTurn = new Map(direct.outcomes.map((outcome) => [outcome.turn, outcome]))
  const pairs = [...reprise.outcomes]
    .sort((a, b) => movedBlocks(b) - movedBlocks(a))
    .flatMap((outcome) => {
      const same = byTurn.get(outcome.turn)
      return same ? [[same, outcome] as const] : []
    })
  return pairs
    .slice(0, SHOWN)
    .map(([before, after]) => `${before.turn.question}\n${renderPair(before.answer, after.answer)}\n`)
    .join('\n')
}

function movedBlocks(outcome: TurnOutcome): number {
  return outcome.proxy?.moved ?? 0
}

function renderPair(direct: string, reprise: string): string {
  const table = new Table({
    head: ['answer, direct', 'answer, through reprise'],
    colWidths: [COLUMN_WIDTH, COLUMN_WIDTH],
    wordWrap: true,
    style: { head: [], border: [] },
  })
  table.push([direct.trim(), reprise.trim()])
  return table.toString()
}
