import { ConfigError } from '#proxy/common/errors.ts'
import { scheduleContexts, scheduleDepthFirst } from '#scheduler/schedule-contexts.ts'
import { policies } from '#tools/replay/policies/policies.ts'
import type { PlanBatch, PlannedRequest } from '#tools/replay/policies/policy.ts'
import { replayDefaults } from '#tools/replay/replay-options.ts'
import { toRatio } from '#tools/replay/report/replay-report.ts'
import { replayTrace } from '#tools/replay/run/replay-trace.ts'
import { printTable, report } from '../../e2e/bench/print-table.ts'
import { sayMachine } from '../../e2e/bench/say-machine.ts'
import { offlineNames, onlineNames } from './rivals/rival-policies.ts'
import {
  type BenchTrace,
  boundOf,
  hitRatioOf,
  meanRatio,
  type PolicyFigures,
  readBenchTrace,
  runPolicy,
} from './run-policy.ts'

/* `npm run bench:traces -- FOLDER…`: runs all policies of `reprise replay` on traces. Prints Markdown tables. */

const capacities = [
  ['unlimited cache', Number.POSITIVE_INFINITY],
  ['cache of 65,536 tokens', 65_536],
] as const

const depths = [3, 5, 10, 15, 20, 100]

const ratio = (share: number): string => share.toFixed(3)
const times = (factor: number): string => `${factor.toFixed(2)}×`

type Rows = ReadonlyMap<string, readonly PolicyFigures[]>

function printRatios(title: string, traces: readonly BenchTrace[], rows: Rows): void {
  const ratiosOf = (policy: string): number[] => rows.get(policy)!.map(({ hitRatio }) => hitRatio)
  const bounds = traces.map(boundOf)
  printTable(
    title,
    ['hit ratio', ...traces.map(({ name }) => name), 'to paper', 'to rank'],
    [...[...rows.keys()].map((policy) => [policy, ratiosOf(policy)] as const), ['bound', bounds] as const].map(
      ([policy, ratios]) => [
        policy,
        ...ratios.map(ratio),
        times(meanRatio(ratios, ratiosOf('paper'))),
        times(meanRatio(ratios, ratiosOf('rank'))),
      ],
    ),
  )
}

function printOnline(traces: readonly BenchTrace[]): void {
  for (const [label, capacityTokens] of capacities) {
    report(`online, ${label} …`)
    const settings = { mode: 'online', capacityTokens } as const
    const rows: Rows = new Map(
      onlineNames.map((policy) => [policy, traces.map((trace) => runPolicy(trace, policy, settings))]),
    )
    printRatios(`Online, ${label}`, traces, rows)
    printTable(
      `Time per request online, p50 / p99, ${label}`,
      ['policy', ...traces.map(({ name }) => name)],
      [...rows].map(([policy, figures]) => [
        policy,
        ...figures.map(({ p50, p99 }) => `${p50.toFixed(1)} / ${p99.toFixed(1)} µs`),
      ]),
    )
  }
}

function printOffline(traces: readonly BenchTrace[]): void {
  for (const [label, capacityTokens] of capacities) {
    report(`offline, ${label} …`)
    const settings = { mode: 'offline', capacityTokens } as const
    const rows: Rows = new Map(
      offlineNames.map((policy) => [policy, traces.map((trace) => runPolicy(trace, policy, settings))]),
    )
    printRatios(`Offline, ${label}`, traces, rows)
    printTable(
      `Time to plan the batch, ${label}`,
      ['policy', ...traces.map(({ name }) => name)],
      [...rows].map(([policy, figures]) => [
        policy,
        ...figures.map(({ planSeconds }) => `${(1000 * planSeconds).toFixed(1)} ms`),
      ]),
    )
  }
}

/** Compares policies where requests have only the first so many of their blocks (ContextPilot, figure 9). */
async function printDepths(folders: readonly string[]): Promise<void> {
  report('blocks a request …')
  for (const folder of folders) {
    const cut = await Promise.all(depths.map((depth) => readBenchTrace(folder, depth)))
    printTable(
      `Online, unlimited cache, by the most blocks a request has: ${cut[0]!.name}`,
      ['hit ratio', ...depths.map(String)],
      [
        ...(['rank', 'paper', 'reprise'] as const).map((policy) => [
          policy,
          ...cut.map((trace) => ratio(hitRatioOf(trace, policy, { mode: 'online' }))),
        ]),
        ['bound', ...cut.map((trace) => ratio(boundOf(trace)))],
      ],
    )
  }
}

const schedules = { groups: scheduleContexts, 'depth first': scheduleDepthFirst }

/** Compares Algorithm 5 with depth-first order, on the same batch with the same block orders. */
function printSchedules(traces: readonly BenchTrace[]): void {
  report('schedules …')
  const rows = [16_384, 65_536].flatMap((capacityTokens) =>
    Object.entries(schedules).map(([label, schedule]) => {
      const offline: PlanBatch = (requests) => schedule(policies.reprise.offline(requests), pathOfPlanned)
      const settings = { ...replayDefaults, mode: 'offline' as const, capacityTokens }
      const ratios = traces.map(({ requests }) => {
        const run = replayTrace(requests, { name: 'reprise', offline }, settings)
        return ratio(toRatio(run.cachedTokens, run.promptTokens))
      })
      return [`a batch, ${label}`, capacityTokens.toLocaleString('en-US'), ...ratios]
    }),
  )
  const heads = ['hit ratio', 'cache in tokens', ...traces.map(({ name }) => name)]
  printTable('Schedules in small caches (reprise)', heads, rows)
}

/** The search path of a planned request; tenants share nothing. */
function pathOfPlanned({ request: { tenant }, searchPath: [first, ...rest] }: PlannedRequest): (string | number)[] {
  return first === undefined ? [] : [`${tenant}/${first}`, ...rest]
}

const folders = process.argv.slice(2)
if (folders.length === 0) {
  report('usage: npm run bench:traces -- FOLDER…, with folders of traces as `reprise replay` takes them')
  process.exitCode = 2
} else {
  try {
    const traces: BenchTrace[] = []
    for (const folder of folders) traces.push(await readBenchTrace(folder))
    sayMachine()
    printOnline(traces)
    printOffline(traces)
    await printDepths(folders)
    printSchedules(traces)
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    report(error.message)
    process.exitCode = error.exitCode
  }
}
