import type { OrderingName } from '../policies/policy.ts'
import type { ReplayOptions } from '../replay-options.ts'
import type { ReplayRequest } from '../replay-request.ts'
import type { ReplayProgress } from '../report/replay-progress.ts'
import { toRatio } from '../report/replay-report.ts'
import { replayTrace } from '../run/replay-trace.ts'
import { renderChart } from './render-chart.ts'

/** Cache sizes on the horizontal axis, with their labels. */
export const plotCapacities: readonly (readonly [label: string, capacityTokens: number])[] = [
  ...[16, 32, 64, 128, 256, 512].map((k) => [`${k}k`, k * 1024] as const),
  ['1M', 1 << 20],
  ['unlimited', Number.POSITIVE_INFINITY],
]

/** The input of a plot. */
interface PlotInput {
  readonly trace: string
  readonly requests: readonly ReplayRequest[]
  readonly names: readonly OrderingName[]
  readonly bound: number
  readonly options: ReplayOptions
  readonly progress: ReplayProgress
}

/** Plots the hit ratio against cache size as an SVG, with a curve for every policy. */
export function plotReplay({ trace, requests, names, bound, options, progress }: PlotInput): string {
  const curves = names.map((name) => ({
    name,
    values: plotCapacities.map(([label, capacityTokens]) => {
      progress.begin(`${name}, ${label}`)
      const run = replayTrace(requests, name, { ...options, capacityTokens }, progress.advance)
      return toRatio(run.cachedTokens, run.promptTokens)
    }),
  }))
  return renderChart({
    title: `${trace}, ${options.mode}`,
    xTitle: 'cache size in tokens',
    yTitle: 'hit ratio',
    xLabels: plotCapacities.map(([label]) => label),
    curves,
    bound,
  })
}
