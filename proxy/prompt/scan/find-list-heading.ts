import { readCue } from './find-cue-line.ts'
import { findContentEnd, findContentStart } from './find-edges.ts'
import type { Label } from './labels/label.ts'

const BIBLIOGRAPHY =
  /^\s*(?:#{1,6}\s+|\*\*|={1,6}\s*)?(?:\d{1,2}\.?\s+)?(?:references|bibliography|works cited|literature(?: cited)?|foot ?notes|end ?notes|notes|citations|further reading|see also|quellen|quellenverzeichnis|literatur|literaturverzeichnis|fußnoten|références|bibliographie|referencias|bibliografía|notas|参考文献|参考资料|注释)\s*[:：]?\s*(?:\*\*|={1,6})?[:：]?$/i
const EXAMPLE =
  /(?:^|[\s(*#])(?:for example|for instance|examples?(?: \d{1,2}| inputs?)?|e\.g\.|zum beispiel|beispiel|例如|示例)[:：,]?(?:\*\*)?[:：]?$/i
const TABLE_DELIMITER = /^[\s|:-]*-[\s|:-]*$/

// things to choose from or to do in order, or that were said or happened in order
const DIRECTIONS =
  /\b(?:steps?|options?|choices?|alternatives?|candidates?|instructions?|rules?|requirements?|tasks?|questions|criteria|guidelines|transcripts?|conversations?|dialog(?:ue)?s?|chats?|messages|logs?|history|timeline|events?|registers?|rows?|matrix|in order)\b/i
const MATERIAL =
  /\b(?:documents?|sources?|passages?|contexts?|results?|chunks?|excerpts?|snippets?|information|material)\b/i

// words that announce lists; `the document:` announces a single document, with rules inside
const ANNOUNCED =
  /(?:^|[^\p{L}])(?:documents|contexts?|passages|sources|results|chunks|excerpts|snippets|articles|dokumente|quellen|kontext|文档|资料|上下文)(?:$|[^\p{L}])/iu
const LONGEST_ANNOUNCEMENT = 120

// a line that announces a list is shorter than this
const LONGEST_HEADING = 200

/**
 * Returns whether the text before a list shows that it is not context: a bibliography, a table, directions, a question.
 */
export function isNoContext(text: string, first: Label): boolean {
  const end = findContentEnd(text, 0, first.start)
  const start = Math.max(text.lastIndexOf('\n', end - 1) + 1, 0)
  // in LlamaIndex's template, `…, as below. For example:` ends a paragraph of instructions
  if (EXAMPLE.test(text.slice(Math.max(start, end - LONGEST_HEADING), end))) return true
  if (end === 0 || end - start > LONGEST_HEADING) return false
  const line = text.slice(start, end)
  if (!first.bare) return false
  if (line.includes('|') && TABLE_DELIMITER.test(line)) return true
  if (DIRECTIONS.test(line) && !MATERIAL.test(line)) return true
  return isAnswered(text, start, end, first)
}

/**
 * Returns whether the line before a list of bare numbers is a heading for notes, such as `References`. Sources may have
 * such a heading too.
 */
export function isOfNotes(text: string, first: Label): boolean {
  const end = findContentEnd(text, 0, first.start)
  const start = text.lastIndexOf('\n', end - 1) + 1
  return first.bare && end > 0 && end - start <= LONGEST_HEADING && BIBLIOGRAPHY.test(text.slice(start, end))
}

/** Returns whether a list follows a question in the same paragraph. It is then what the question is about. */
function isAnswered(text: string, start: number, end: number, first: Label): boolean {
  const isSameParagraph = text.slice(end, first.start).split('\n').length <= 2
  return isSameParagraph && (/[?？]$/.test(text.slice(start, end)) || readCue(text, start)?.question === true)
}

/** Returns whether this line announces blocks, as `Sources:` and `## Retrieved documents` do. */
export function announcesBlocks(text: string, start: number, end: number): boolean {
  if (end - start > LONGEST_ANNOUNCEMENT) return false
  const from = findContentStart(text, start, end)
  const to = findContentEnd(text, from, end)
  // most lines are not headings and do not end with a colon, so they are not copied
  if (text[from] !== '#' && !':：*'.includes(text[to - 1] ?? '')) return false
  const line = text.slice(from, to)
  return ANNOUNCED.test(line) && (/[:：](?:\*\*)?$/.test(line) || /^#{1,6}\s/.test(line))
}
