import { scaleLinear } from 'd3-scale'
import { symbol, symbolCircle } from 'd3-shape'
import { beginSvg, round, toXml } from '../replay/chart/svg.ts'
import type { Estimate } from './bootstrap.ts'
import type { Comparison } from './comparison.ts'

const width = 720
const left = 150
const right = 680
const rowHeight = 30
const top = 64

/**
 * Draws a standalone SVG of what each pass changes, with its intervals; its greys are readable on white and on black.
 */
export function plotComparison(comparison: Comparison): string {
  const hasGold = comparison.passes.some(({ gold }) => gold !== null)
  const title = hasGold ? 'Change of F1 against the right answers' : 'Token F1 with the answers as received'
  const rows = comparison.passes
    .filter(({ pass }) => pass !== 'received')
    .flatMap(({ pass, gold, agreement }) => {
      const estimate = hasGold ? gold?.f1_difference : agreement.f1
      return estimate ? [{ pass, estimate }] : []
    })
  const ends = rows.flatMap(({ estimate }) => [estimate.low, estimate.high])
  const [lowest, highest] = hasGold ? [Math.min(-0.01, ...ends), Math.max(0.01, ...ends)] : [Math.min(1, ...ends), 1]
  const x = scaleLinear([lowest, highest === lowest ? lowest + 0.01 : highest], [left, right]).nice(5)
  const bottom = top + rows.length * rowHeight
  const format = x.tickFormat(5)
  const ticks = x
    .ticks(5)
    .flatMap((tick) => [
      `<path d="M${round(x(tick))},${top}V${bottom}" stroke="#808080" stroke-opacity="${tick === 0 ? 1 : 0.3}"/>`,
      `<text x="${round(x(tick))}" y="${bottom + 20}" text-anchor="middle">${format(tick)}</text>`,
    ])
  return [
    ...beginSvg(width, bottom + 40, `${title}: ${comparison.trace}`),
    `<text x="20" y="24" font-size="16" font-weight="600">${toXml(comparison.trace)}</text>`,
    `<text x="20" y="44">${title}, ${comparison.requests} requests, 95 % intervals</text>`,
    ...ticks,
    ...rows.flatMap(({ pass, estimate }, i) => renderRow(pass, estimate, top + (i + 0.5) * rowHeight, x)),
    '</svg>',
    '',
  ].join('\n')
}

function renderRow(name: string, { mean, low, high }: Estimate, y: number, x: (value: number) => number): string[] {
  const colour = name === 'again' ? '#7d7d7d' : '#0083c4'
  return [
    `<text x="${left - 12}" y="${y}" dy="0.35em" text-anchor="end">${name}</text>`,
    `<path d="M${round(x(low))},${y}H${round(x(high))}" stroke="${colour}" stroke-width="2"/>`,
    `<path d="${symbol(symbolCircle, 60).digits(2)()}" transform="translate(${round(x(mean))},${y})" fill="${colour}"/>`,
  ]
}
