import { findContentEnd, findContentStart, findLineStart } from './find-edges.ts'
import type { Label } from './labels/label.ts'

const BIBLIOGRAPHY =
  /^\s*(?:#{1,6}\s+|\*\*|={1,6}\s*)?(?:\d{1,2}\.?\s+)?(?:references|bibliography|works cited|literature(?: cited)?|foot ?notes|end ?notes|notes|citations|further reading|see also|quellen|quellenverzeichnis|literatur|literaturverzeichnis|fußnoten|références|bibliographie|referencias|bibliografía|notas|参考文献|参考资料|注释)\s*[:：]?\s*(?:\*\*|={1,6})?[:：]?$/i
// words that announce lists; `the document:` announces a single document, with rules inside
const ANNOUNCED =
  /(?:^|[^\p{L}])(?:documents|contexts?|passages|sources|results|chunks|excerpts|snippets|articles|dokumente|quellen|kontext|文档|资料|上下文)(?:$|[^\p{L}])/iu
const LONGEST_ANNOUNCEMENT = 120

// a line that announces a list is shorter than this
const LONGEST_HEADING = 200

/**
 * Returns whether the line before a list of bare numbers is a heading for notes, such as `References`. Sources may have
 * such a heading too.
 */
export function isOfNotes(text: string, first: Label): boolean {
  const end = findContentEnd(text, 0, first.start)
  const start = text.lastIndexOf('\n', end - 1) + 1
  return first.bare && end > 0 && end - start <= LONGEST_HEADING && BIBLIOGRAPHY.test(text.slice(start, end))
}

/** Returns whether the line that ends here announces blocks, as `Sources:` and `## Retrieved documents` do. */
export function announcesBlocks(text: string, end: number): boolean {
  // a whole prompt may be one line of many elements
  const start = findLineStart(text, end, LONGEST_ANNOUNCEMENT)
  if (end - start > LONGEST_ANNOUNCEMENT) return false
  const from = findContentStart(text, start, end)
  const to = findContentEnd(text, from, end)
  // most lines are not headings and do not end with a colon, so they are not copied
  if (text[from] !== '#' && !':：*'.includes(text[to - 1] ?? '')) return false
  const line = text.slice(from, to)
  return ANNOUNCED.test(line) && /[:：](?:\*\*)?$|^#{1,6}\s/.test(line)
}
