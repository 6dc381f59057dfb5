import { printTable, report, say } from '../../e2e/bench/print-table.ts'
import { type JudgedTemplate, judgeTemplate } from './judge-template.ts'
import { markedTemplates, nonsenseTemplate, type PromptTemplate } from './marked-templates.ts'
import { Random } from './random.ts'
import { hasTraces, type Retrieved, readTrace } from './traces.ts'

/* `npm run bench:templates -- [marked|nonsense|held-out …]`: borders learnt from traffic. Prints Markdown tables. */

const head = ['trace', 'template', 'learnt at', 'requests', 'reordered', 'errors', 'movable', 'gap', 'ms']

interface Run {
  readonly trace: string
  readonly template: PromptTemplate
  readonly judged: JudgedTemplate
}

function run(trace: string, rows: readonly Retrieved[], template: PromptTemplate): Run {
  return { trace, template, judged: judgeTemplate(rows, template) }
}

function print(title: string, runs: readonly Run[]): void {
  printTable(
    title,
    head,
    runs.map(({ trace, template, judged }) => [
      ...[trace.slice(4), template.name, `${judged.learntAt ?? '–'}`, `${judged.requests}`, `${judged.reordered}`],
      ...[`${judged.errors}${judged.wrong.length > 0 ? ` (${judged.wrong})` : ''}`, judged.movable.toFixed(2)],
      ...[JSON.stringify(judged.template?.gap.pattern ?? '').slice(0, 48), judged.milliseconds.toFixed(1)],
    ]),
  )
  const sum = (countOf: (judged: JudgedTemplate) => number): number =>
    runs.reduce((sum, { judged }) => sum + countOf(judged), 0)
  say(
    `${runs.filter(({ judged }) => judged.learntAt !== undefined).length} of ${runs.length} learnt; ${sum(({ errors }) => errors)} errors in ${sum(({ reordered }) => reordered)} requests reordered, of ${sum(({ requests }) => requests)} since\n`,
  )
}

if (!hasTraces) {
  report('no traces: set REPRISE_TRACES to a folder of them')
  process.exitCode = 1
} else {
  const asked = process.argv.slice(2)
  const wants = (name: string): boolean => asked.includes(name) || asked.length === 0
  if (wants('marked')) {
    const traces = ['rag_cookbook_docs', 'rag_cookbook_code', 'rag_hotpot'] as const
    print(
      'Marked',
      traces.flatMap((trace) => {
        const rows = readTrace(trace)
        return markedTemplates.map((template) => run(trace, rows, template))
      }),
    )
  }
  // the first ones were looked at while it was written, the others are held out
  for (const [name, seeds] of [
    ['nonsense', [99, 4_711, 7, 12_345]],
    ['held-out', [31_337, 2_024]],
  ] as const)
    for (const seed of wants(name) ? seeds : []) {
      const random = new Random(seed)
      const traces = ['rag_cookbook_code', 'rag_hotpot'] as const
      print(
        `Nonsense, seed ${seed}`,
        Array.from({ length: 36 }, (_, n) => {
          const trace = traces[Math.floor(n / 18)]!
          return run(trace, readTrace(trace, { limit: 120 }), nonsenseTemplate(random, n))
        }),
      )
    }
}
