import { ask } from './ask-proxy.js'
import { element, find, percent, pill, short, whole } from './page-elements.js'

const mostTemplates = 20
const templateKinds = { proved: 'good', on: 'good', ready: 'warn', torn: 'bad', refuted: 'bad', off: 'bad' }

/** Shows the templates of prompts: what is known of their lists, and the buttons that permit or forbid moves. */
export function showTemplates(templates) {
  const rows = templates.slice(0, mostTemplates).map((template) => {
    const { id, state, moves, meaning, skeleton, requests, blocks, moved, gain } = template
    const begins = skeleton?.lead || skeleton?.gap || id
    const row = element(
      'tr',
      { 'data-template': id },
      element('td', { class: 'cut' }, element('span', { title: JSON.stringify(skeleton ?? id) }, begins)),
      element('td', { class: 'cut' }, skeleton?.model ?? ''),
      element('td', {}, pill(state, templateKinds[state])),
      element('td', { class: 'n' }, whole(requests)),
      element('td', { class: 'n' }, `${short(moved)} of ${short(blocks)}`),
      element('td', { class: 'n' }, `${percent(gain.as_received)} → ${percent(gain.as_ordered)}`),
      element('td', { class: 'words' }, meaning),
      element('td', { class: 'n' }, sayButton(template, moves ? 'off' : 'on')),
    )
    return row
  })
  const none = element(
    'tr',
    {},
    element('td', { colspan: '8', class: 'none' }, 'No template was seen three times yet.'),
  )
  find('templates').replaceChildren(...(rows.length > 0 ? rows : [none]))
}

function sayButton({ id }, state) {
  const words = state === 'on' ? 'Permit moves' : 'Forbid moves'
  const button = element('button', { type: 'button', 'aria-label': `${words} of template ${id}` }, words)
  button.addEventListener('click', async () => {
    button.disabled = true
    const headers = { 'content-type': 'application/json' }
    await ask(`v1/templates/${id}`, { method: 'PUT', headers, body: JSON.stringify({ state }) })
    const { templates } = await ask('v1/templates')
    showTemplates(templates)
  })
  return button
}
