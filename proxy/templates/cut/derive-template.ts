import { commonEdges } from '#index/common-edges.ts'
import type { BlockSpan, ContextList } from '../../prompt/context-list.ts'
import { any, compileTemplate, literalOf, merge, placeNumber, type Template, type TemplatePart } from './template.ts'

const longestSide = 48
const LAST_LINES = /(?:^|\n)([^\n]*\n{0,3})$/
const FIRST_LABEL = /^(?:\s{0,8}<\/[^<>\n]{1,32}>)+|^\s{0,8}[^\n:：>]{0,32}[\n:：>]/

/**
 * Derives the template that wrote a list found in a text from what its blocks have in common; undefined if no literals tell it. It may
 * fit this text alone: what it cuts has to be compared with what else is known of other texts.
 */
export function deriveTemplate(
  text: string,
  { blocks, positional }: Pick<ContextList, 'blocks' | 'positional'>,
): Template | undefined {
  if (blocks.length < 2) return undefined
  const open = commonParts(blocks.map((block) => openingOf(text, block, positional)))
  const closings = blocks.map(({ contentEnd, end }) => text.slice(contentEnd, end).trimStart())
  const joins = blocks.slice(1).map(({ start }, i) => text.slice(blocks[i]!.end, start))
  if (open === undefined || isEndless(open) || !areEqual(closings) || !areEqual(joins)) return undefined
  const [close, join] = [closings[0]!, joins[0]!]
  const literals = open.some((part) => literalOf(part).trim() !== '') || close.trim() !== ''
  if (!literals && join.trim() === '') return undefined
  const [first, last] = [blocks[0]!, blocks.at(-1)!]
  const isEnd = text.slice(last.end).trim() === ''
  // in another text something may follow
  if (isEnd && close.trim() === '') return undefined
  const front = LAST_LINES.exec(text.slice(Math.max(0, first.start - longestSide), first.start))?.[1] ?? ''
  const label = FIRST_LABEL.exec(text.slice(last.end, last.end + longestSide))?.[0] ?? ''
  return compileTemplate({
    before: text.slice(0, first.start).trim() === '' ? 'start' : [front],
    open,
    close: [close],
    join,
    after: isEnd ? 'end' : label.trim() === '' ? undefined : [label],
  })
}

/**
 * What stands in front of a block's content: strings, with its number between them if it counts. White space beside a
 * content may be the document's own, and is left out.
 */
function openingOf(text: string, { start, contentStart, label }: BlockSpan, positional: boolean): string[] {
  if (!positional || !label || label.end > contentStart) return [text.slice(start, contentStart).trimEnd()]
  return [text.slice(start, label.start), text.slice(label.end, contentStart).trimEnd()]
}

/** Joins what all openings have in common; what differs within a line becomes `any`. */
function commonParts(openings: readonly (readonly string[])[]): readonly TemplatePart[] | undefined {
  const parts: TemplatePart[] = []
  for (let i = 0; i < openings[0]!.length; i++) {
    const pieces = openings.map((opening) => opening[i]!)
    const [first] = pieces as [string]
    if (i > 0) parts.push(placeNumber)
    if (areEqual(pieces)) {
      parts.push(first)
      continue
    }
    const { start, end } = commonEdges(pieces)
    const hasLine = pieces.some((piece) => piece.slice(start, piece.length - end).includes('\n'))
    if (hasLine || start === 0) return undefined
    parts.push(first.slice(0, start), any, first.slice(first.length - end))
  }
  return merge(parts)
}

/** Whether a part that may be anything within one line has no literal behind it that ends it. */
function isEndless(parts: readonly TemplatePart[]): boolean {
  return parts.some((part, i) => part === any && literalOf(parts[i + 1]) === '')
}

function areEqual(values: readonly string[]): boolean {
  return values.every((value) => value === values[0])
}
