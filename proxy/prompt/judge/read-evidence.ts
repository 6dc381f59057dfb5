import { isInstruction } from '../borders/find-list-tail.ts'
import { readCue } from '../scan/find-cue-line.ts'
import { findContentEnd, findContentStart, findLineEnd, isRule } from '../scan/find-edges.ts'
import { findShortQuestion } from '../scan/find-line-notes.ts'
import { announcingPlurals, announcingWords } from '../scan/words/vocabulary.ts'
import { giving, isAnswering, isGrounded, retrieved } from './evidence/prompt-words.ts'

/** What the text right before or after a list says about it. */
export interface Announcement {
  /** The line right before the list. */
  readonly heading: string
  /** The text right before or after mentions several retrieved texts, as `Sources:` does. */
  readonly announcesSet: boolean
  /** It mentions retrieved text, one or several, as `Context:` does. */
  readonly announcesText: boolean
}

/** What is asked around a list. */
interface Asking {
  /** A line introduces the question, or the last line asks one. */
  readonly asked: boolean
  /** A line is marked as the question, or the prompt ends where the answer begins. */
  readonly cued: boolean
  /** The prompt says how to cite. */
  readonly cited: boolean
  /** Only a few words come before the list. A pasted text would be longer before its first list. */
  readonly leads: boolean
  /** Nothing comes before the list but the question, which is typical of a template and not of pasted text. */
  readonly opens: boolean
}

const SET = new RegExp(announcingPlurals, 'iu')
const TEXT = new RegExp(announcingWords, 'iu')
// `context` alone may mean one text or several
const ONE_TEXT =
  /(?:^|[^\p{L}])(?:context|kontext|contexte|contexto|evidence|facts?|knowledge|information)(?:$|[^\p{L}])|上下文|コンテキスト|已知信息|知识|参考(?!资料)/giu
const GIVEN_ABOVE =
  /\b(?:above|preceding|these|provided|given|retrieved)\b|以上|上述|上記|oben|obigen|ci-dessus|anterior|arriba|acima|sopra|bovenstaande|powyższ|yukarıdaki|выше|вище|наведен|위의/iu
