import { bar, element, find, percent, pill, whole } from './page-elements.js'

export const skippedWords = {
  no_blocks: 'no context blocks were found in the prompt',
  too_many_blocks: 'more blocks than are put in order',
  too_large_to_rewrite: 'too large to be rewritten without holding up others',
  unsure_borders: 'what looks like a list may be none, or end elsewhere: left alone',
  not_permitted: 'nothing permits moves yet: see the templates',
  nothing_to_gain: 'the order received was the best one known',
  differs_before: 'the engine has computed these documents behind another text: put what changes behind them',
  reuse_is_enough: 'the engine reuses the blocks wherever they stand: moving them would save less than it costs',
  spoken_of: 'numbers or places of the blocks mean something, or may come back unmapped',
  measured: 'the request reads its prompt back, measures or cuts it: sent on as received',
  media: 'pictures or sounds belong to places in the prompt: sent on as received',
  ambiguous_turn: 'equal turns had different documents: which are missing cannot be told',
  unknown_turn: 'the documents of a past turn are not known and are missing',
  refused_rewritten: 'the engine refused the rewritten prompt: sent again as received',
  reorder_off: 'the request switched reordering off',
  shadow: 'shadow mode: computed, not applied',
  mode_off: 'reprise is switched off',
  token_ids: 'the prompt consists of token ids',
  encoded_body: 'the body is compressed',
  unexpected_shape: 'the body has a shape that reprise does not know',
  internal_error: 'a fault of reprise: sent on as received',
}
export const outcomeWords = {
  finished: 'answered by the engine',
  engine_error: 'answered by the engine with an error',
  client_left: 'the client left before the end',
  engine_broke_off: 'the engine broke off in mid-answer',
  engine_unreachable: 'the engine could not be reached',
  queue_full: 'refused: too many were waiting',
  rate_limited: 'refused: above the limits of its key',
  unauthorized: 'refused: no key that is known',
  forbidden: 'refused: its key may not use the path',
  not_found: 'refused: no such path',
  model_not_found: 'refused: no engine serves its model',
  method_not_allowed: 'refused: no such method of the path',
  invalid_body: 'refused: the client has to mend it',
  body_too_large: 'refused: the body is too large',
  body_too_slow: 'refused: the body came too slowly',
  unreadable_request: 'refused: no valid HTTP',
  internal_error: 'a fault of reprise',
  deadline_exceeded: 'waited past its deadline',
  draining: 'refused while shutting down',
  loop_detected: 'refused: an engine leads back to a proxy before it',
  cut_by_drain: 'cut off while shutting down',
}
const fates = [
  ['kept', 'kept in place', 'var(--kept)'],
  ['moved', 'moved', 'var(--moved)'],
  ['deduplicated', 'not sent again', 'var(--dedup)'],
]
const mirrorKinds = { exact: 'good', degraded: 'warn', fallback: '' }
const stateKinds = { draining: 'warn', unhealthy: 'bad', open: 'bad' }

/** Shows requests by how they ended. */
export function showOutcomes(counts) {
  const colors = { finished: 'var(--good)', client_left: 'var(--bound)' }
  showBars(find('outcomes'), counts, outcomeWords, (name) => colors[name] ?? 'var(--bad)')
}

/** Shows requests that were left alone, by reason. */
export function showSkipped(counts) {
  showBars(find('skipped'), counts, skippedWords, (name) => (name === 'internal_error' ? 'var(--bad)' : 'var(--bound)'))
}

function showBars(list, counts, words, colorOf) {
  const entries = Object.entries(counts).filter(([, count]) => count > 0)
  const total = entries.reduce((sum, [, count]) => sum + count, 0)
  const rows = entries
    .sort(([, a], [, b]) => b - a)
    .map(([name, count]) => {
      const title = element('span', {}, element('code', {}, name), element('em', {}, words[name] ?? ''))
      const figure = element('span', { class: 'n' }, `${whole(count)} · ${percent(count / total, 0)}`)
      const line = element('div', { class: 'row' }, title, figure)
      return element('li', { 'data-name': name }, line, bar(count / total, colorOf(name)))
    })
  list.replaceChildren(...(rows.length > 0 ? rows : [element('li', { class: 'none' }, 'None so far.')]))
}

