import { findContentEnd } from './find-edges.ts'
import type { Label } from './find-labels.ts'

const BIBLIOGRAPHY =
  /^\s*(?:#{1,6}\s+|\*\*)?(?:\d{1,2}\.?\s+)?(?:references|bibliography|works cited|literature(?: cited)?|foot ?notes|end ?notes|notes|citations|further reading|see also|quellen|quellenverzeichnis|literatur|literaturverzeichnis|fußnoten|références|bibliographie|referencias|bibliografía|notas|参考文献|参考资料|注释)\s*[:：]?\s*(?:\*\*)?[:：]?$/i
const EXAMPLE =
  /(?:^|[\s(*#])(?:for example|for instance|examples?(?: \d{1,2}| inputs?)?|e\.g\.|zum beispiel|beispiel|例如|示例)[:：,]?(?:\*\*)?[:：]?$/i
const TABLE_DELIMITER = /^[\s|:-]*-[\s|:-]*$/

// a line that announces a list is short
const LONGEST_HEADING = 200

/** Whether the line in front of a list says that it is no context: a bibliography, an example or a table. */
export function isNoContext(text: string, first: Label): boolean {
  const end = findContentEnd(text, 0, first.start)
  const start = Math.max(text.lastIndexOf('\n', end - 1) + 1, 0)
  if (end === 0 || end - start > LONGEST_HEADING) return false
  const line = text.slice(start, end)
  if (EXAMPLE.test(line)) return true
  return first.bare && (BIBLIOGRAPHY.test(line) || (line.includes('|') && TABLE_DELIMITER.test(line)))
}
