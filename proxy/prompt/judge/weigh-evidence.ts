import type { ContextList } from '../context-list.ts'
import { findIndexFrom } from '../scan/find-edges.ts'
import type { Marks } from '../scan/find-marks.ts'
import { materialWords } from '../scan/words/vocabulary.ts'
import { type Announcement, isAsked, opensPrompt } from './read-evidence.ts'

/*
 * The evidence for a list and its weight. Marks alone are never enough, because people also number texts of their own.
 * The surrounding text must say that the texts were retrieved, or ask a question.
 */

/** Evidence for a list other than its marks. */
type Sign =
  /** output of a tool that searches, or of an unnamed tool */
  | 'searched'
  /** inside a container of retrieved texts */
  | 'held'
  /** words before or after the list mention several retrieved texts */
  | 'set'
  /** these words mention retrieved text, one or several */
  | 'text'
  /** each block names a different file or page */
  | 'origins'
  /** a question is asked */
  | 'asked'
  /** nothing but the question comes before the list, and a line is marked as the question */
  | 'opens'

/** Kinds of marks, which differ in weight. */
type Kind =
  /** bullets below `Memories:`: the form includes its announcement */
  | 'certain'
  /** words for retrieved texts: `Document 1:`, `<passage>` */
  | 'strong'
  /** words for parts of anything: `Result 1:`, `File 1:` */
  | 'weak'
  /** numbers */
  | 'number'
  /** names alone, which may be the title of a part or the origin of a text */
  | 'named'
  /** fields: other records also have a title and a text */
  | 'record'
  /** elements of any kind of data */
  | 'element'
  /** bullets, rules and texts followed by their origin: used for everything */
  | 'plain'

type Weights = Readonly<Partial<Record<Sign | 'marks', number>>>

/** Minimum total weight of the marks and all signs of a list. */
const enough = 5

/** Weights of signs, unless the kind overrides them. */
const everywhere: Weights = { searched: 5, held: 5, set: 5, text: 3, asked: 2 }

const byKind: Readonly<Record<Kind, Weights>> = {
  certain: { marks: 5 },
  strong: { marks: 3 },
  weak: {},
  number: { text: 5, asked: 0, opens: 5 },
  named: { text: 5, asked: 0 },
  record: { marks: 2 },
  element: { origins: 5 },
  plain: { text: 0, asked: 0 },
}

/** Returns whether marks of this kind, together with these signs, suffice to show that a list has retrieved texts. */
export function isEnough(kind: Kind, signs: Iterable<Sign>): boolean {
  const weights = { ...everywhere, ...byKind[kind] }
  let sum = weights.marks ?? 0
  if (sum >= enough) return true
  for (const sign of signs) {
    sum += weights[sign] ?? 0
    if (sum >= enough) return true
  }
  return false
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
const LONGEST_MARK = 300

/** Classifies the marks of a list whose heading is `heading`. */
export function kindOf(text: string, { form, weight, blocks }: ContextList, heading: string): Kind {
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

/** Yields the evidence for a list apart from its marks. Signs that need the most reading come last. */
export function* readSigns(marks: Marks, list: ContextList, announcement: Announcement): Generator<Sign> {
  const { source, whole, text, turns } = marks
  if (source === 'search' || (whole && source === undefined)) yield 'searched'
  if (list.inContainer) yield 'held'
  if (list.hasOrigins) yield 'origins'
  const { announcesSet, announcesText } = announcement
  if (announcesSet) yield 'set'
  if (announcesText) yield 'text'
  const { start } = list.blocks[0]!
  // the question may be in another message, after the one that announces what it is about
  const from = turns[findIndexFrom(turns, start + 1) - 1]?.start ?? 0
  if ((marks.asked && announcesText) || isAsked(text, { start, end: list.end }, from)) yield 'asked'
  if (opensPrompt(text, { start, end: list.end }, from)) yield 'opens'
}
