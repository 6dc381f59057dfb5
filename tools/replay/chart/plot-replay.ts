import type { OrderingName } from '../policies/policy-names.ts'
import type { ReplayOptions, ReplaySettings } from '../replay-options.ts'
import type { ReplayRequest } from '../replay-request.ts'
import type { ReplayProgress } from '../report/replay-progress.ts'
import { toRatio } from '../report/replay-report.ts'
import { replayTrace } from '../run/replay-trace.ts'
import { renderChart } from './render-chart.ts'

/** A position on the horizontal axis: its label and its settings. */
interface PlotPoint {
  readonly label: string
  readonly settings: Partial<ReplaySettings>
}

const capacities: readonly PlotPoint[] = [
  ...[16, 32, 64, 128, 256, 512].map((k) => ({ label: `${k}k`, settings: { capacityTokens: k * 1024 } })),
  { label: '1M', settings: { capacityTokens: 1 << 20 } },
  { label: 'unlimited', settings: { capacityTokens: Number.POSITIVE_INFINITY } },
]
const windows: readonly PlotPoint[] = Array.from({ length: 9 }, (_, power) => ({
  label: String(2 ** power),
  settings: { window: 2 ** power },
}))

export function plotPoints({ plotAgainst }: Pick<ReplayOptions, 'plotAgainst'>): readonly PlotPoint[] {
  return plotAgainst === 'window' ? windows : capacities
}

/** The input of a plot. */
interface PlotInput {
  readonly trace: string
  readonly requests: readonly ReplayRequest[]
  readonly names: readonly OrderingName[]
  readonly bound: number
  readonly options: ReplayOptions
  readonly progress: ReplayProgress
}

/** Plots the hit ratio against cache size or window length as an SVG, with a curve for every policy. */
export function plotReplay({ trace, requests, names, bound, options, progress }: PlotInput): string {
  const points = plotPoints(options)
  const curves = names.map((name) => ({
    name,
    values: points.map(({ label, settings }) => {
      progress.begin(`${name}, ${label}`)
      const run = replayTrace(requests, name, { ...options, ...settings }, { onServed: progress.advance })
      return toRatio(run.cachedTokens, run.promptTokens)
    }),
  }))
  const againstWindow = options.plotAgainst === 'window'
  const capacity = Number.isFinite(options.capacityTokens)
    ? `cache of ${options.capacityTokens.toLocaleString('en-US')} tokens`
    : 'unlimited cache'
  return renderChart({
    title: againstWindow ? `${trace}, ${options.mode}, ${capacity}` : `${trace}, ${options.mode}`,
    xTitle: againstWindow ? 'requests scheduled together' : 'cache size in tokens',
    yTitle: 'hit ratio',
    xLabels: points.map(({ label }) => label),
    curves,
    bound,
  })
}
