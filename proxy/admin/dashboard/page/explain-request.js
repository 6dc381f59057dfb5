import { ask } from './ask-proxy.js'
import { diffLines, linesOf } from './diff-lines.js'
import { drawn, element, find, pill, whole } from './page-elements.js'

const mostLines = 3_000
const longestLine = 240
const mostBlocks = 60
const mostLetters = 20
const hues = [174, 262, 32, 214, 340, 96, 290, 190, 14, 52]

/** Activates the form that shows what would be sent for a request. */
export function watchExplainForm() {
  find('explain').addEventListener('submit', (event) => {
    event.preventDefault()
    void explain(find('body').value)
  })
  find('example').addEventListener('click', () => {
    const { earlier, request } = exampleRequests()
    find('body').value = JSON.stringify(request, null, 2)
    find('earlier').value = JSON.stringify(earlier, null, 2)
    find('earlier-box').open = true
  })
}

async function explain(body) {
  const error = find('explain-error')
  error.hidden = true
  try {
    const received = JSON.parse(body)
    const who = find('who').value.trim()
    const headers = { 'content-type': 'application/json', ...(who === '' ? {} : { [find('as').value]: who }) }
    const api = find('api').value
    const before = find('earlier').value.trim()
    if (before !== '' && !Array.isArray(JSON.parse(before))) {
      throw new Error('The requests sent before it are no JSON array: put […] around them.')
    }
    const query = new URLSearchParams({ ...(api === '' ? {} : { api }), ...(before === '' ? {} : { earlier: '' }) })
    // joined as text, so that numbers are not rounded
    const sent = before === '' ? body : `{"earlier":${before},"request":${body}}`
    showExplanation(await ask(`v1/explain?${query}`, { method: 'POST', headers, body: sent }), received)
  } catch (fault) {
    find('explained').hidden = true
    error.textContent = fault instanceof SyntaxError ? `This is not JSON: ${fault.message}` : fault.message
    error.hidden = false
  }
}

function showExplanation(explained, received) {
  const { blocks, words, order, skipped, annotations, search_path: path } = explained
  const moved = order.filter((from, place) => from !== place).length
  const facts = [
    `${blocks.length} blocks, ${moved} moved`,
    `≈ ${whole(explained.predicted_cached_tokens)} tokens cached`,
    `replica ${explained.replica}`,
    `tenant ${explained.tenant}`,
    `search path ${path.length > 0 ? path.join(' › ') : '–'}`,
  ]
  const verdict = skipped ? pill(`unchanged: ${skipped}`) : pill('rewritten', 'good')
  find('summary').replaceChildren(verdict, ...facts.map((fact) => element('span', { class: 'pill' }, fact)))
  find('moves-box').replaceChildren(...drawMoves(blocks, words, order))
  const notes = annotations.map((note) => element('blockquote', { class: 'quote' }, note.trim()))
  const told = notes.length > 0 ? [element('h3', {}, 'Told to the model'), ...notes] : []
  find('notes').replaceChildren(...told, ...drawRemedies(explained))
  showDiff(received, explained.body)
  find('explained').hidden = false
}

/** What is left alone and how equal blocks differ, with remedies. */
function drawRemedies({ lists, left_alone: leftAlone }) {
  const differing = lists
    .filter(({ differs_by: by }) => by)
    .map(({ blocks, differs_by: by, remedy }) => element('li', {}, `${blocks} blocks differ by ${by}: ${remedy}`))
  const alone = leftAlone.map(({ at, line, begins, byte, here, instead_of: instead, reason, remedy }) => {
    const where = begins ? [`, line ${line}, `, element('q', {}, begins)] : []
    if (here) where.push(`, byte ${byte}: `, element('q', {}, here), ' instead of ', element('q', {}, instead))
    return element('li', {}, at, ...where, ` ${reason}: ${remedy}`)
  })
  const items = [...differing, ...alone]
  return items.length > 0 ? [element('h3', {}, 'Left alone, and what would help'), element('ul', {}, ...items)] : []
}

