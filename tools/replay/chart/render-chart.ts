import { type ScaleLinear, type ScalePoint, scaleLinear, scalePoint } from 'd3-scale'
import { line, symbol, symbolCircle, symbolDiamond, symbolSquare, symbolTriangle } from 'd3-shape'
import type { OrderingName } from '../policies/policy.ts'
import type { ReplayOptions } from '../replay-options.ts'
import type { ReplayRequest } from '../replay-request.ts'
import type { ReplayProgress } from '../report/replay-progress.ts'
import { toRatio } from '../report/replay-report.ts'
import { replayTrace } from '../run/replay-trace.ts'

/** Cache sizes on the horizontal axis, with their labels. */
export const plotCapacities: readonly (readonly [label: string, capacityTokens: number])[] = [
  ...[16, 32, 64, 128, 256, 512].map((k) => [`${k}k`, k * 1024] as const),
  ['1M', 1 << 20],
  ['unlimited', Number.POSITIVE_INFINITY],
]

interface PlotInput {
  readonly trace: string
  readonly requests: readonly ReplayRequest[]
  readonly names: readonly OrderingName[]
  /** the hit ratio that none of them can exceed */
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
  return renderChart(`${trace}, ${options.mode}`, curves, bound)
}

interface Curve {
  readonly name: string
  /** for each of the capacities */
  readonly values: readonly number[]
}

interface Scales {
  readonly x: ScalePoint<string>
  readonly y: ScaleLinear<number, number>
}

const labels = plotCapacities.map(([label]) => label)
const xTitle = 'cache size in tokens'
const yTitle = 'hit ratio'
const width = 720
const height = 440
const plot = { left: 64, right: 592, top: 48, bottom: 376 }
/** Greys are readable on white and on black. */
const grey = '#7d7d7d'
/** Colours of Okabe and Ito with contrast to both white and black. Each curve also has its own marker shape. */
const colours = ['#d55e00', '#0083c4', '#009e73', '#cc79a7'] as const
const symbols = [symbolCircle, symbolSquare, symbolTriangle, symbolDiamond] as const
const legendLine = 18

function renderChart(title: string, curves: readonly Curve[], bound: number): string {
  const highest = Math.max(bound, 0.01, ...curves.flatMap(({ values }) => values))
  const scales: Scales = {
    x: scalePoint(labels, [plot.left, plot.right]).padding(0.25),
    y: scaleLinear([0, Math.min(1, highest * 1.05)], [plot.bottom, plot.top]).nice(5),
  }
  const parts = [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" font-family="system-ui, sans-serif" font-size="12" fill="${grey}">`,
    `<title>${toXml(`${yTitle} against ${xTitle}: ${title}`)}</title>`,
    `<text x="${plot.left}" y="26" font-size="16" font-weight="600">${toXml(title)}</text>`,
    ...renderAxes(scales),
    `<path d="M${plot.left},${round(scales.y(bound))}H${plot.right}" stroke="${grey}" stroke-dasharray="6 4"/>`,
    ...curves.flatMap((curve, at) => renderCurve(curve, at, scales)),
    ...curves.map(({ name }, at) => renderKey(name, at, markOf(at), colourOf(at))),
    renderKey('bound', curves.length, 'M-6,0h4m4,0h4', grey),
    '</svg>',
  ]
  return `${parts.join('\n')}\n`
}

function renderAxes({ x, y }: Scales): string[] {
  const format = y.tickFormat(5, '%')
  const rows = y
    .ticks(5)
    .flatMap((tick) => [
      `<path d="M${plot.left},${round(y(tick))}H${plot.right}" stroke="#808080" stroke-opacity="${tick === 0 ? 1 : 0.3}"/>`,
      `<text x="${plot.left - 8}" y="${round(y(tick))}" dy="0.35em" text-anchor="end">${format(tick)}</text>`,
    ])
  const columns = labels.flatMap((label) => [
    `<path d="M${round(x(label)!)},${plot.bottom}v5" stroke="#808080"/>`,
    `<text x="${round(x(label)!)}" y="${plot.bottom + 20}" text-anchor="middle">${label}</text>`,
  ])
  const middle = { x: (plot.left + plot.right) / 2, y: (plot.top + plot.bottom) / 2 }
  return [
    ...rows,
    ...columns,
    `<text x="${middle.x}" y="${plot.bottom + 46}" text-anchor="middle">${xTitle}</text>`,
    `<text transform="translate(16,${middle.y}) rotate(-90)" text-anchor="middle">${yTitle}</text>`,
  ]
}

function renderCurve({ name, values }: Curve, at: number, { x, y }: Scales): string[] {
  const points = values.map((value, i): [number, number] => [round(x(labels[i]!)!), round(y(value))])
  return [
    `<g fill="${colourOf(at)}"><title>${name}</title>`,
    `<path d="${line().digits(2)(points)}" fill="none" stroke="${colourOf(at)}" stroke-width="2"/>`,
    ...points.map(([px, py]) => `<path d="${markOf(at)}" transform="translate(${px},${py})"/>`),
    '</g>',
  ]
}

function renderKey(name: string, at: number, mark: string, colour: string): string {
  return `<g transform="translate(${plot.right + 16},${plot.top + at * legendLine})" fill="${colour}"><path d="${mark}" stroke="${colour}"/><text x="14" dy="0.35em">${name}</text></g>`
}

function markOf(at: number): string {
  return symbol(symbols[at % symbols.length]!, 44).digits(2)()!
}

function colourOf(at: number): string {
  return colours[at % colours.length]!
}

/** Rounds a coordinate to a hundredth of a pixel. */
function round(value: number): number {
  return Math.round(value * 100) / 100
}

function toXml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;')
}
