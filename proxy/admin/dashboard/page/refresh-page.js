import { ask } from './ask-proxy.js'
import { watchExplainForm } from './explain-request.js'
import { clock, find } from './page-elements.js'
import { showFigures } from './show-figures.js'
import { showIndex } from './show-lists.js'

/** A request for the index walks through all of it, so it is sent less often. */
const roundsPerIndex = 6
let range = 600
let latest
let rounds = 0
let resized

async function refresh() {
  try {
    latest = await ask('v1/stats')
    showFigures(latest, range)
    if (rounds++ % roundsPerIndex === 0) showIndex(await ask('v1/index'))
    find('live').className = 'pill good'
    find('live-text').textContent = `live · ${clock(Date.now())}`
  } catch (error) {
    find('live').className = 'pill bad'
    find('live-text').textContent = `no answer: ${error.message}`
  }
  setTimeout(refresh, document.hidden ? 30_000 : 5_000)
}

const choices = [...document.querySelectorAll('[data-range]')]
for (const choice of choices) {
  choice.addEventListener('click', () => {
    range = Number(choice.dataset.range)
    for (const other of choices) other.setAttribute('aria-pressed', String(other === choice))
    if (latest) showFigures(latest, range)
  })
}
addEventListener('resize', () => {
  clearTimeout(resized)
  resized = setTimeout(() => latest && showFigures(latest, range), 150)
})
watchExplainForm()
void refresh()
