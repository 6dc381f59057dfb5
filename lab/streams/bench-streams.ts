import { printTable, report, say } from '../../e2e/bench/print-table.ts'
import { heldOutStreams } from './held-out-streams.ts'
import { type JudgedStream, judgeStream } from './judge-stream.ts'
import { Random } from './random.ts'
import { rankedStreams } from './ranked-streams.ts'
import { readTexts } from './read-texts.ts'
import { shownHistories, streamsOfKinds } from './shown-histories.ts'
import { shownStreams } from './shown-streams.ts'
import type { OrderedStream, Texts } from './stream.ts'
import { hasTraces } from './traces.ts'

/* `npm run bench:streams -- [shown|held-out|ranked …] [--all]`: what traffic says of streams. Prints Markdown tables. */

const seeds = [1, 7]
const requests = 300

const share = (part: number): string => part.toFixed(3)

function rowOf(name: string, judged: JudgedStream): string[] {
  const { figures } = judged
  return [
    name,
    `${judged.requests}`,
    `${judged.byFlips}`,
    `${judged.asSet}`,
    judged.setAt === undefined ? '–' : `${judged.setAt}`,
    judged.verdict,
    share(figures.shareOfFlips),
    `${figures.movedLists}/${figures.mixedLists}`,
    share(figures.shareOfStuck),
    figures.memberEvidence.toPrecision(2),
    figures.rankEvidence.toPrecision(2),
  ]
}

const head = [
  'stream',
  'requests',
  'by flips',
  'set',
  'at',
  'verdict',
  'flips',
  'moved/mixed',
  'stuck',
  'member',
  'rank',
]

function printOrdered(title: string, streams: readonly OrderedStream[], texts: Texts, isAll: boolean): void {
  const totals = { requests: 0, byFlips: 0, wrong: 0, residual: 0 }
  const rows = streams.flatMap((stream) =>
    seeds.flatMap((seed) => {
      const judged = judgeStream(stream.make(new Random(seed), requests, texts))
      totals.requests += judged.requests
      if (judged.byFlips > 0) totals.byFlips++
      if (judged.asSet > 0) totals[stream.expect === 'residual' ? 'residual' : 'wrong']++
      const isWorthIt = isAll || judged.byFlips > 0 || judged.asSet > 0
      return isWorthIt ? [rowOf(`${stream.name}${stream.expect === 'residual' ? ' (residual)' : ''}`, judged)] : []
    }),
  )
  printTable(title, head, rows)
  say(
    `${streams.length} streams × ${seeds.length} seeds, ${totals.requests} requests: by flips alone ${totals.byFlips} are sets, with relevance ${totals.wrong}, and ${totals.residual} of those nobody can tell without words\n`,
  )
}

function printRanked(): void {
  const rows = rankedStreams().map(({ name, requests }) => rowOf(name, judgeStream(requests)))
  printTable('Ranked', head, rows)
}

if (!hasTraces) {
  report('no traces: set REPRISE_TRACES to a folder of them')
  process.exitCode = 1
} else {
  const asked = process.argv.slice(2)
  const isAll = asked.includes('--all')
  const wants = (name: string): boolean => asked.includes(name) || asked.every((word) => word.startsWith('--'))
  const texts = readTexts()
  if (wants('ranked')) printRanked()
  if (wants('shown')) printOrdered('Shown', [...shownStreams, ...shownHistories], texts, isAll)
  if (wants('kinds')) printOrdered('Shown, by kind of text', streamsOfKinds(texts.ordered.keys()), texts, isAll)
  if (wants('held-out')) printOrdered('Held out', heldOutStreams, texts, isAll)
}
