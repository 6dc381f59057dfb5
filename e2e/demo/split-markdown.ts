/** The text between one heading and the next. */
export interface MarkdownPart {
  /** The headings above and including this one, outermost first; empty before the first heading. */
  readonly headings: readonly string[]
  /** The part's paragraphs; joined by blank lines they give the source. A code fence is never split. */
  readonly paragraphs: readonly string[]
}

/** Cuts Markdown at its headings. */
export function splitMarkdown(markdown: string): MarkdownPart[] {
  const parts: MarkdownPart[] = []
  const trail: { level: number; title: string }[] = []
  let lines: string[] = []
  const close = (): void => {
    const paragraphs = splitParagraphs(lines)
    if (paragraphs.length > 0) parts.push({ headings: trail.map((heading) => heading.title), paragraphs })
    lines = []
  }
  for (const { line, fenced } of markFences(markdown)) {
    const heading = fenced ? null : /^(#{1,6})\s+(.+?)\s*#*\s*$/.exec(line)
    if (heading) {
      close()
      const level = heading[1]!.length
      while (trail.length > 0 && trail.at(-1)!.level >= level) trail.pop()
      trail.push({ level, title: toPlainTitle(heading[2]!) })
    }
    lines.push(line)
  }
  close()
  return parts
}

function splitParagraphs(lines: readonly string[]): string[] {
  const paragraphs: string[] = []
  let current: string[] = []
  const close = (): void => {
    if (current.length > 0) paragraphs.push(current.join('\n'))
    current = []
  }
  for (const { line, fenced } of markFences(lines.join('\n'))) {
    if (line.trim() === '' && !fenced) close()
    else current.push(line.trimEnd())
  }
  close()
  return paragraphs
}

/** Yields each line and whether it belongs to a code fence, including the fence's opening and closing lines. */
function* markFences(markdown: string): Generator<{ line: string; fenced: boolean }> {
  let open: string | undefined
  for (const line of markdown.split(/\r?\n/)) {
    // accepts any indentation, because the documents indent fences inside lists
    const fence = /^\s*(`{3,}|~{3,})(.*)$/.exec(line)
    if (open === undefined) {
      open = fence?.[1]
      yield { line, fenced: open !== undefined }
    } else {
      yield { line, fenced: true }
      if (fence && fence[2]!.trim() === '' && fence[1]!.startsWith(open)) open = undefined
    }
  }
}

function toPlainTitle(heading: string): string {
  return heading
    .replace(/<[^>]*>/g, '')
    .replace(/!\[[^\]]*\]\([^)]*\)/g, '')
    .replace(/\[([^\]]*)\](\([^)]*\))?/g, (whole, text, target) => (target === undefined ? whole : text))
    .replace(/[`*]/g, '')
    .replace(/\s+/g, ' ')
    .trim()
}