const CITING = /\bcit(?:e|es|ed|ing|ations?)\b|引用|zitier|citez|cita(?:r|s)?\b|цитир|ссыла|cytuj|alıntı|인용/iu
const ASKED = /[?？]["'”’»)]?\s*$/

const LONGEST_HEADING = 120
// a rule may be longer than a heading
const LONGEST_LINE = 400
const LONGEST_PARAGRAPH = 1_200
const FURTHEST = 6_000
const MOST_WORDS_IN_FRONT = 1_200

/** Returns the first words after a list. */
export function readBehind(text: string, end: number): string {
  return text.slice(end, end + LONGEST_PARAGRAPH)
}

function readBefore(text: string, start: number): string {
  return text.slice(Math.max(start - FURTHEST, 0), start)
}

/** Reads what is asked around a list in its text. `from` is the beginning of its turn. */
export function readAsking(text: string, start: number, end: number, from: number): Asking {
  const before = readBefore(text, start)
  const behind = readBehind(text, end)
  const cued = asks(behind) || isAnswerBehind(text, end) || endsInAnswer(text, end) || asks(before)
  const leads = start - from <= MOST_WORDS_IN_FRONT
  return {
    asked: cued || ASKED.test(text.slice(-200)) || (leads && ASKED.test(before)) || isPromptBehind(text, end),
    cued,
    cited: CITING.test(before) || CITING.test(behind),
    leads,
    opens: leads && isOnlyQuestion(text.slice(from, start)),
  }
}

/** Returns whether the prompt says that the answer is to be based on retrieved texts. */
export function isAnsweredBy(text: string, start: number, end: number): boolean {
  return isGrounded(readBehind(text, end)) || isGrounded(readBefore(text, start))
}

/** Returns the line right before a list; of a long one, its end. */
export function readHeading(text: string, start: number): string {
  return toHeading(text, findHeadingEnd(text, start))
}

function toHeading(text: string, end: number): string {
  return text.slice(Math.max(findLineStart(text, end), end - LONGEST_HEADING), end).trim()
}

/** Reads what announces a list before it, or mentions it in the first lines `behind` it. */
export function readAnnouncement(text: string, start: number, behind = ''): Announcement {
  const headingEnd = findHeadingEnd(text, start)
  const lineStart = findLineStart(text, headingEnd)
  const heading = toHeading(text, headingEnd)
  const isHeading = headingEnd - lineStart <= LONGEST_HEADING && isHeadingLine(heading)
  const paragraph = readParagraph(text, headingEnd)
  const remarks = behind
    .split('\n', 12)
    .filter((line) => GIVEN_ABOVE.test(line))
    .join('\n')
  const words = `${isHeading ? heading : ''}\n${giving.test(paragraph) ? paragraph : ''}\n${remarks}`
  const announcesText = TEXT.test(words) || retrieved.test(words)
  return { heading, announcesSet: SET.test(words.replace(ONE_TEXT, ' ')), announcesText }
}

// opening quotes, fences and tags, and column names
const SKIPPED = /^(?:"""|'''|```\w*|<[a-z][\w-]{0,40}>|\w+(?:[|,]\w+)+)$/

/** Returns where the line that ends here begins, or a place further back than the longest line that is read. */
function findLineStart(text: string, end: number): number {
  const from = Math.max(0, end - LONGEST_LINE - 1)
  return from + text.slice(from, end).lastIndexOf('\n') + 1
}

/** Returns the end of the line before a list. Rules and opening quotes in between are skipped. */
function findHeadingEnd(text: string, start: number): number {
  let end = findContentEnd(text, Math.max(start - FURTHEST, 0), start)
  for (let i = 0; i < 2; i++) {
    const line = findLineStart(text, end)
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

/** Returns the paragraph that ends at `end`. */
function readParagraph(text: string, end: number): string {
  const before = text.slice(Math.max(end - LONGEST_PARAGRAPH, 0), end)
  const parted = findLastBlankLine(before)
  // a heading alone in its paragraph belongs to the paragraph above
  const own = before.slice(parted + 1)
  return own.trim().length <= LONGEST_HEADING && parted > 0 ? before.slice(-600) : own
}

/** Returns the position of the line break before the last blank line, or -1 if there is none. */
function findLastBlankLine(text: string): number {
  let end = text.lastIndexOf('\n')
  while (end > 0) {
    const start = text.lastIndexOf('\n', end - 1)
    if (start >= 0 && /^[ \t\r]*$/.test(text.slice(start + 1, end))) return start
    end = start
  }
  return -1
}

/** Returns whether the words before a list are empty, or only a question marked as such. */
function isOnlyQuestion(words: string): boolean {
  const line = words.lastIndexOf('\n', findContentStart(words, 0, words.length)) + 1
  return words.trim() === '' || readCue(words, line)?.question === true
}

/** Returns whether the line after a list addresses the model. */
function isPromptBehind(text: string, end: number): boolean {
  let start = findContentStart(text, end, text.length)
  // a rule below the list is skipped
  if (isRule(text, start, findLineEnd(text, start)))
    start = findContentStart(text, findLineEnd(text, start), text.length)
  const line = text.lastIndexOf('\n', start - 1) + 1
  if (start === text.length || line < end) return false
  if (findShortQuestion(text, end, text.length) !== undefined) return true
  const words = text.slice(start, Math.min(findLineEnd(text, start), start + 500)).trim()
  return readCue(text, line) !== undefined || ASKED.test(words) || isInstruction(words)
}

/** Returns whether the line after a list asks for an answer, such as `Answer the question.` */
function isAnswerBehind(text: string, end: number): boolean {
  const start = findContentStart(text, end, text.length)
  const line = text.lastIndexOf('\n', start - 1) + 1
  const cue = line < end ? undefined : readCue(text, line)
  return cue !== undefined && (cue.answer || isAnswering(cue.kind))
}

/** Returns whether the last line, after a list, begins the answer: `Answer:`, `A:`. */
function endsInAnswer(text: string, end: number): boolean {
  const last = findContentEnd(text, end, text.length)
  const line = text.lastIndexOf('\n', last - 1) + 1
  if (line < end || last - line > LONGEST_HEADING) return false
  return text.slice(line, last) === 'A:' || readCue(text, line)?.answer === true
}

function asks(words: string): boolean {
  for (let line = 0; line < words.length; line = findLineEnd(words, line) + 1) {
    if (readCue(words, line)?.question) return true
  }
  return false
}
