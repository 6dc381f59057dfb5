import type { Span } from '../../common/json/json-spans.ts'
import type { BlockSpan, ContextList } from '../context-list.ts'
import { areDated, areInOrder, areNumberedParts, tellsOrder } from '../order/tells-order.ts'
import { findContentStart, findIndexFrom, findLineEnd } from '../scan/find-edges.ts'
import type { Marks } from '../scan/find-marks.ts'
import { readFields } from '../scan/labels/find-record-head.ts'
import { isRankingField, tellsTime } from '../scan/words/field-names.ts'
import { materialWords } from '../scan/words/vocabulary.ts'
import { isExample } from './is-example.ts'
import { type Announcement, isAsked, opensPrompt, readAnnouncement, readBehind } from './read-evidence.ts'
import type { Reason } from './reasons.ts'

const LONGEST_MARK = 300
// a tag may have a long address in front of its date
const LONGEST_HEAD = 2_000
// `score="0.91"`, and `page="3"`
const FIELD = /([\p{L}@._-]{1,40})[ \t]?[:=][ \t]?(["']?-?\d[\d.e+-]{0,40}[ \t]?%?["']?)/giu
const ATTRIBUTE = /([\p{L}@._:-]{1,40})[ \t]?=[ \t]?["']?([^"'<>]{1,64})/gu
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
  const ordered = orderOf(text, list)
  if (ordered !== undefined) return ordered
  if (isExample(marks, start, list.end)) return 'example'
  if (list.form === 'label' && isVariable(text, list)) return 'no_evidence'
  return isSupported(marks, list) ? undefined : 'no_evidence'
}

/**
 * Returns why the order of a list means something: its fields say so, its texts begin with dates or numbers that rise or
 * fall, or its marks count parts of one source. Undefined if nothing does. `areMarksAlike`: what precedes its texts differs
 * in nothing but the numbers of their places, and so tells no order.
 */
export function orderOf(text: string, list: ContextList, areMarksAlike = false): Reason | undefined {
  if (list.isOrdered) return 'ordered_fields'
  // for objects, the members were already checked; memories are numbered and dated as they were stored
  if (list.form === 'memories' || (list.form === 'json' && text[list.blocks[0]!.start] === '{')) return undefined
  const texts = list.blocks.map((block) => behindFields(text, block))
  const isBare = ({ start, contentStart }: BlockSpan, i: number): boolean =>
    contentStart > start && contentStart === list.blocks[i]!.contentStart
  if (areMarksAlike && texts.every(isBare)) return tellsOrder(text, texts) ? 'ordered_texts' : undefined
  const heads = texts.map(({ start, contentStart }) => text.slice(start, Math.min(contentStart, start + LONGEST_HEAD)))
  if (list.form === 'tag' && areInOrder(heads, (head) => dateIn(head, list.hasOrigins))) return 'ordered_fields'
  const isOrdered =
    tellsOrder(text, texts) ||
    areNumberedParts(texts.map((block) => markOf(text, block, list.positional))) ||
    areDated(heads)
  return isOrdered ? 'ordered_texts' : undefined
}

/** Returns the value of the attribute that dates a tag's block, or gives its page. */
function dateIn(head: string, hasOrigins: boolean | undefined): string {
  return [...head.matchAll(ATTRIBUTE)].find(([, name]) => tellsTime(name!, hasOrigins))?.[2] ?? ''
}

/** Returns what precedes a block's text, without the number of its place and the fields that rank it. */
function markOf(text: string, { start, contentStart, label }: BlockSpan, positional: boolean): string {
  const end = contentStart > start ? contentStart : start + findLineEnd(text.slice(start, start + LONGEST_MARK), 0)
  // a name identifies a text's source, as numbers do that do not count up
  const isPlace = label !== undefined && (positional || /^(?:0\d*|\p{L})$/u.test(text.slice(label.start, label.end)))
  const cut = isPlace && label.start >= start && label.end <= end ? label : { start, end: start }
  // cut first: many blocks may share one endless line
  const front = text.slice(start, Math.min(cut.start, start + LONGEST_MARK))
  const mark = front + text.slice(cut.end, Math.min(end, cut.end + LONGEST_MARK))
  return mark.replace(FIELD, (field, name: string, value: string) => (isRankingField(name, value) ? '' : field))
}

/** Returns a block without the fields, the label and the fence in front of its text. */
function behindFields(text: string, block: BlockSpan): BlockSpan {
  const { contentStart, contentEnd, label } = block
  const behind = readFields(text, contentStart)?.end ?? contentStart
  // `monday: It rained.` is no field in front of a text, but all of it
  const fields = Math.max(behind < contentEnd ? behind : contentStart, label?.end ?? 0)
  const start = Math.min(findContentStart(text, fields, contentEnd), contentEnd)
  const isFenced = ['```', '~~~'].includes(text.slice(start, start + 3))
  return { ...block, contentStart: isFenced ? Math.min(findLineEnd(text, start), contentEnd) : start }
}

function isVariable(text: string, { labelPrefix, blocks: [first] }: ContextList): boolean {
  if (!VARIABLE.test(labelPrefix)) return false
  const before = first?.label === undefined ? '' : text[first.label.start - labelPrefix.length - 1]
  return before !== '[' && before !== '【'
}

/*
 * The evidence for a list and its weight. Marks alone are never enough, because people also number texts of their own.
 * The surrounding text must say that the texts were retrieved, or ask a question.
 */

interface Evidence {
  readonly marks: Marks
  readonly list: ContextList
  readonly announcement: Announcement
  /** where the turn of the list begins: the question may be in another message, after the one that announces */
  readonly from: number
}

/** Evidence for a list other than its marks. What needs the most reading comes last. */
const signs = {
  /** output of a tool that searches, or of an unnamed tool */
  searched: ({ marks: { source, whole } }) => source === 'search' || (whole && source === undefined),
  /** inside a container of retrieved texts */
  held: ({ list }) => list.inContainer === true,
  /** each block names a different file or page */
  origins: ({ list }) => list.hasOrigins === true,
  /** words before or after the list mention several retrieved texts */
  set: ({ announcement }) => announcement.announcesSet,
  /** these words mention retrieved text, one or several */
  text: ({ announcement }) => announcement.announcesText,
  /** a question is asked */
  asked: ({ marks, list, announcement, from }) =>
    (marks.asked && announcement.announcesText) || isAsked(marks.text, spanOf(list), from),
  /** nothing but the question comes before the list, and a line is marked as the question */
  opens: ({ marks, list, from }) => opensPrompt(marks.text, spanOf(list), from),
} satisfies Readonly<Record<string, (evidence: Evidence) => boolean>>

type Sign = keyof typeof signs
type Weights = Readonly<Partial<Record<Sign | 'marks', number>>>

/** Minimum total weight of the marks and all signs of a list. */
const enough = 5

/** Weights of signs, unless the kind overrides them. */
const everywhere: Weights = { searched: 5, held: 5, set: 5, text: 3, asked: 2 }

/** Kinds of marks, which differ in weight. */
const kinds = {
  /** bullets below `Memories:`: the form includes its announcement */
  certain: { marks: 5 },
  /** words for retrieved texts: `Document 1:`, `<passage>` */
  strong: { marks: 3 },
  /** words for parts of anything: `Result 1:`, `File 1:` */
  weak: {},
  number: { text: 5, asked: 0, opens: 5 },
  /** names alone, which may be the title of a part or the origin of a text */
  named: { text: 5, asked: 0 },
  /** fields: other records also have a title and a text */
  record: { marks: 2 },
  /** elements of any kind of data */
  element: { origins: 5 },
  /** bullets, rules and texts followed by their origin: used for everything */
  plain: { text: 0, asked: 0 },
} satisfies Readonly<Record<string, Weights>>

/** Returns whether the marks of a list and the text around it show that its texts were retrieved. */
function isSupported(marks: Marks, list: ContextList): boolean {
  // the members of objects were already checked
  if (list.form === 'json') return true
  const { text, turns } = marks
  const { start, end } = spanOf(list)
  const announcement = readAnnouncement(text, start, readBehind(text, end))
  const from = turns[findIndexFrom(turns, start + 1) - 1]?.start ?? 0
  const weights: Weights = { ...everywhere, ...kinds[kindOf(text, list, announcement.heading)] }
  let sum = weights.marks ?? 0
  for (const sign of Object.keys(signs) as Sign[]) {
    if (sum >= enough) return true
    const weight = weights[sign] ?? 0
    if (weight > 0 && signs[sign]({ marks, list, announcement, from })) sum += weight
  }
  return sum >= enough
}

function spanOf({ blocks, end }: ContextList): Span {
  return { start: blocks[0]!.start, end }
}

// a label whose word means a text
const OF_TEXT = new RegExp(
  `^[^\\p{L}\\n]{0,12}(?!(?:files?|results?|attachments?|contents?|notes?)(?:$|[^\\p{L}]))(?:${materialWords})`,
  'iu',
)
// numbered paragraphs of one text, if the words before them call it that
const OF_ONE_TEXT =
  /\b(?:the|this|that|following|a|an) (?:following )?(?:text|story|judge?ment|ruling|opinion|poem|speech|recipe|letter|contract|agreement|law|statute|transcript|chapter|essay|report|paper|novel|tale|manual|guide|list|steps|rules|instructions)\b|文章|步骤|故事|本文/i
// one sentence on each line, as in verses, clauses and steps
const LINE = /^(?=[^\n]*\p{L}+[ \t]+[^\n ]+[ \t]+[^\n ]+[ \t]+[^\n ])[^«\n][^\n]{0,118}$/u

/** Classifies the marks of a list whose heading is `heading`. */
function kindOf(text: string, { form, weight, blocks }: ContextList, heading: string): keyof typeof kinds {
  const { start } = blocks[0]!
  if (form === 'memories') return 'certain'
  if (weight === 'strong') return 'strong'
  switch (form) {
    case 'number': {
      const areLines =
        blocks.length > 2 && blocks.every((own) => LINE.test(text.slice(own.contentStart, own.contentEnd)))
      return areLines || OF_ONE_TEXT.test(heading) ? 'plain' : 'number'
    }
    case 'label':
      if ('-*+•'.includes(text[start]!) && text[start + 1] === ' ') return 'plain'
      return blocks.some(({ label }) => label !== undefined) || OF_TEXT.test(text.slice(start, start + LONGEST_MARK))
        ? 'weak'
        : 'named'
    case 'record':
      return 'record'
    case 'tag':
      return 'element'
    default:
      return 'plain'
  }
}
