import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from './pages.ts'

/** A fenced block of a page. */
export interface Snippet {
  readonly page: string
  /** line number in the page of the block's first line, from 1 */
  readonly line: number
  readonly language: string
  /** the nearest heading above the block */
  readonly heading: string
  readonly text: string
}

/** Returns the fenced blocks of a page, given as a path from the checkout's root. */
export function readSnippets(page: string): Snippet[] {
  const snippets: Snippet[] = []
  let heading = ''
  let open: { language: string; line: number; lines: string[] } | undefined
  for (const [i, line] of readFileSync(join(root, page), 'utf8').split('\n').entries()) {
    const fence = /^\s*```(\S*)/.exec(line)
    if (fence && open) {
      snippets.push({ page, heading, line: open.line, language: open.language, text: open.lines.join('\n') })
      open = undefined
    } else if (fence) open = { language: fence[1]!, line: i + 2, lines: [] }
    else if (open) open.lines.push(line)
    else heading = /^#+ (.+)/.exec(line)?.[1] ?? heading
  }
  return snippets
}
