import { cpus } from 'node:os'
import Table from 'cli-table3'
import { PaperOrdering } from '#index/paper-ordering.ts'
import { PrefixOrdering } from '#index/prefix-ordering.ts'
import { benchIndex } from './bench-index.ts'
import { benchOverhead } from './bench-overhead.ts'

/* `npm run bench`: what reprise itself costs. Prints Markdown tables, as docs/benchmarks.md holds them. */

const say = (text: string): void => {
  process.stdout.write(`${text}\n`)
}
const report = (text: string): void => {
  process.stderr.write(`${text}\n`)
}
const markdown = {
  top: '',
  'top-mid': '',
  'top-left': '',
  'top-right': '',
  bottom: '',
  'bottom-mid': '',
  'bottom-left': '',
  'bottom-right': '',
  left: '|',
  right: '|',
  middle: '|',
  mid: '',
  'left-mid': '',
  'mid-mid': '',
  'right-mid': '',
}

function printTable(head: string[], rows: string[][]): void {
  const table = new Table({ chars: markdown, style: { head: [], border: [] } })
  table.push(
    head,
    head.map(() => '---'),
    ...rows,
  )
  say(table.toString())
}

say(
  `${new Date().toISOString().slice(0, 10)}, ${cpus().length} × ${cpus()[0]?.model.trim()}, Node ${process.version}\n`,
)

report('index …')
const orderings = { reprise: () => new PrefixOrdering(), paper: () => new PaperOrdering() }
const index = Object.entries(orderings).flatMap(([ordering, create]) =>
  [1_000, 100_000].map((stored) => ({ ordering, ...benchIndex(create(), stored) })),
)
say('Search, order and insert of one request, contexts of 15 blocks:\n')
printTable(
  ['ordering', 'contexts stored', 'nodes', 'p50', 'p99'],
  index.map(({ ordering, stored, nodes, p50, p99 }) => [
    ordering,
    String(stored),
    String(nodes),
    `${p50.toFixed(1)} µs`,
    `${p99.toFixed(1)} µs`,
  ]),
)

report('overhead …')
const overhead = await benchOverhead((done) => report(`  ${done}`))
const ms = (duration: number): string => `${duration.toFixed(2)} ms`
const maybe = (figure: number | undefined, unit: string): string =>
  figure === undefined ? '-' : `${figure.toFixed(2)} ${unit}`
say('\nOne request with 15 blocks to an engine that takes no time, direct and through the proxy in turns:\n')
printTable(
  ['body', 'direct p50', 'direct p99', 'proxied p50', 'proxied p99', 'added p50', 'CPU of the proxy'],
  overhead.latency.map(({ bodyBytes, direct, proxied, proxyCpu }) => [
    `${bodyBytes / 1000} KB`,
    ms(direct.p50),
    ms(direct.p99),
    ms(proxied.p50),
    ms(proxied.p99),
    ms(proxied.p50 - direct.p50),
    maybe(proxyCpu, 'ms'),
  ]),
)
const { events, directWall, proxiedWall, proxyCpu } = overhead.stream
say(`\nOne event of a stream of ${events}:\n`)
printTable(
  ['direct', 'proxied', 'CPU of the proxy'],
  [[`${directWall.toFixed(1)} µs`, `${proxiedWall.toFixed(1)} µs`, maybe(proxyCpu, 'µs')]],
)
