import type { BlockSpan } from '../judge/context-list.ts'

const OPEN = 123
const CLOSE = 125
// in mid-code a piece begins with what closes, or deeper than a file does
const CLOSING = '})]'
const BLANK = ' \t'

/**
 * Whether these are pieces of one source file, in order: some close braces that only those in front of them opened, and
 * no brace is closed that none opened. Pieces of different files do that by chance alone.
 */
export function areCutCode(text: string, blocks: readonly BlockSpan[]): boolean {
  if (!blocks.slice(1).some((block) => beginsInside(text, block))) return false
  let depth = 0
  let closing = 0
  for (const { contentStart, contentEnd } of blocks) {
    let own = 0
    let least = 0
    for (let at = contentStart; at < contentEnd; at++) {
      const code = text.charCodeAt(at)
      if (code === OPEN) own++
      else if (code === CLOSE && --own < least) least = own
    }
    if (depth + least < 0) return false
    if (least < 0) closing++
    depth += own
  }
  return closing > 0
}

function beginsInside(text: string, { start, contentStart }: BlockSpan): boolean {
  let at = contentStart
  while (BLANK.includes(text[at] ?? '{')) at++
  if (CLOSING.includes(text[at] ?? '{')) return true
  // deeper than its line begins
  let line = at
  while (line > start && BLANK.includes(text[line - 1]!)) line--
  return line < at && text[line - 1] === '\n'
}
