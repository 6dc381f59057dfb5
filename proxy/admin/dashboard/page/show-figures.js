import { drawChart, niceTop, onAxis } from './draw-chart.js'
import { bar, clock, element, find, percent, say, short, whole } from './page-elements.js'
import { showChunks, showShapes } from './show-found.js'
import { showGain } from './show-gain.js'
import { showBlocks, showHotBlocks, showOutcomes, showReplicas, showSkipped } from './show-lists.js'
import { showTemplates } from './show-templates.js'
import { bucketsOf, ratioOf, totalOf } from './sum-samples.js'

const ratioLines = [
  { name: 'engine', keys: ['cached_tokens'], color: 'var(--engine)', width: 2.5, wash: 'var(--engine-wash)' },
  { name: 'and reused', keys: ['cached_tokens', 'reused_tokens'], color: 'var(--reused)', width: 2, ofReuse: true },
  { name: 'without reprise', keys: ['baseline_cached_tokens'], color: 'var(--ink)', width: 2, mode: 'on' },
  {
    name: 'with reprise',
    keys: ['shadow_cached_tokens'],
    color: 'var(--reused)',
    width: 2,
    dash: '6 2',
    mode: 'shadow',
  },
  { name: 'predicted', keys: ['predicted_cached_tokens'], color: 'var(--predicted)', width: 1.75, dash: '6 4' },
  { name: 'bound', keys: ['seen_tokens'], color: 'var(--bound)', width: 1.75, dash: '1.5 4' },
].map((line) => ({ ...line, value: (bucket) => ratioOf(sumOf(bucket, line.keys), bucket.prompt_tokens) }))

const sumOf = (bucket, keys) => keys.reduce((sum, key) => sum + bucket[key], 0)

/** Shows what the proxy reports about itself, for the last `range` seconds. */
export function showFigures(stats, range) {
  const buckets = bucketsOf(stats.samples, range)
  const total = totalOf(buckets)
  const isReusing = total.reused_tokens > 0 || stats.replicas.some(({ reuse }) => reuse)
  const ratios = ratioLines.filter(({ ofReuse, mode }) => (isReusing || !ofReuse) && (!mode || mode === worldOf(stats)))
  find('reused-key').hidden = !isReusing
  for (const mode of ['on', 'shadow']) find(`${mode}-key`).hidden = mode !== worldOf(stats)
  showGain(stats)
  showHeader(stats)
  showTiles(stats, total, { ratios, isReusing, range })
  showCharts(buckets, total, { ratios, seconds: range })
  showTable(buckets, ratios)
  showBlocks(stats.blocks)
  showOutcomes(stats.outcomes)
  showSkipped(stats.skipped)
  showReplicas(stats.replicas)
  showHotBlocks(stats.top_blocks)
  showShapes(stats.shapes)
  showTemplates(stats.templates)
  showChunks(stats.known_chunks)
}

/** Which of the two worlds is the real one: that where prompts are rewritten, or that where they are not. */
function worldOf({ mode }) {
  return mode === 'shadow' || mode === 'off' ? mode : 'on'
}

function showHeader({ version, mode, draining }) {
  say('version', `${version} · context reuse for LLM engines`)
  find('mode').hidden = false
  find('mode').className = `pill ${worldOf({ mode }) === 'on' && !draining ? 'good' : 'warn'}`
  say('mode', draining ? 'draining' : `mode ${mode}`)
}

function showTiles(stats, total, { ratios, isReusing, range }) {
  say('hit-ratio', percent(ratioOf(total.cached_tokens, total.prompt_tokens)))
  const of = `${whole(total.cached_tokens)} of ${whole(total.prompt_tokens)} prompt tokens${isReusing ? fatesOf(total) : ''}`
  say('hit-note', total.prompt_tokens > 0 ? of : 'no prompt tokens in this range')
  find('gauge').replaceChildren(
    ...ratios.map(({ name, color, value }) => {
      const share = value(total)
      const figures = [element('span', {}, name), bar(share ?? 0, color), element('span', {}, percent(share, 0))]
      return element('div', { 'data-ratio': name }, ...figures)
    }),
  )
  const saved = total.cached_tokens + total.reused_tokens
  say('saved', short(saved))
  say('saved-note', `${percent(ratioOf(saved, total.seen_tokens), 0)} of what was sent before`)
  const rate = total.seconds > 0 ? total.requests / total.seconds : undefined
  say('rate', rate?.toFixed(rate < 10 ? 2 : 0) ?? '–', '/s')
  say('rate-note', `${whole(total.requests)} in this range`)
  const { overhead_ms, first_byte_ms } = stats.latencies.find(({ range_seconds }) => range_seconds === range)
  sayTimes('overhead', total.overhead_seconds, total.decided, overhead_ms)
  sayTimes('first-byte', total.first_byte_seconds, total.answered, first_byte_ms)
  showPages(total)
  say('in-flight', whole(stats.in_flight))
  say('queue-note', `${whole(stats.queue_depth)} waiting`)
}

