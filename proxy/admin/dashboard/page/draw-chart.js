import { clock, drawn, element, short } from './page-elements.js'
import { bucketWidth } from './sum-samples.js'

const height = 232
const edge = { left: 42, right: 8, top: 10, bottom: 24 }

/**
 * Draws lines over time into a box. A line has a name, a function for the value of a bucket (undefined: none), a color,
 * a width, and optionally dash and wash. `format` writes a value, exactly or for the axis.
 */
export function drawChart(box, { buckets, lines, top, format, label, seconds }) {
  const width = Math.max(260, box.clientWidth || 600)
  const start = Date.now() - seconds * 1000
  const x = (at) => edge.left + ((at - start) / (seconds * 1000)) * (width - edge.left - edge.right)
  const y = (value) => edge.top + (1 - value / top) * (height - edge.top - edge.bottom)
  const svg = drawn('svg', { viewBox: `0 0 ${width} ${height}`, role: 'img', 'aria-label': label })
  drawAxes(svg, { width, top, y, format, seconds })
  const shown = buckets.filter((bucket) => lines.some(({ value }) => value(bucket) !== undefined))
  const longestGap = bucketWidth(seconds) * 2.5
  for (const line of lines) {
    for (const run of runsOf(buckets, line.value, longestGap)) drawRun(svg, run, line, { x, y })
  }
  if (shown.length === 0) {
    const place = { class: 'empty', x: (width + edge.left) / 2, y: height / 2, 'text-anchor': 'middle' }
    svg.append(drawn('text', place, 'No requests in this range yet'))
  }
  box.replaceChildren(svg, addTip(svg, { shown, lines, x, width, format }))
}

/** The next round number above the highest value, for the top of an axis. */
export function niceTop(most) {
  const unit = 10 ** Math.floor(Math.log10(Math.max(most, 0.04)))
  return [1, 2, 4, 8, 10].map((n) => n * unit).find((top) => top >= most)
}

/** A value next to an axis, with enough digits to distinguish small values. */
export function onAxis(value) {
  return value > 0 && value < 1 ? String(Number(value.toPrecision(2))) : short(value)
}

function drawAxes(svg, { width, top, y, format, seconds }) {
  for (const value of [0, 0.25, 0.5, 0.75, 1].map((share) => share * top)) {
    svg.append(
      drawn('line', { class: 'grid', x1: edge.left, x2: width - edge.right, y1: y(value), y2: y(value) }),
      drawn('text', { class: 'axis', x: edge.left - 8, y: y(value) + 4, 'text-anchor': 'end' }, format(value)),
    )
  }
  const ticks = width < 420 ? 2 : 5
  for (let i = 0; i <= ticks; i++) {
    const minutes = Math.round((seconds * (1 - i / ticks)) / 60)
    const place = edge.left + (i / ticks) * (width - edge.left - edge.right)
    const anchor = ['start', 'end'][[0, ticks].indexOf(i)] ?? 'middle'
    const text = minutes === 0 ? 'now' : `−${minutes} min`
    svg.append(drawn('text', { class: 'axis', x: place, y: height - 5, 'text-anchor': anchor }, text))
  }
}

/** Runs of buckets without a gap for which a line has values. */
function runsOf(buckets, value, longestGap) {
  const runs = []
  let last
  for (const bucket of buckets) {
    if (value(bucket) === undefined) last = undefined
    else if (last && bucket.to - last.to <= longestGap) runs.at(-1).push(bucket)
    else runs.push([bucket])
    if (value(bucket) !== undefined) last = bucket
  }
  return runs
}

function drawRun(svg, run, { value, color, width, dash, wash }, { x, y }) {
  if (run.length === 1) {
    svg.append(drawn('circle', { cx: x(run[0].to), cy: y(value(run[0])), r: 3, fill: color }))
    return
  }
  const points = run.map((bucket) => `${x(bucket.to)} ${y(value(bucket))}`).join('L')
  if (wash) {
    const area = `M${x(run[0].to)} ${y(0)}L${points}L${x(run.at(-1).to)} ${y(0)}Z`
    svg.append(drawn('path', { d: area, fill: wash }))
  }
  const stroke = {
    stroke: color,
    'stroke-width': width,
    'stroke-linejoin': 'round',
    'stroke-dasharray': dash ?? 'none',
  }
  svg.append(drawn('path', { d: `M${points}`, fill: 'none', ...stroke }))
}

/** Adds a tip with the values of the lines at the pointer. */
function addTip(svg, { shown, lines, x, width, format }) {
  const cross = drawn('line', { class: 'grid', y1: edge.top, y2: height - edge.bottom, visibility: 'hidden' })
  const tip = element('div', { class: 'tip', hidden: '' })
  svg.append(cross)
  const row = (name, value) =>
    element('div', {}, element('span', {}, name), element('span', {}, value === undefined ? '–' : format(value, true)))
  svg.addEventListener('pointermove', (event) => {
    if (shown.length === 0) return
    const scale = svg.clientWidth / width
    const off = (bucket) => Math.abs(x(bucket.to) - event.offsetX / scale)
    const nearest = shown.reduce((best, bucket) => (off(bucket) < off(best) ? bucket : best))
    cross.setAttribute('x1', x(nearest.to))
    cross.setAttribute('x2', x(nearest.to))
    cross.setAttribute('visibility', 'visible')
    const rows = lines.map(({ name, value }) => row(name, value(nearest)))
    tip.replaceChildren(element('b', {}, clock(nearest.to)), ...rows)
    tip.hidden = false
    tip.style.left = `${Math.max(0, Math.min(x(nearest.to) * scale + 12, svg.clientWidth - 170))}px`
  })
  svg.addEventListener('pointerleave', () => {
    tip.hidden = true
    cross.setAttribute('visibility', 'hidden')
  })
  return tip
}
