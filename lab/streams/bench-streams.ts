import { printTable, report, say } from '../../e2e/bench/print-table.ts'
import { heldOutStreams } from './held-out-streams.ts'
import { type JudgedStream, judgeStream } from './judge-stream.ts'
import { Random } from './random.ts'
import { rankedStreams } from './ranked-streams.ts'
import { readTexts } from './read-texts.ts'
import { shownHistories, streamsOfKinds } from './shown-histories.ts'
import { shownStreams } from './shown-streams.ts'
import { shownWorks } from './shown-works.ts'
import type { OrderedStream, Texts } from './stream.ts'
import { hasTraces } from './traces.ts'

/* `npm run bench:streams -- [ranked|shown|kinds|held-out …] [--all]`: what traffic says of streams. Prints Markdown tables. */

const seeds = [1, 7]
const requests = 300

function rowOf(name: string, { requests, byFlips, asSet, setAt, verdict, figures }: JudgedStream): string[] {
  return [
    ...[name, `${requests}`, `${byFlips}`, `${asSet}`, `${setAt ?? '–'}`, verdict, figures.shareOfFlips.toFixed(3)],
    ...[`${figures.movedLists}/${figures.mixedLists}`, figures.shareOfStuck.toFixed(3)],
    ...[figures.memberEvidence.toPrecision(2), figures.rankEvidence.toPrecision(2)],
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

interface JudgedOrder {
  readonly stream: OrderedStream
  readonly judged: JudgedStream
}

/** Prints those that flips alone, or all evidence, took for sets, or all. */
function printOrdered(title: string, streams: readonly OrderedStream[], texts: Texts, isAll: boolean): void {
  const runs: JudgedOrder[] = streams.flatMap((stream) =>
    seeds.map((seed) => ({ stream, judged: judgeStream(stream.make(new Random(seed), requests, texts)) })),
  )
  const shown = runs.filter(({ judged }) => isAll || judged.byFlips + judged.asSet > 0)
  printTable(
    title,
    head,
    shown.map(({ stream, judged }) =>
      rowOf(stream.expect === 'residual' ? `${stream.name} (residual)` : stream.name, judged),
    ),
  )
  const count = (isSuch: (run: JudgedOrder) => boolean): number => runs.filter(isSuch).length
  say(
    `${runs.length} runs of ${streams.length} streams: by flips alone ${count(({ judged }) => judged.byFlips > 0)} are sets; with relevance ${count(({ stream, judged }) => stream.expect === 'ordered' && judged.asSet > 0)}, and ${count(({ stream, judged }) => stream.expect === 'residual' && judged.asSet > 0)} of those that need words\n`,
  )
}

function printRanked(): void {
  printTable(
    'Ranked',
    head,
    rankedStreams().map(({ name, requests }) => rowOf(name, judgeStream(requests))),
  )
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
  if (wants('shown')) printOrdered('Shown', [...shownStreams, ...shownHistories, ...shownWorks], texts, isAll)
  if (wants('kinds')) printOrdered('Shown, by kind of text', streamsOfKinds(texts.ordered.keys()), texts, isAll)
  if (wants('held-out')) printOrdered('Held out', heldOutStreams, texts, isAll)
}
