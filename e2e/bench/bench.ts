import { PrefixOrdering } from '#index/ordering/prefix-ordering.ts'
import { ContextIndex } from '#tools/replay/paper/context-index.ts'
import { benchChunks } from './bench-chunks.ts'
import { benchDetection } from './bench-detection.ts'
import { benchGrowth } from './bench-growth.ts'
import { benchIndex, corpusFor } from './bench-index.ts'
import { benchMemory } from './bench-memory.ts'
import { benchPlan } from './bench-plan.ts'
import { printRest } from './bench-rest.ts'
import { printAgainst } from './print-against.ts'
import { printAllocations } from './print-allocations.ts'
import { printMirror } from './print-mirror.ts'
import { printMirrorRedis } from './print-mirror-redis.ts'
import { printOverhead, printSoak } from './print-overhead.ts'
import { printStall } from './print-stall.ts'
import { printTable, report } from './print-table.ts'
import { sayMachine } from './say-machine.ts'

/*
 * `npm run bench`: measures what reprise itself costs. Prints Markdown tables, as found in docs/benchmarks.md.
 * `npm run bench -- index plan` runs only these parts. `allocations`, `rest`, `soak`, `stall` and `mirror-redis` run only when named.
 * `npm run bench -- 'stall:text parts'` runs a single shape of `stall`. `npm run bench -- overhead --against [COMMIT]`
 * compares what a request costs with another commit, by default the one that overhead-baseline.txt names, and
 * `-- allocations` the heap that it takes.
 */

const us = (duration: number): string => `${duration.toFixed(1)} µs`
const milliseconds = (duration: number): string => `${duration.toFixed(1)} ms`
const seconds = (duration: number): string => `${duration.toFixed(2)} s`
const megabytes = (bytes: number): string => `${(bytes / 1e6).toFixed(1)} MB`
const maybe = (figure: number | undefined, show: (figure: number) => string): string =>
  figure === undefined ? '-' : show(figure)

function printIndex(): void {
  const orderings = { reprise: () => new PrefixOrdering(), paper: () => new ContextIndex() }
  const figures = Object.entries(orderings).flatMap(([ordering, create]) =>
    [1_000, 100_000].map((stored) => ({ ordering, ...benchIndex(create(), stored, corpusFor(stored)) })),
  )
  printTable(
    'Search, order and insert of one request, contexts of 15 blocks',
    ['ordering', 'contexts stored', 'nodes', 'p50', 'p99'],
    figures.map(({ ordering, stored, nodes, p50, p99 }) => [ordering, String(stored), String(nodes), us(p50), us(p99)]),
  )
}

async function printMemory(): Promise<void> {
  const rows: string[][] = []
  for (const [contexts, blocks] of [
    [1_000, 15],
    [100_000, 5],
    [100_000, 15],
    [100_000, 100],
    [1_000_000, 15],
  ] as const) {
    const { nodes, p50, p99, held, bytes } = await benchMemory(contexts, blocks)
    const memory = [megabytes(held), megabytes(bytes), `${Math.round(held / contexts)}`]
    rows.push([String(contexts), String(blocks), String(nodes), ...memory, us(p50), us(p99)])
    report(`  ${contexts} contexts`)
  }
  const head = ['contexts stored', 'blocks each', 'nodes', 'held', 'its own estimate', 'bytes a context', 'p50', 'p99']
  printTable('Memory of the index (reprise)', head, rows)
}

function printGrowth(): void {
  printTable(
    'Search, order and insert of one request, where the tree is badly shaped (reprise)',
    ['shape', 'size', 'p50', 'p99'],
    [...benchGrowth()].map(({ shape, size, p50, p99 }) => [shape, size, us(p50), us(p99)]),
  )
}

function printPlan(): void {
  const rows: string[][] = []
  for (const { contexts, blocks, reprise, paper } of benchPlan()) {
    rows.push([String(contexts), blocks, seconds(reprise), maybe(paper, seconds)])
    report(`  ${contexts} contexts of ${blocks} blocks`)
  }
  const head = ['contexts', 'out of how many blocks', 'reprise: plan', 'paper: index alone']
  printTable('Planning a batch, contexts of 15 blocks', head, rows)
}

function printDetection(): void {
  printTable(
    'Finding the blocks of a text',
    ['text', 'characters', 'lists found', 'time'],
    [...benchDetection()].map(({ text, size, lists, fastest }) => [
      text,
      String(size),
      String(lists),
      milliseconds(fastest),
    ]),
  )
}

function printChunks(): void {
  printTable(
    'Looking up 240 KB among known chunks',
    ['chunks known', 'text', 'found in it', 'p50', 'fastest', 'memory', 'to add one'],
    [...benchChunks([10_000, 1_000_000])].map(({ known, text, matched, p50, fastest, bytes, adding }) => [
      String(known),
      text,
      String(matched),
      `${p50.toFixed(2)} ms`,
      `${fastest.toFixed(2)} ms`,
      megabytes(bytes),
      us(adding),
    ]),
  )
}

const usual = {
  index: printIndex,
  memory: printMemory,
  growth: printGrowth,
  plan: printPlan,
  detection: printDetection,
  chunks: printChunks,
  overhead: printOverhead,
  mirror: printMirror,
}
const args = process.argv.slice(2)
const against = args.indexOf('--against')
const asked = (against < 0 ? args : args.slice(0, against)).map((name) => name.replace(/^stall:.*/, 'stall'))
const shapes = args.flatMap((name) => (name.startsWith('stall:') ? [name.slice('stall:'.length)] : []))
const commit = against < 0 ? undefined : args[against + 1]
const overhead = against < 0 ? printOverhead : () => printAgainst(commit)
// those that are not usual take minutes or need a redis-server, so they run only when named
const parts = {
  ...usual,
  overhead,
  allocations: () => printAllocations(commit),
  rest: printRest,
  soak: printSoak,
  stall: () => printStall(shapes),
  'mirror-redis': printMirrorRedis,
}
const wanted = asked.length > 0 ? asked : Object.keys(usual)
if (wanted.every((name) => name in parts)) {
  sayMachine()
  for (const [name, print] of Object.entries(parts)) {
    if (!wanted.includes(name)) continue
    report(`${name} …`)
    await print()
  }
} else {
  report(`usage: npm run bench -- [${Object.keys(parts).join('|')}]…`)
  process.exitCode = 2
}
