import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from './pages.ts'

/** A fenced block of a page. */
export interface Snippet {
  readonly page: string
  /** of the page, where the block's first line stands; from 1 on */
  readonly line: number
  readonly language: string
  /** the nearest heading above */
  readonly heading: string
  readonly text: string
}

/** The fenced blocks of a page, named from the checkout's root. */
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
