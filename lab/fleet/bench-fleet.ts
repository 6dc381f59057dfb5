import { parseArgs } from 'node:util'
import { readTrace } from '#tools/replay/trace/read-trace.ts'
import { toPercentiles } from '../../e2e/bench/percentiles.ts'
import { printTable, report, say } from '../../e2e/bench/print-table.ts'
import { sayMachine } from '../../e2e/bench/say-machine.ts'
import { Random } from '../streams/random.ts'
import { type FleetOptions, type FleetRequest, type Sharing, simulateFleet } from './simulate-fleet.ts'

/*
 * `npm run bench:fleet -- TRACE…`: what replicas compute and move with and without a shared store. Each trace is a
 * corpus; as many copies of them as make 10,000 documents, of unequal popularity, are the documents of a company's
 * departments. Replicas are started again one after another in the last third.
 */

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    replicas: { type: 'string', default: '100' },
    documents: { type: 'string', default: '10000' },
    requests: { type: 'string', default: '60000' },
    // Llama-3.1-8B on an H200, docs/benchmarks.md
    'prefill-tokens-per-second': { type: 'string', default: '44000' },
    'bytes-per-token': { type: 'string', default: '131072' },
    'host-bytes': { type: 'string', default: '64e9' },
    // Mooncake Store by TCP on one machine; a fast disk or network; RDMA
    'gigabytes-per-second': { type: 'string', default: '3.1,12,25' },
    load: { type: 'string', default: '0.6' },
  },
})
const number = (name: keyof typeof values): number => Number(values[name])

const questionTokens = 230
const sharings: readonly (Sharing & { name: string })[] = [
  { name: 'nothing shared', routing: 'in turn', store: false },
  { name: 'routing alone', routing: 'by content', store: false },
  { name: 'store alone', routing: 'in turn', store: true },
  { name: 'store and routing', routing: 'by content', store: true },
]

/** Draws requests: a copy of a corpus by popularity (the n-th is 1/n as frequent as the first), then its next one. */
async function drawRequests(folders: readonly string[], random: Random): Promise<FleetRequest[]> {
  const corpora = await Promise.all(
    folders.map(async (folder) => {
      const { requests } = await readTrace(folder)
      return requests.map(({ blocks }) => blocks.map(({ key, tokens }) => ({ id: key, tokens })))
    }),
  )
  const sizes = corpora.map((rows) => new Set(rows.flat().map(({ id }) => id)).size)
  const copies: { readonly corpus: number; next: number }[] = []
  for (let held = 0; held < number('documents'); held += sizes[copies.length % sizes.length]!)
    copies.push({ corpus: copies.length % corpora.length, next: 0 })
  const weights = copies.map((_, i) => 1 / (i + 1))
  const total = weights.reduce((sum, weight) => sum + weight, 0)
  const upTo: number[] = []
  for (const weight of weights) upTo.push((upTo.at(-1) ?? 0) + weight / total)
  return Array.from({ length: number('requests') }, () => {
    const drawn = random.next()
    const at = Math.max(
      0,
      upTo.findIndex((sum) => drawn < sum),
    )
    const copy = copies[at]!
    const rows = corpora[copy.corpus]!
    const documents = rows[copy.next++ % rows.length]!.map(({ id, tokens }) => ({ id: `${at} ${id}`, tokens }))
    return { documents, ownTokens: questionTokens }
  })
}

const share = (part: number, whole: number): string => `${((100 * part) / whole).toFixed(1)} %`
const milliseconds = (seconds: number): string => (1000 * seconds).toFixed(0)

sayMachine()
const requests = await drawRequests(positionals, new Random(1))
const documents = new Map(requests.flatMap((request) => request.documents.map(({ id, tokens }) => [id, tokens])))
const tokens = requests.reduce(
  (sum, request) => sum + request.documents.reduce((all, one) => all + one.tokens, questionTokens),
  0,
)
const machine = {
  replicas: number('replicas'),
  tokensHeld: number('host-bytes') / number('bytes-per-token'),
  prefillTokensPerSecond: number('prefill-tokens-per-second'),
  ratio: 0.15,
  bytesPerToken: number('bytes-per-token'),
  arrivals: (number('load') * number('replicas') * number('prefill-tokens-per-second') * requests.length) / tokens,
}
const allTokens = [...documents.values()].reduce((sum, size) => sum + size, 0)
say(
  `${machine.replicas} replicas, ${documents.size} documents of ${(allTokens / documents.size).toFixed(0)} tokens on average, ` +
    `${requests.length} requests of ${(tokens / requests.length).toFixed(0)}; a replica holds ${share(machine.tokensHeld, allTokens)} of all documents\n`,
)
const third = Math.floor(requests.length / 3)
for (const bandwidth of values['gigabytes-per-second'].split(',').map(Number)) {
  const rows = sharings.map(({ name, ...sharing }) => {
    report(`${name} at ${bandwidth} GB/s …`)
    const options: FleetOptions = { ...machine, ...sharing, bytesPerSecond: bandwidth * 1e9 }
    const steady = simulateFleet(requests.slice(0, 2 * third), options, new Random(2), third)
    const restarts = [2 * third, Math.floor(2.5 * third)] as const
    const renewed = simulateFleet(requests, { ...options, restarts }, new Random(2), 2 * third)
    const gigabytes = (count: number): string => ((count * machine.bytesPerToken) / 1e9).toFixed(0)
    return [
      name,
      ...[steady, renewed].flatMap((figures) => {
        const { p50, p99 } = toPercentiles([...figures.seconds])
        return [
          share(figures.cold, figures.prompt),
          share(figures.own, figures.prompt),
          `${gigabytes(figures.fetched)} / ${gigabytes(figures.written)}`,
          `${milliseconds(p50)} / ${milliseconds(p99)}`,
        ]
      }),
    ]
  })
  const columns = ['cold', 'own tiers', 'GB read / written', 'first token p50 / p99, ms']
  printTable(
    `A link of ${bandwidth} GB/s; the last four columns while every replica is started again`,
    ['', ...columns, ...columns],
    rows,
  )
}
