import type { BlockSpan, ContextList } from '../context-list.ts'
import { areLettered } from '../order/numbered-heads.ts'
import { areNumberedNames } from '../order/numbered-names.ts'
import { areInOrder, isMonotone, readKey } from '../order/order-key.ts'
import { tellsOrder } from '../order/tells-order.ts'
import { readCue } from '../scan/find-cue-line.ts'
import { findContentStart, findIndexFrom, findLineEnd } from '../scan/find-edges.ts'
import { genericTags, isKin } from '../scan/find-elements.ts'
import type { Marks } from '../scan/find-marks.ts'
import { readFields, readFirstDates } from '../scan/labels/find-record-head.ts'
import { materialWords } from '../scan/words/vocabulary.ts'
import { kindOf } from './evidence/marks-kind.ts'
import { readSigns } from './evidence/read-signs.ts'
import { isEnough } from './evidence/weigh-evidence.ts'
import { isExample } from './is-example.ts'
import { isLikeSteps, isOfWork, isRetrieved } from './own-work.ts'
import { readAnnouncement, readBehind, readHeading } from './read-evidence.ts'
import type { Reason } from './reasons.ts'

// follows the number of a block
const CONTINUED =
  /^[\])】]?[ \t]?[[(（,–-][ \t]?(?:continued|cont(?:inuation|['’]?d)?\b\.?|forts(?:etzung|\.)|suite\b|continuación|続き|续|계속)/i
const STAMPED = /[[(【]/
const LONGEST_DATE = 40
const LONGEST_MARK = 300
const SHORTEST_RESULT = 40
const OF_RESULTS =
  /^(?:results?|ergebnis|résultat|resultado|risultato|resultaat|wynik|sonuç|результат|结果|結果|결과)(?!\p{L})/iu
const MATERIAL = new RegExp(materialWords, 'iu')

// beginnings of whole markup files, and elements of settings and feeds
const FOREIGN =
  /^(?:\?xml|rss|rdf|feed|channel|atom|html|head|body|svg|build|project|configuration|config|settings|plugins?|dependencies|manifest|resources|web-app|beans|schema|definitions|testsuites?|suite|playlist|urlset|sitemapindex|opml|kml|gpx|tei|book|bibliography|menu|catalog|inventory|table|ul|ol|video|audio|picture)$/

// things presented in consecutive pieces
const OF_SERIES =
  /(?:^|[^\p{L}])(?:transcript|table of contents|consecutive|successive|timeline|storyline|test results|(?:the|a) (?:story|novel|lecture|talk|episode|film|play)|split (?:up )?into|divided into|summaries (?:so far|of consecutive)|excerpts? from (?:a|one) (?:novel|book|story)|protokoll|transkript|verlauf)(?:$|[^\p{L}])|^(?:contents|chapters|genesis|lecture)\b/iu
// news is sorted by time, dated or not
const OF_NEWS =
  /(?:^|[^\p{L}])(?:latest|newest|(?:most )?recent(?:ly)?|headlines?|trending|breaking|(?:news|activity|rss) ?feed|feed|timeline|neueste[nr]?|aktuelle (?:meldungen|nachrichten)|dernières (?:nouvelles|actualités)|últimas (?:noticias|notícias)|ultime notizie|последние (?:новости|сообщения))(?:$|[^\p{L}])|最新|最近|新着|속보|최신/iu
// a template names a variable in this way, `context1: …`, but not `[doc1]`
const VARIABLE = /^[a-z]+$/

/**
 * Returns why this list, so far supported only by its form, is left alone. Undefined if it is a list of retrieved
 * texts.
 */
export function judgeList(marks: Marks, list: ContextList): Reason | undefined {
  const { text } = marks
  const start = list.blocks[0]!.start
  if (list.form === undefined || list.blocks.length < 2) return undefined
  if (marks.source === 'read') return 'one_text'
  if (list.isOrdered) return 'ordered_fields'
  if (isOrdered(text, list)) return 'ordered_texts'
  if (list.form === 'record' && areFeed(marks, list)) return 'ordered_fields'
  if (isExample(marks, start, list.end)) return 'example'
  if (list.form === 'label' && isVariable(text, list)) return 'no_evidence'
  if (list.form === 'tag' && list.weight === 'weak' && isOfMarkup(marks, start, list.end)) return 'markup'
  if (list.form !== 'memories' && isOfNews(marks, start)) return 'ordered_texts'
  return isSupported(marks, list) ? undefined : 'no_evidence'
}

/**
 * Returns whether records that begin with their dates may be in the order of these dates: wherever nothing was searched
 * for, and where the dates rise or fall throughout.
 */
function areFeed({ text, source }: Marks, { blocks }: ContextList): boolean {
  const dates = readFirstDates(
    text,
    blocks.map(({ start }) => start),
  )
  return dates !== undefined && (source !== 'search' || areInOrder(dates))
}

/** Returns whether the texts of a list show an order, or their marks number the parts of one source. */
function isInOrder(text: string, list: ContextList): boolean {
  // for objects, the members were already checked
  if (list.form === 'json' && text[list.blocks[0]!.start] === '{') return false
  const texts = textsOf(text, list).map((block) => behindFence(text, block))
  const marks = texts.map((block) => markOf(text, block))
  const isMarked = texts.every(({ start, contentStart }) => contentStart > start)
  const isTold = tellsOrder(text, texts) || (list.form === 'label' && tellsOrder(text, behindFields(text, texts)))
  return isTold || areNumberedNames(marks) || (isMarked && areLettered(marks))
}

/** Returns whether the texts of a list, or its marks, show an order. */
function isOrdered(text: string, list: ContextList): boolean {
  return areContinued(text, list) || (list.form === 'memories' ? areDated(text, list) : isInOrder(text, list))
}

/**
 * Returns whether memories say when things happened: each begins with its date, and the dates rise or fall. Numbers do
 * not count as an order, nor does a timestamp in brackets, which is the time of storage.
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

/** Returns whether a label continues the previous block, as in `Document 1 (continued):`. */
function areContinued(text: string, { blocks }: ContextList): boolean {
  return blocks.some(
    ({ label, contentStart }) =>
      label !== undefined && CONTINUED.test(text.slice(label.end, Math.max(contentStart, label.end + LONGEST_DATE))),
  )
}

/** Returns what precedes a block's text, without the label and the fields that rank it. */
function markOf(text: string, { start, contentStart, label, ranks = [] }: BlockSpan): string {
  // cut first: many blocks may share one endless line
  const line = text.slice(start, start + LONGEST_MARK)
  const end = contentStart > start ? contentStart : start + findLineEnd(line, 0)
  // a name identifies a text's source, a number only its position
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

/** Returns the blocks without fields that precede their texts. */
function textsOf(text: string, { form, blocks }: ContextList): readonly BlockSpan[] {
  return form === 'record' ? behindFields(text, blocks) : blocks
}

/** Returns a block without the fence around its text. */
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

/** Returns whether the line before a list, or the element around it, announces news or one text in pieces. */
function isOfNews({ text, tags }: Marks, start: number): boolean {
  const heading = readHeading(text, start)
  // a question may mention anything
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

/** Returns whether the marks of a list and the text around it show that its texts were retrieved. */
function isSupported(marks: Marks, list: ContextList): boolean {
  // its members were already checked
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

/** Returns whether these are rows of a results table: short, and not sentences. */
function areRows(text: string, { labelPrefix, blocks }: ContextList): boolean {
  if (!OF_RESULTS.test(labelPrefix)) return false
  return blocks.every(({ contentStart, contentEnd }) => {
    return contentEnd - contentStart < SHORTEST_RESULT && !/[.!?。！？]/.test(text[contentEnd - 1]!)
  })
}

/**
 * Returns whether generic elements such as `<item>` are inside an element with an unrelated name, such as
 * `<procedure>`.
 */
function isOfOther({ text, tags }: Marks, { form, blocks, end }: ContextList): boolean {
  if (form !== 'tag') return false
  const at = findIndexFrom(tags, blocks[0]!.start)
  if (!genericTags.has(tags[at]?.name ?? '')) return false
  const around = tags[at - 1]
  if (around === undefined || around.closing || (around.partner?.start ?? 0) < end) return false
  const isDirect = findContentStart(text, around.end, blocks[0]!.start) === blocks[0]!.start
  return isDirect && !isKin(around.name) && !MATERIAL.test(around.name.replaceAll(/[_-]/g, ' '))
}

/** Returns whether generic elements are inside an element of other markup, as in `<rss><channel><item>`. */
function isOfMarkup({ tags }: Marks, start: number, end: number): boolean {
  for (let i = findIndexFrom(tags, start) - 1, seen = 0; i >= 0 && seen < 2_000; i--, seen++) {
    const { partner, closing, name } = tags[i]!
    if (!closing && partner !== undefined && partner.start >= end && FOREIGN.test(name)) return true
  }
  return false
}