/** The blocks as received and as sent, with a line from each block to itself. */
function drawMoves(blocks, words, order) {
  if (blocks.length === 0) return [element('p', { class: 'none' }, 'No context blocks were found.')]
  const shown = order.slice(0, mostBlocks)
  const [width, box, step, top] = [520, 190, 25, 26]
  const label = `Order as sent, by place received: ${order.map((from) => from + 1).join(', ')}`
  const size = `0 0 ${width} ${top + shown.length * step + 4}`
  const svg = drawn('svg', { id: 'moves', viewBox: size, role: 'img', 'aria-label': label })
  svg.append(drawn('text', { class: 'head', x: 4, y: 13 }, 'received'))
  svg.append(drawn('text', { class: 'head', x: width - 4, y: 13, 'text-anchor': 'end' }, 'sent'))
  const middle = (place) => top + place * step + 10.5
  const drawBlock = (place, from, x) => {
    const fill = `hsl(${hues[from % hues.length]} 60% 50% / .16)`
    const text = drawn('text', { x: x + 9, y: middle(place) + 4 })
    text.append(drawn('tspan', { class: 'place' }, String(place + 1).padEnd(3)), shortNameOf(words[from], blocks[from]))
    text.append(drawn('title', {}, `${words[from]} (${blocks[from]})`))
    svg.append(drawn('rect', { x, y: top + place * step, width: box, height: 21, rx: 6, fill }), text)
  }
  shown.forEach((from, place) => {
    if (place < blocks.length) drawBlock(place, place, 2)
    drawBlock(place, from, width - box - 2)
    const [left, right] = [box + 2, width - box - 2]
    const [start, end, half] = [middle(from), middle(place), (left + right) / 2]
    const look = from === place ? { 'stroke-width': 1.25, 'stroke-opacity': 0.45 } : { 'stroke-width': 2.25 }
    const stroke = `hsl(${hues[from % hues.length]} 55% 50%)`
    const d = `M${left} ${start}C${half} ${start} ${half} ${end} ${right} ${end}`
    svg.append(drawn('path', { d, fill: 'none', stroke, ...look }))
  })
  const more = order.length - shown.length
  return more > 0 ? [svg, element('p', { class: 'none' }, `and ${more} more`)] : [svg]
}

/** A block's first words, as many as there is room for. */
function shortNameOf(words, id) {
  const name = words === '' ? id : words
  return name.length > mostLetters ? `${name.slice(0, mostLetters - 1)}…` : name
}

function showDiff(before, after) {
  const lines = diffLines(linesOf(before), linesOf(after))
  const shown = lines.some(({ kind }) => kind !== '')
    ? withoutFarLines(lines)
    : [{ text: 'It would be sent as received.', kind: 'gap' }, ...lines]
  const rows = shown.slice(0, mostLines).map(({ text, kind, isPath }) => {
    const cut = text.length > longestLine ? `${text.slice(0, longestLine)} … (${whole(text.length)} characters)` : text
    return element('div', { class: isPath ? `${kind} path` : kind }, cut)
  })
  find('diff').replaceChildren(...rows)
}

/** Changed lines with three lines on either side, and the lines that show their path. */
function withoutFarLines(lines) {
  const kept = []
  lines.forEach((line, i) => {
    const isNear = lines.slice(Math.max(0, i - 3), i + 4).some(({ kind }) => kind !== '')
    if (isNear || line.isPath) kept.push(line)
    else if (kept.at(-1)?.kind !== 'gap') kept.push({ text: '⋯', kind: 'gap' })
  })
  return kept
}

/** A request, and an earlier one of another user: they share two documents, and say that their lists may be reordered. */
function exampleRequests() {
  const seine =
    'The Seine rises near Dijon and flows through Troyes, Paris and Rouen to the English Channel at Le Havre. It is 777 kilometres long, and ships reach Paris on it. Its largest tributaries are the Marne, the Oise and the Yonne; locks keep it deep enough in dry summers.'
  const paris =
    'Paris is the capital of France and its largest city. It lies in the north of the country, on both banks of a river and on two islands in it. About two million people live in the city itself, twelve million in the region, and most of the railways of the country meet there.'
  const lyon =
    'Lyon lies where the Rhône and the Saône meet. It is the third largest city of France, known for its silk and its kitchen. The old town and the hill of Fourvière above it are a world heritage site; trains reach the capital in two hours.'
  const loire =
    'The Loire is the longest river of France, 1,006 kilometres from the Cévennes to the Atlantic at Saint-Nazaire. Along its middle stand the castles of kings, and vineyards cover the slopes. It is little used by ships, since its depth changes with the seasons.'
  const requestOf = (documents, question) => {
    const list = documents.map((text, i) => `<document index="${i + 1}">\n${text}\n</document>`).join('\n')
    const content = `<documents>\n${list}\n</documents>\n\nQuestion: ${question}`
    const system = { role: 'system', content: 'Answer from the documents.' }
    return { model: 'example', messages: [system, { role: 'user', content }], reprise: { options: { set: true } } }
  }
  return {
    earlier: [requestOf([paris, seine, loire], 'How long is the river in Paris?')],
    request: requestOf([seine, lyon, paris], 'Which river flows through the capital?'),
  }
}
