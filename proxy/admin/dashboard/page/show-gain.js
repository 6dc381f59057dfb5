import { element, find, percent, say, short, whole } from './page-elements.js'

/** Shows what reprise gains, or why nothing is known of it; hidden until an engine has answered. */
export function showGain(stats) {
  const { mode, gain } = stats
  const { prompt_tokens: all, with_tokens, without_tokens, saved } = gain
  const isOff = mode === 'off'
  const sentence = isOff ? offSentence : all > 0 ? gainSentence(stats) : leftOutSentences(gain).join(' ')
  find('gain').hidden = sentence === ''
  find('gain').textContent = sentence
  const labels = { shadow: 'To be gained with reprise', off: 'Not compared in mode off' }
  say('gained-label', labels[mode] ?? 'Gained by reprise')
  const isKnown = all > 0 && !isOff
  say('gained', isKnown ? `${saved.tokens < 0 ? '−' : '+'}${short(Math.abs(saved.tokens))}` : '–', 'tokens')
  const points = `${((100 * (with_tokens - without_tokens)) / Math.max(1, all)).toFixed(1)} points of hit ratio`
  say('gained-note', isKnown ? `since the start; ${points.replace('-', '−')}` : 'nothing counted yet')
  showShares(stats.gain_by)
}

const offSentence =
  'In mode off nothing is compared. In mode shadow, which changes no request either, this page says what reprise would bring.'

/** Returns what reprise gained, or would gain, and what may be wrong with the figures. */
function gainSentence({ mode, gain, replicas }) {
  const {
    prompt_tokens: all,
    with_tokens,
    without_tokens,
    possible_tokens,
    saved,
    cached_tokens,
    model_off_tokens: off,
  } = gain
  const share = (tokens) => percent(Math.min(1, tokens / all), 1)
  const seconds = saved.prefill_seconds
  const time = seconds === null ? '' : `, about ${short(seconds)} s of the engines’ time`
  const would = mode === 'shadow'
  const changes = would ? ['To be saved', 'More would be computed'] : ['Saved', 'More to compute']
  const sentences = [
    `Since the start, ${share(with_tokens)} of prompt tokens ${would ? 'would have come' : 'came'} from cache with reprise, ` +
      `${share(without_tokens)} ${would ? 'came' : 'would have come'} without it; ${share(possible_tokens)} had been sent before.`,
    `${changes[saved.tokens < 0 ? 1 : 0]}: ${whole(Math.abs(saved.tokens))} tokens${time}.`,
    `The model of the cache behind that was off by ${percent(off / Math.max(1, cached_tokens), 1)} of the cached tokens that engines reported.`,
  ]
  if (replicas.some(({ requests, capacity_tokens: capacity }) => requests > 0 && capacity === null)) {
    sentences.push('This is an estimate: an engine does not say how large its cache is, and a large one is assumed.')
  }
  return [...sentences, ...leftOutSentences(gain)].join(' ')
}

/** Returns how many requests are in no figure, why, and what to do about it. */
function leftOutSentences({ uncounted_by_reason: { unreported, too_long: long, too_many: many } }) {
  const sentences = []
  if (unreported > 0) {
    sentences.push(
      `${whole(unreported)} requests are left out: no cached tokens were reported for them. vLLM reports them with --enable-prompt-tokens-details, SGLang with --enable-cache-report, and both for streams if a request sets stream_options.include_usage or, in vLLM, with --enable-force-include-usage.`,
    )
  }
  if (long + many > 0) {
    sentences.push(
      `${whole(long + many)} are left out because they were too long (${whole(long)}) or too many at once (${whole(many)}) to follow.`,
    )
  }
  return sentences
}

const mostShares = 20

/** Shows what reprise gains by tenant, API and shape of prompts, those with most prompt tokens first. */
function showShares(by) {
  const rows = Object.entries(by).flatMap(([kind, all]) =>
    all
      .toSorted((a, b) => b.prompt_tokens - a.prompt_tokens)
      .slice(0, mostShares)
      .map((share) => rowOf(kind, share)),
  )
  const none = element('tr', {}, element('td', { colspan: '7', class: 'none' }, 'No request is counted yet.'))
  find('gain-shares').replaceChildren(...(rows.length > 0 ? rows : [none]))
}

function rowOf(
  kind,
  { name, requests, prompt_tokens: all, without_tokens, with_tokens, cached_tokens, model_off_tokens: off },
) {
  const figures = [
    whole(requests),
    percent(without_tokens / Math.max(1, all)),
    percent(with_tokens / Math.max(1, all)),
    whole(with_tokens - without_tokens).replace('-', '−'),
    percent(off / Math.max(1, cached_tokens)),
  ]
  const cells = figures.map((text) => element('td', { class: 'n' }, text))
  return element('tr', {}, element('td', {}, kind), element('td', { class: 'words' }, name), ...cells)
}