/** Shows what was done with the blocks. */
export function showBlocks(counts) {
  const total = fates.reduce((sum, [fate]) => sum + (counts[fate] ?? 0), 0)
  const colored = (color) => {
    const made = element('i')
    made.style.background = color
    return made
  }
  const parts = fates.filter(([fate]) => counts[fate] > 0)
  find('blocks-stack').replaceChildren(
    ...parts.map(([fate, , color]) => {
      const part = colored(color)
      part.style.width = `${(100 * counts[fate]) / total}%`
      return part
    }),
  )
  const label = fates.map(([fate, name]) => `${name}: ${counts[fate] ?? 0}`).join(', ')
  find('blocks-stack').setAttribute('aria-label', label)
  find('blocks-legend').replaceChildren(
    ...fates.map(([fate, name, color]) => {
      const key = colored(color)
      key.className = 'key'
      return element(
        'span',
        { 'data-blocks': fate },
        element('span', {}, key, name),
        element('b', {}, whole(counts[fate] ?? 0)),
      )
    }),
  )
}

/** Shows the mirror of every replica. */
export function showReplicas(replicas) {
  const number = (value, unit = '') => element('td', { class: 'n' }, value === null ? '–' : `${whole(value)}${unit}`)
  const generation = (name) => element('code', { title: name }, name.slice(0, 8))
  const namesModels = new Set(replicas.map(({ models }) => models?.join())).size > 1
  find('replicas').replaceChildren(
    ...replicas.map((replica) =>
      element(
        'tr',
        {},
        element(
          'td',
          {},
          element('b', {}, replica.replica),
          ...(replica.state ? [' ', pill(replica.state, stateKinds[replica.state])] : []),
          ...warmingOf(replica),
          ...(replica.models && namesModels ? [' ', element('small', {}, replica.models.join(', '))] : []),
        ),
        element('td', {}, pill(replica.mode, mirrorKinds[replica.mode]), ...reuseOf(replica)),
        element('td', {}, replica.generation === null ? '–' : generation(replica.generation)),
        number(replica.sequence),
        number(replica.requests),
        number(replica.cached_tokens),
        number(replica.divergence, ' tok'),
        number(replica.in_flight),
      ),
    ),
  )
}

/** Whether a replica is being warmed, and with what so far. */
function warmingOf({ warming }) {
  if (!warming) return []
  const title = `${whole(warming.requests)} prompts, ${whole(warming.tokens)} tokens so far; clients prefer others meanwhile`
  return [' ', element('span', { class: 'pill', title }, 'warming')]
}

/** Whether a replica reuses KV at any position, and which share of it is recomputed. */
function reuseOf({ reuse }) {
  if (!reuse) return []
  const title = `reuses KV at any position, computing ${percent(reuse.ratio, 0)} of it again`
  return [' ', element('span', { class: 'pill', title }, `reuse ${percent(reuse.ratio, 0)}`)]
}

/** Shows totals over all mirrors. */
export function showIndex({ size, nodes, height, memory }) {
  const bytes = memory < 1e6 ? `${(memory / 1e3).toFixed(1)} kB` : `${(memory / 1e6).toFixed(1)} MB`
  const figures = { contexts: whole(size), nodes: whole(nodes), height: whole(height), memory: bytes }
  find('index-figures').replaceChildren(
    ...Object.entries(figures).map(([name, value]) =>
      element('div', {}, element('dt', {}, name), element('dd', {}, value)),
    ),
  )
}

/** A block by its first words if they may be shown, otherwise by its id. */
function nameOf(id, words) {
  return words
    ? element('span', { title: `${words} (${id})` }, words)
    : element('code', { title: id }, `${id.slice(0, 10)}…`)
}

/** Shows the most requested blocks. */
export function showHotBlocks(blocks) {
  const most = Math.max(1, ...blocks.map(({ count }) => count))
  if (blocks.some(({ words }) => words)) {
    find('hot-note').textContent = 'By their first words, most asked for first: the configuration allows text.'
  }
  const rows = blocks
    .slice(0, 7)
    .map(({ id, words, count, tokens }) =>
      element(
        'tr',
        {},
        element('td', words ? { class: 'cut' } : {}, nameOf(id, words)),
        element('td', { class: 'n' }, whole(count)),
        element('td', { class: 'n' }, whole(tokens)),
        element('td', { class: 'wide' }, bar(count / most, 'var(--engine)')),
      ),
    )
  const none = element('tr', {}, element('td', { colspan: '4', class: 'none' }, 'No block was asked for yet.'))
  find('hot').replaceChildren(...(rows.length > 0 ? rows : [none]))
}