/** Shows which share of their pages decode steps read, for requests that asked for less than all; hidden until then. */
function showPages({ listed_pages: listed, all_pages: all, page_choices: choices, page_backtracks: backtracks }) {
  find('pages-tile').hidden = all === 0
  say('pages', percent(ratioOf(listed, all)))
  say('pages-note', `${whole(listed)} of ${whole(all)}; chosen ${whole(choices)} times, ${whole(backtracks)} in doubt`)
}

/** Shows a mean next to the median and the 99th percentile, which are estimated from buckets. */
function sayTimes(id, seconds, count, percentiles) {
  const milliseconds = (value) => whole(Number(value.toPrecision(2)))
  const mean = count > 0 ? (1000 * seconds) / count : undefined
  say(id, mean === undefined ? '–' : mean.toFixed(mean < 10 ? 2 : 0), 'ms')
  const others = percentiles
    ? `: p50 ≈ ${milliseconds(percentiles.p50)}, p99 ≈ ${milliseconds(percentiles.p99)} ms`
    : ''
  say(`${id}-note`, `mean${others}`)
}

/** What happened to the tokens that were not found at their own position. */
function fatesOf({ prompt_tokens, cached_tokens, reused_tokens, recomputed_tokens }) {
  const cold = Math.max(0, prompt_tokens - cached_tokens - reused_tokens - recomputed_tokens)
  return ` exact; ${whole(reused_tokens)} reused, ${whole(recomputed_tokens)} computed again, ${whole(cold)} cold`
}

function showCharts(buckets, total, { ratios, seconds }) {
  const shares = ratios.map(({ name, value }) => `${name} ${percent(value(total))}`).join(', ')
  drawChart(find('ratio-chart'), {
    buckets,
    lines: ratios,
    top: 1,
    format: (value, isExact) => percent(value, isExact ? 1 : 0),
    label: `Hit ratio: ${shares} over the last ${seconds / 60} minutes`,
    seconds,
  })
  const lasting = buckets.filter(({ from, to }) => to - from > 1_000)
  const rateOf = ({ requests, from, to }) => requests / ((to - from) / 1000)
  drawChart(find('rate-chart'), {
    buckets: lasting,
    lines: [{ name: 'requests/s', value: rateOf, color: 'var(--rate)', width: 2, wash: 'var(--rate-wash)' }],
    top: niceTop(Math.max(0, ...lasting.map(rateOf))),
    format: (value, isExact) => (isExact ? value.toFixed(2) : onAxis(value)),
    label: `Requests per second over the last ${seconds / 60} minutes`,
    seconds,
  })
}

function showTable(buckets, ratios) {
  const cells = (name, texts) =>
    element('tr', {}, ...texts.map((text, i) => element(name, i > 0 ? { class: 'n' } : {}, text)))
  const rows = buckets.filter(({ prompt_tokens }) => prompt_tokens > 0).reverse()
  const rowOf = (bucket) => [
    clock(bucket.to),
    whole(bucket.requests),
    whole(bucket.prompt_tokens),
    ...ratios.map(({ value }) => percent(value(bucket))),
  ]
  const head = cells('th', ['until', 'requests', 'prompt tokens', ...ratios.map(({ name }) => name)])
  const body = rows.map((bucket) => cells('td', rowOf(bucket)))
  find('ratio-table').replaceChildren(element('table', {}, element('thead', {}, head), element('tbody', {}, ...body)))
}
