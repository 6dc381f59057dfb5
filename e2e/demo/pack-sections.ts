import type { MarkdownPart } from './split-markdown.ts'

export type CountTokens = (text: string) => number

/** A part of one document, named by the heading it begins under. */
export type DraftSection = MarkdownPart

const MIN_TOKENS = 150
const MAX_TOKENS = 700
const SCRAP_TOKENS = 50

/** Merges small parts with their neighbours and splits long ones between paragraphs. */
export function packSections(parts: readonly MarkdownPart[], countTokens: CountTokens): DraftSection[] {
  const sections: DraftSection[] = []
  for (const piece of parts.flatMap((part) => splitLong(part, countTokens))) {
    const last = sections.at(-1)
    if (last && belongTogether(last, piece, countTokens)) {
      sections[sections.length - 1] = { headings: last.headings, paragraphs: [...last.paragraphs, ...piece.paragraphs] }
    } else {
      sections.push(piece)
    }
  }
  return sections
}

/** Returns true if either neighbour is too small to stand alone and both fit together, or if either is a scrap. */
function belongTogether(last: DraftSection, next: DraftSection, countTokens: CountTokens): boolean {
  const [before, after] = [countTokens(textOf(last)), countTokens(textOf(next))]
  const smaller = Math.min(before, after)
  return smaller < SCRAP_TOKENS || (smaller < MIN_TOKENS && before + after <= MAX_TOKENS)
}

/** Splits into pieces of about equal size; paragraphs stay whole, even a long one such as a code example. */
function splitLong(part: MarkdownPart, countTokens: CountTokens): DraftSection[] {
  const tokens = countTokens(textOf(part))
  if (tokens <= MAX_TOKENS) return [part]
  const aim = tokens / Math.ceil(tokens / MAX_TOKENS)
  const pieces: DraftSection[] = []
  let paragraphs: string[] = []
  for (const paragraph of part.paragraphs) {
    const onlyHeading = paragraphs.length === 1 && paragraphs[0]!.startsWith('#')
    const size = countTokens(paragraphs.join('\n\n'))
    const grown = size + countTokens(paragraph)
    if (paragraphs.length > 0 && !onlyHeading && (size >= aim || grown > MAX_TOKENS)) {
      pieces.push({ headings: part.headings, paragraphs })
      paragraphs = []
    }
    paragraphs.push(paragraph)
  }
  pieces.push({ headings: part.headings, paragraphs })
  return pieces
}

function textOf(part: MarkdownPart): string {
  return part.paragraphs.join('\n\n')
}
