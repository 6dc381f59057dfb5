import { parseArgs } from 'node:util'
import type { OrderingName } from '#tools/replay/policies/policy-names.ts'
import { type ReplaySettings, replayDefaults } from '#tools/replay/replay-options.ts'
import { PromptLayout } from '#tools/replay/run/prompt-layout.ts'
import { printTable, report } from '../../e2e/bench/print-table.ts'
import { sayMachine } from '../../e2e/bench/say-machine.ts'
import { type EvictionName, evictionNames } from './cache/eviction/eviction-names.ts'
import { bytesPerToken } from './latency-model.ts'
import { type EvictionSettings, replayEvictions } from './replay-evictions.ts'
import { type BenchTrace, meanRatio, readBenchTrace } from './run-policy.ts'

/*
 * `npm run bench:evictions -- [--limit REQUESTS] [--order POLICY] FOLDER…`: compares eviction policies on traces, at 16
 * cache sizes, and measures what a host-memory tier adds. Prints Markdown tables.
 */

const capacities = 16
/** Token lengths of BBH: those of its questions, and answers as long as those of its exemplars. */
const settings: ReplaySettings = { ...replayDefaults, systemTokens: 0, questionTokens: 110, answerTokens: 158 }
const { values, positionals: folders } = parseArgs({
  allowPositionals: true,
  options: { limit: { type: 'string' }, order: { type: 'string' } },
})
/** The default suits few-shot prompts, whose order is fixed; for retrieved blocks, `reprise` forms prefixes. */
const order = (values.order ?? 'rank') as OrderingName
const ratio = (share: number): string => share.toFixed(4)

/** Log-spaced sizes, from the longest prompt and its answer up to the total of all distinct blocks. */
function sizesFor({ requests }: BenchTrace): number[] {
  const layout = new PromptLayout(requests, settings)
  const lengths = requests.map((request) => layout.lengthOf(request))
  const least = Math.max(...lengths) + settings.answerTokens
  const seen = new Map(requests.flatMap(({ context, sizes }) => context.map((block, i) => [block, sizes[i]!] as const)))
  const most = Math.max(
    4 * least,
    [...seen.values()].reduce((sum, size) => sum + size, 0),
  )
  return Array.from({ length: capacities }, (_, i) => Math.round(least * (most / least) ** (i / (capacities - 1))))
}

function hitRatio({ requests }: BenchTrace, capacityTokens: number, eviction: EvictionName): number {
  const { cachedTokens, promptTokens } = replayEvictions(requests, order, { ...settings, capacityTokens }, { eviction })
  return cachedTokens / promptTokens
}

function printSizes(trace: BenchTrace): number {
  const rows = sizesFor(trace).map((size) => {
    report(`${trace.name}, ${size} …`)
    return { size, ratios: evictionNames.map((name) => hitRatio(trace, size, name)) }
  })
  printTable(
    `${trace.name}: hit ratio by eviction`,
    ['cache in tokens', ...evictionNames],
    rows.map(({ size, ratios }) => [size.toLocaleString('en-US'), ...ratios.map(ratio)]),
  )
  const of = (...names: EvictionName[]): number[] =>
    rows.map(({ ratios }) => Math.max(...names.map((name) => ratios[evictionNames.indexOf(name)]!)))
  const [lru, best] = [of('lru'), of('lfu', '2q', 's3fifo')]
  const judged = (['hotprefix', 'hotprefix+', 'guarded'] as const).map((name) => {
    const own = of(name)
    const toLru = own.map((share, i) => share / lru[i]!)
    const between = toLru.filter((_, i) => lru[i]! >= 0.2 && lru[i]! <= 0.4)
    const figures = [between.length > 0 ? Math.max(...between).toFixed(2) : '–', Math.min(...toLru).toFixed(3)]
    return [name, ...figures, meanRatio(own, best).toFixed(3)]
  })
  printTable(
    `${trace.name}: against others`,
    ['', 'to lru, most where that finds 20–40 %', 'to lru, least', 'to the best of lfu, 2q and s3fifo, geometric mean'],
    judged,
  )
  const closest = rows.reduce((a, b) => (Math.abs(b.ratios[0]! - 0.3) < Math.abs(a.ratios[0]! - 0.3) ? b : a))
  return closest.size
}

/**
 * The ablation of the paper: eviction (E), admission and promotion (A+P), and both; also with everything evicted
 * admitted to the host.
 */
function printAblation({ name, requests }: BenchTrace, capacityTokens: number): void {
  const host = { hostTokens: capacityTokens }
  const rows: readonly (readonly [label: string, settings: EvictionSettings])[] = [
    ['lru', { eviction: 'lru' }],
    ['E', { eviction: 'hotprefix' }],
    ['A+P', { eviction: 'lru', ...host }],
    ['E+A+P', { eviction: 'hotprefix', ...host }],
    ['E+A+P, all admitted', { eviction: 'hotprefix', ...host, admission: 0 }],
    ['E+ (hotprefix+)', { eviction: 'hotprefix+' }],
    ['E+, A+P', { eviction: 'hotprefix+', ...host }],
    ['E+, A+P, all admitted', { eviction: 'hotprefix+', ...host, admission: 0 }],
  ]
  printTable(
    `${name}: a cache of ${capacityTokens.toLocaleString('en-US')} tokens and a host of as many`,
    ['', 'hit ratio', 'found on the host', 'moved', 'a request waits'],
    rows.map(([label, own]) => {
      const run = replayEvictions(requests, order, { ...settings, capacityTokens }, own)
      const { found, offloaded, loaded, promoted } = run.hostFigures ?? {
        found: 0,
        offloaded: 0,
        loaded: 0,
        promoted: 0,
      }
      const moved = ((offloaded + loaded + promoted) * bytesPerToken) / 1e9
      const wait = (1000 * run.waitSeconds) / requests.length
      const shares = [run.cachedTokens / run.promptTokens, found / run.promptTokens].map(ratio)
      return [label, ...shares, `${moved.toFixed(1)} GB`, `${wait.toFixed(1)} ms`]
    }),
  )
}

if (folders.length === 0) {
  report(
    'usage: npm run bench:evictions -- [--limit REQUESTS] [--order POLICY] FOLDER…, with folders of traces as `reprise replay` takes them',
  )
  process.exitCode = 2
} else {
  sayMachine()
  for (const folder of folders) {
    const { name, requests } = await readBenchTrace(folder)
    const trace = { name, requests: requests.slice(0, Number(values.limit ?? requests.length)) }
    printAblation(trace, printSizes(trace))
  }
}
