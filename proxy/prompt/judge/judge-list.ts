import { areLettered } from '../order/numbered-heads.ts'
import { areNumberedNames } from '../order/numbered-names.ts'
import { isMonotone, readKey } from '../order/order-key.ts'
import { tellsOrder } from '../order/tells-order.ts'
import { readCue } from '../scan/find-cue-line.ts'
import { findContentStart, findIndexFrom, findLineEnd } from '../scan/find-edges.ts'
import { genericTags, isKin } from '../scan/find-elements.ts'
import type { Marks } from '../scan/find-marks.ts'
import { readFields } from '../scan/labels/find-record-head.ts'
import { materialWords } from '../scan/words/vocabulary.ts'
import type { BlockSpan, ContextList } from './context-list.ts'
import { kindOf } from './evidence/marks-kind.ts'
import { readSigns } from './evidence/read-signs.ts'
import { isEnough } from './evidence/weigh-evidence.ts'
import { isExample } from './is-example.ts'
import { isLikeSteps, isOfWork, isRetrieved } from './own-work.ts'
import { readAnnouncement, readBehind } from './read-evidence.ts'
import type { Reason } from './reasons.ts'

// behind the number of a block
const CONTINUED =
  /^[\])】]?[ \t]?[[(（,–-][ \t]?(?:continued|cont(?:inuation|['’]?d)?\b\.?|forts(?:etzung|\.)|suite\b|continuación|続き|续|계속)/i
const STAMPED = /[[(【]/
const LONGEST_DATE = 40
const LONGEST_MARK = 300
const SHORTEST_RESULT = 40
const OF_RESULTS =
  /^(?:results?|ergebnis|résultat|resultado|risultato|resultaat|wynik|sonuç|результат|结果|結果|결과)(?!\p{L})/iu
const MATERIAL = new RegExp(materialWords, 'iu')

// what whole files of markup begin with, and what holds settings and feeds
const FOREIGN =
  /^(?:\?xml|rss|rdf|feed|channel|atom|html|head|body|svg|build|project|configuration|config|settings|plugins?|dependencies|manifest|resources|web-app|beans|schema|definitions|testsuites?|suite|playlist|urlset|sitemapindex|opml|kml|gpx|tei|book|bibliography|menu|catalog|inventory|table|ul|ol|video|audio|picture)$/

// what is told in pieces, one behind the other
const OF_SERIES =
  /(?:^|[^\p{L}])(?:transcript|table of contents|consecutive|successive|timeline|storyline|test results|(?:the|a) (?:story|novel|lecture|talk|episode|film|play)|split (?:up )?into|divided into|summaries (?:so far|of consecutive)|excerpts? from (?:a|one) (?:novel|book|story)|protokoll|transkript|verlauf)(?:$|[^\p{L}])|^(?:contents|chapters|genesis|lecture)\b/iu
// what is new comes first, or last, whether it bears a date or not
const OF_NEWS =
  /(?:^|[^\p{L}])(?:latest|newest|(?:most )?recent(?:ly)?|headlines?|trending|breaking|(?:news|activity|rss) ?feed|feed|timeline|neueste[nr]?|aktuelle (?:meldungen|nachrichten)|dernières (?:nouvelles|actualités)|últimas (?:noticias|notícias)|ultime notizie|последние (?:новости|сообщения))(?:$|[^\p{L}])|最新|最近|新着|속보|최신/iu
// `context1: …` is how a template calls a variable, and `[doc1]` is not
const VARIABLE = /^[a-z]+$/

/** Why this list, for which nothing but its form speaks so far, is left alone; undefined: it is one of retrieved texts. */
export function judgeList(marks: Marks, list: ContextList): Reason | undefined {
  const { text } = marks
  const start = list.blocks[0]!.start
  if (list.form === undefined || list.blocks.length < 2) return undefined
  if (marks.source === 'read') return 'one_text'
  if (list.isOrdered) return 'ordered_fields'
  if (isOrdered(text, list)) return 'ordered_texts'
  if (isExample(marks, start, list.end)) return 'example'
  if (list.form === 'label' && isVariable(text, list)) return 'no_evidence'
  if (list.form === 'tag' && list.weight === 'weak' && isOfMarkup(marks, start, list.end)) return 'markup'
  if (list.form !== 'memories' && isOfNews(marks, start)) return 'ordered_texts'
  return isSupported(marks, list) ? undefined : 'no_evidence'
}

/** Whether the texts of a list tell an order, or what stands in front of them numbers the parts of one source. */
function isInOrder(text: string, list: ContextList): boolean {
  // of objects their members were read
  if (list.form === 'json' && text[list.blocks[0]!.start] === '{') return false
  const texts = textsOf(text, list).map((block) => behindFence(text, block))
  const marks = texts.map((block) => markOf(text, block))
  const isMarked = texts.every(({ start, contentStart }) => contentStart > start)
  const isTold = tellsOrder(text, texts) || (list.form === 'label' && tellsOrder(text, behindFields(text, texts)))
  return isTold || areNumberedNames(marks) || (isMarked && areLettered(marks))
}

/** Whether the texts of a list, or its marks, tell an order. */
function isOrdered(text: string, list: ContextList): boolean {
  return areContinued(text, list) || (list.form === 'memories' ? areDated(text, list) : isInOrder(text, list))
}

/**
 * Whether memories tell what happened when: each begins with its date, and these rise or fall. Numbers are no order, nor
 * is a stamp in brackets, which says when each was stored.
 */
function areDated(text: string, { blocks }: ContextList): boolean {
  return (
    blocks.length > 2 &&
    !STAMPED.test(text[blocks[0]!.contentStart]!) &&
    isMonotone(blocks, ({ contentStart }) => {
      const key = readKey(text.slice(contentStart, contentStart + LONGEST_DATE))
      return key?.kind === 'date' ? key : undefined
    })
  )
}

/** Whether a label says that its block goes on with the one in front, as `Document 1 (continued):` does. */
function areContinued(text: string, { blocks }: ContextList): boolean {
  return blocks.some(
    ({ label, contentStart }) =>
      label !== undefined && CONTINUED.test(text.slice(label.end, Math.max(contentStart, label.end + LONGEST_DATE))),
  )
}

/** What stands in front of a block's text, without the label and the fields that rank it. */
function markOf(text: string, { start, contentStart, label, ranks = [] }: BlockSpan): string {
  const line = findLineEnd(text, start)
  const end = contentStart > start ? contentStart : Math.min(line, start + LONGEST_MARK)
  // a name says where a text is from, a number only where it stands
  const isNumber = label !== undefined && /^(?:\d+|\p{L})$/u.test(text.slice(label.start, label.end))
  const cuts = [...(isNumber ? [label] : []), ...ranks].filter((cut) => cut.start >= start && cut.end <= end)
  let mark = ''
  let at = start
  for (const cut of cuts.sort((a, b) => a.start - b.start)) {
    mark += text.slice(at, Math.min(cut.start, at + LONGEST_MARK))
    at = Math.max(at, cut.end)
  }
  return mark + text.slice(at, Math.min(end, at + LONGEST_MARK))
}

/** The blocks without fields in front of their texts. */
function textsOf(text: string, { form, blocks }: ContextList): readonly BlockSpan[] {
  return form === 'record' ? behindFields(text, blocks) : blocks
}

/** A block without the fence that its text stands in. */
function behindFence(text: string, block: BlockSpan): BlockSpan {
  if (!/^(?:```|~~~)/.test(text.slice(block.contentStart, block.contentStart + 3))) return block
  const contentStart = findContentStart(text, findLineEnd(text, block.contentStart), block.contentEnd)
  return { ...block, contentStart }
}

function behindFields(text: string, blocks: readonly BlockSpan[]): readonly BlockSpan[] {
  return blocks.map((block) => ({
    ...block,
    contentStart: readFields(text, block.contentStart)?.end ?? block.contentStart,
  }))
}

/** Whether the line in front of a list says that it lists what is new, or one text in pieces, or the element around it does. */
function isOfNews({ text, tags }: Marks, start: number): boolean {
  const { heading } = readAnnouncement(text, start)
  // a question may speak of anything
  const isQuestion = /[?？{]/.test(heading) || readCue(heading, 0)?.question === true
  if (!isQuestion && (OF_NEWS.test(heading.replaceAll('_', ' ')) || OF_SERIES.test(heading))) return true
  const tag = tags[findIndexFrom(tags, start) - 1]
  return tag !== undefined && !tag.closing && tag.end > start - 8 && OF_NEWS.test(tag.name.replaceAll(/[_-]/g, ' '))
}

function isVariable(text: string, { labelPrefix, blocks: [first] }: ContextList): boolean {
  if (!VARIABLE.test(labelPrefix)) return false
  const before = first?.label === undefined ? '' : text[first.label.start - labelPrefix.length - 1]
  return before !== '[' && before !== '【'
}

/** Whether its marks, and what stands around it, say that a list is one of retrieved texts. */
function isSupported(marks: Marks, list: ContextList): boolean {
  // its own members were judged
  if (list.form === 'json') return true
  const { start } = list.blocks[0]!
  if (areRows(marks.text, list) || isOfOther(marks, list)) return false
  const announcement = readAnnouncement(marks.text, start, readBehind(marks.text, list.end))
  if (list.weight === 'weak') {
    if (isOfWork(announcement.heading)) return false
    if (isLikeSteps(marks.text, list) && !isRetrieved(marks, list, announcement)) return false
  }
  return isEnough(kindOf(marks.text, list, announcement.heading), readSigns(marks, list, announcement))
}

/** Whether these are the rows of a table of results: so little, and no sentence. */
function areRows(text: string, { labelPrefix, blocks }: ContextList): boolean {
  if (!OF_RESULTS.test(labelPrefix)) return false
  return blocks.every(({ contentStart, contentEnd }) => {
    return contentEnd - contentStart < SHORTEST_RESULT && !/[.!?。！？]/.test(text[contentEnd - 1]!)
  })
}

/** Whether elements of any data, as `<item>`, stand in one that has another name, as `<procedure>`. */
function isOfOther({ text, tags }: Marks, { form, blocks, end }: ContextList): boolean {
  if (form !== 'tag') return false
  const at = findIndexFrom(tags, blocks[0]!.start)
  if (!genericTags.has(tags[at]?.name ?? '')) return false
  const around = tags[at - 1]
  if (around === undefined || around.closing || (around.partner?.start ?? 0) < end) return false
  const isDirect = findContentStart(text, around.end, blocks[0]!.start) === blocks[0]!.start
  return isDirect && !isKin(around.name) && !MATERIAL.test(around.name.replaceAll(/[_-]/g, ' '))
}

/** Whether elements that may be anything stand in an element of other markup, as in `<rss><channel><item>`. */
function isOfMarkup({ tags }: Marks, start: number, end: number): boolean {
  for (let i = findIndexFrom(tags, start) - 1, seen = 0; i >= 0 && seen < 2_000; i--, seen++) {
    const { partner, closing, name } = tags[i]!
    if (!closing && partner !== undefined && partner.start >= end && FOREIGN.test(name)) return true
  }
  return false
}
