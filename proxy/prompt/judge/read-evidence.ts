import type { Span } from '../../common/json/json-spans.ts'
import { isInstruction } from '../borders/prompt-lines.ts'
import { readCue } from '../scan/find-cue-line.ts'
import { findContentEnd, findContentStart, findLineEnd, findLineStart, isRule } from '../scan/find-edges.ts'
import { findShortQuestion } from '../scan/find-line-notes.ts'
import { announcingPlurals, announcingWords } from '../scan/words/vocabulary.ts'

/** What the text right before or after a list says about it. */
export interface Announcement {
  /** The line right before the list. */
  readonly heading: string
  /** The text right before or after mentions several retrieved texts, as `Sources:` does. */
  readonly announcesSet: boolean
  /** It mentions retrieved text, one or several, as `Context:` does. */
  readonly announcesText: boolean
}

// words that introduce given texts: `Use the following`, `Search results`
const GIVING =
  /\b(?:following|below|provided|given|retrieved|relevant|us(?:e|ing)|based (?:up)?on|from these|here (?:are|is)|these|added|attached|included|search(?:ed)?|found)\b|以下|下面|根据|使用|搜索|检索|検索|검색|gefunden|folgende|unten|anhand|suivante?s|ci-dessous|siguientes|a continuación|seguintes|abaixo|seguenti|di seguito|следующ|ниже|приведенн|приведённ|次の|다음|아래|التالي|أدناه/iu
const GIVEN_ABOVE =
  /\b(?:above|preceding|these|provided|given|retrieved)\b|以上|上述|上記|oben|obigen|ci-dessus|anterior|arriba|acima|sopra|выше|위의|أعلاه/iu
const SET = new RegExp(announcingPlurals, 'iu')
const TEXT = new RegExp(`${announcingWords}|\\bretrieved\\b`, 'iu')
// `context` alone may mean one text or several
const ONE_TEXT =
  /(?:^|[^\p{L}])(?:context|kontext|contexte|contexto|evidence|facts?|knowledge|information)(?:$|[^\p{L}])|上下文|コンテキスト|已知信息|知识|参考(?!资料)/giu
const ASKED = /[?？]["'”’»)]?\s*$/

const LONGEST_HEADING = 120
// a rule may be longer than a heading
const LONGEST_LINE = 400
const LONGEST_PARAGRAPH = 1_200
const FURTHEST = 6_000

/** Whether words announce several texts. */
export function announcesSet(words: string): boolean {
  return SET.test(words)
}

/** Returns the first words after a list. */
export function readBehind(text: string, end: number): string {
  return text.slice(end, end + LONGEST_PARAGRAPH)
}

/** Returns whether a question is asked around a list. `from` is the beginning of its turn. */
export function isAsked(text: string, { start, end }: Span, from: number): boolean {
  const before = text.slice(Math.max(start - FURTHEST, 0), start)
  if (ASKED.test(text.slice(-200)) || holdsCue(before) || holdsCue(readBehind(text, end))) return true
  return (start - from <= LONGEST_PARAGRAPH && ASKED.test(before)) || isPromptBehind(text, end)
}

/** Returns whether a list begins its turn, or only a marked question comes before it, and a line is marked as the question. */
export function opensPrompt(text: string, { start, end }: Span, from: number): boolean {
  const before = text.slice(from, Math.min(start, from + LONGEST_PARAGRAPH + 1))
  if (start - from > LONGEST_PARAGRAPH) return false
  if (before.trim() === '') return holdsCue(readBehind(text, end))
  // right below a question are its options
  if (!/\n[ \t\r]*\n\s*$/.test(before)) return false
  return readCue(before, before.lastIndexOf('\n', findContentStart(before, 0, before.length)) + 1)?.question === true
}

function holdsCue(words: string): boolean {
  for (let line = 0; line < words.length; line = findLineEnd(words, line) + 1) {
    if (readCue(words, line)?.question) return true
  }
  return false
}

/** Returns whether the line after a list, below a rule or not, addresses the model. */
function isPromptBehind(text: string, end: number): boolean {
  let start = findContentStart(text, end, text.length)
  if (isRule(text, start, findLineEnd(text, start)))
    start = findContentStart(text, findLineEnd(text, start), text.length)
  const line = text.lastIndexOf('\n', start - 1) + 1
  if (start === text.length || line < end) return false
  const words = text.slice(start, Math.min(findLineEnd(text, start), start + 500)).trim()
  return (
    readCue(text, line) !== undefined ||
    ASKED.test(words) ||
    isInstruction(words) ||
    findShortQuestion(text, end, text.length) !== undefined
  )
}

/** Returns the line right before a list; of a long one, its end. */
export function readHeading(text: string, start: number): string {
  return toHeading(text, findHeadingEnd(text, start))
}

function toHeading(text: string, end: number): string {
  return text.slice(Math.max(findLineStart(text, end, LONGEST_LINE), end - LONGEST_HEADING), end).trim()
}

/** Reads what announces a list before it, or mentions it in the first lines `behind` it. */
export function readAnnouncement(text: string, start: number, behind = ''): Announcement {
  const headingEnd = findHeadingEnd(text, start)
  const heading = toHeading(text, headingEnd)
  const isHeading =
    headingEnd - findLineStart(text, headingEnd, LONGEST_LINE) <= LONGEST_HEADING && isHeadingLine(heading)
  const paragraph = readParagraph(text, headingEnd)
  const remarks = behind.split('\n', 12).filter((line) => GIVEN_ABOVE.test(line))
  const words = [isHeading ? heading : '', GIVING.test(paragraph) ? paragraph : '', ...remarks].join('\n')
  return { heading, announcesSet: SET.test(words.replace(ONE_TEXT, ' ')), announcesText: TEXT.test(words) }
}

// opening quotes, fences and tags, and column names
const SKIPPED = /^(?:"""|'''|```\w*|<[a-z][\w-]{0,40}>|\w+(?:[|,]\w+)+)$/

/** Returns the end of the line before a list. Rules and opening quotes in between are skipped. */
function findHeadingEnd(text: string, start: number): number {
  let end = findContentEnd(text, Math.max(start - FURTHEST, 0), start)
  for (let i = 0; i < 2; i++) {
    const line = findLineStart(text, end, LONGEST_LINE)
    if (end - line > LONGEST_LINE) return end
    const first = findContentStart(text, line, end)
    const words = text.slice(first, Math.min(end, first + LONGEST_HEADING))
    if (!isRule(text, first, end) && !(SKIPPED.test(words) && !TEXT.test(words))) return end
    end = findContentEnd(text, Math.max(start - FURTHEST, 0), line)
  }
  return end
}

// `Sources:`, `## Sources`, `[SOURCES]`, `---Sources---`, `<sources>`, `Sources (best first):`
function isHeadingLine(line: string): boolean {
  return /^(?:#{1,6}\s|[[{【=<-])|[:：]["'`*]*$|^[^.!?。]{1,60}$/.test(line)
}

/** Returns the paragraph that ends at `end`. A heading alone in its paragraph belongs to the paragraph above. */
function readParagraph(text: string, end: number): string {
  const before = text.slice(Math.max(end - LONGEST_PARAGRAPH, 0), end)
  const parted = Math.max(before.lastIndexOf('\n\n'), before.lastIndexOf('\n\r\n'))
  const own = before.slice(parted + 1)
  return own.trim().length <= LONGEST_HEADING && parted > 0 ? before.slice(-600) : own
}
