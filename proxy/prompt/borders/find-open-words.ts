import { type ContextList, toRows } from '../context-list.ts'
import { type Cue, readCue } from '../scan/find-cue-line.ts'
import { findContentEnd, findContentStart, findLineEnd, findLineStart, holdsWord, isRule } from '../scan/find-edges.ts'
import { isInstruction, isOpening } from './prompt-lines.ts'

/** Of longer text behind a list, nobody knows where the words in front of the question end. */
const mostWords = 16_384
const closedForms: ReadonlySet<ContextList['form']> = new Set(['tag', 'json', 'quoted', 'fenced', 'memories'])

// tags, and the sign of an item
const SIGNS = /<[^<>]{1,40}>|^[ \t]*[-*•] /g
const TITLE = /^(?:#{1,6} .{1,60}|([-=*])\1{1,2} ?[^-=*]{1,40}\1{2,3})$/

/** Words between a list and its question. */
export interface OpenWords {
  readonly words: string
  /** where they end; undefined if nobody knows, since they are long */
  readonly end: number | undefined
}

/**
 * Returns the words between a list and `until` that may be its last block's, if no mark closes that block: what stands in
 * front of the question although the question is not the first thing that follows. Undefined if there are none.
 * `askedElsewhere`: the question may be in another message, so that all that follows may be the block's.
 */
export function findOpenWords(
  text: string,
  list: ContextList,
  until: number,
  askedElsewhere: boolean,
): OpenWords | undefined {
  if (isClosed(text, list)) return undefined
  const from = findContentStart(text, list.end, until)
  const to = findContentEnd(text, from, until)
  const wordsTo = (end: number): OpenWords => ({ words: text.slice(from, end), end: findContentEnd(text, from, end) })
  if (to - from > mostWords) return { words: text.slice(from, from + mostWords), end: undefined }
  const lines = [...readLines(text, from, to)]
  const end = lines.at(-1)
  if (end && isOpening(end.words, end.cue)) lines.pop()
  // a passage is a paragraph, or what begins with a cue within one
  const [first, ...later] = toRows(
    lines,
    (before, { isBehindBlank, cue }) => isTitle(before) || !(isBehindBlank || cue),
  )
  if (first === undefined || first.some(isOfPrompt)) return undefined
  const asking = later.findLast((passage) => passage.some(asks))
  if (first.some(asks)) return asking && wordsTo(asking[0].start)
  if (later.length === 0) return askedElsewhere ? wordsTo(to) : undefined
  return wordsTo((asking ?? later.at(-1)!)[0].start)
}

/** Whether a mark shows where the last block ends: its own closing, the list's, or the rule that opened the list. */
function isClosed(text: string, { form, blocks, end }: ContextList): boolean {
  const last = blocks.at(-1)!
  if (closedForms.has(form) || end > last.end || text.slice(last.contentEnd, last.end).trim() !== '') return true
  const start = findContentStart(text, end, text.length)
  const line = text.slice(start, findLineEnd(text, start)).trim()
  if (!isRule(line, 0, line.length)) return false
  const above = findContentEnd(text, 0, blocks[0]!.start)
  return text.slice(findLineStart(text, above, line.length), above).trim() === line
}

/** A line with words in it; `words` is the line without tags and the sign of an item. */
interface Line {
  readonly start: number
  readonly words: string
  readonly isBehindBlank: boolean
  readonly cue: Cue | undefined
}

/** Returns the lines of a text. Rules, and tags for line breaks, are none. */
function* readLines(text: string, from: number, to: number): Generator<Line> {
  let isBehindBlank = true
  for (let start = from; start < to; start = findLineEnd(text, start) + 1) {
    const line = text.slice(start, Math.min(findLineEnd(text, start), to))
    const words = line.replace(SIGNS, '').trim()
    const isBlank = !holdsWord(words)
    if (!isBlank) yield { start, words, isBehindBlank, cue: readCue(text, start) }
    isBehindBlank = isBlank
  }
}

function asks({ words, cue }: Line): boolean {
  return cue?.question === true || '?？'.includes(words.at(-1)!)
}

/** Whether a line speaks to the model, of the documents or the answer. */
function isOfPrompt({ words, cue }: Line): boolean {
  return isInstruction(words) || cue?.kind.startsWith('the above ') === true
}

/** Whether a line only announces the next one: `### Query:`, `---Goal---`. */
function isTitle({ words, cue }: Line): boolean {
  return cue?.empty === true || TITLE.test(words)
}
