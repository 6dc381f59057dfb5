import { element, find, short, whole } from './page-elements.js'

const mostShapes = 12

/** Shows the latest prompts in which nothing was found, by their shape. */
export function showShapes(shapes) {
  const rows = shapes.slice(0, mostShapes).map(({ api, role, characters, reason, skipped, remedy, count }) => {
    const size = characters === 0 ? 'short' : `from ${short(characters)} characters`
    return element(
      'tr',
      {},
      element('td', {}, element('code', {}, api), ` ${role}, ${size}`),
      element('td', {}, element('code', {}, reason ?? skipped)),
      element('td', { class: 'n' }, whole(count)),
      element('td', { class: 'words' }, remedy),
    )
  })
  const none = element('tr', {}, element('td', { colspan: '4', class: 'none' }, 'None so far.'))
  find('shapes').replaceChildren(...(rows.length > 0 ? rows : [none]))
}

/** Shows how many chunks are known, their sources, and when one was last found in a prompt. */
export function showChunks({ known, registered, by_source: sources, matched, lists, last_match_seconds_ago: last }) {
  const figures = {
    known: whole(known),
    registered: whole(registered),
    'from embeddings': whole(sources.embeddings ?? 0),
    'from reranks': whole(sources.rerank ?? 0),
    'found in prompts': whole(matched),
    'lists of them': whole(lists.found ?? 0),
  }
  find('chunk-figures').replaceChildren(
    ...Object.entries(figures).map(([name, value]) =>
      element('div', {}, element('dt', {}, name), element('dd', {}, value)),
    ),
  )
  find('chunk-note').textContent = noteOn(known, last)
}

function noteOn(known, last) {
  if (known === 0) return 'None: send embeddings and reranks through this proxy, or register them (docs/chunks.md).'
  return last === null ? 'No prompt held any of them so far.' : `Last found in a prompt ${ago(last)} ago.`
}

function ago(seconds) {
  if (seconds < 90) return `${seconds} s`
  return seconds < 5_400 ? `${Math.round(seconds / 60)} min` : `${Math.round(seconds / 3_600)} h`
}
