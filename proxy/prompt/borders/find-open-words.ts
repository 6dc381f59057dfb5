import type { ContextList } from '../context-list.ts'
import { readCue } from '../scan/find-cue-line.ts'
import { findContentEnd, findContentStart, findLineEnd, findLineStart, isRule } from '../scan/find-edges.ts'

/** A prompt's words between its documents and its question are fewer than these characters. */
const mostWords = 16_384
// `Helpful answer in German:`
const longestOpening = 60
const closedForms: ReadonlySet<ContextList['form']> = new Set(['tag', 'json', 'quoted', 'fenced', 'memories'])

/** A paragraph behind a list, or what begins with a cue within one. */
interface Passage {
  readonly start: number
  readonly asks: boolean
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
): string | undefined {
  if (isClosed(text, list)) return undefined
  const from = findContentStart(text, list.end, until)
  const to = findContentEnd(text, from, until)
  if (to - from > mostWords) return text.slice(from, from + mostWords)
  const passages = readPassages(text, from, to)
  const [first, ...later] = passages
  if (first === undefined) return undefined
  const asking = later.filter(({ asks }) => asks).at(-1)
  if (first.asks) return asking && text.slice(from, asking.start)
  if (later.length === 0) return askedElsewhere ? text.slice(from, to) : undefined
  return text.slice(from, (asking ?? later.at(-1)!).start)
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

/** Returns the passages of a text, without a last line that the model is to complete. */
function readPassages(text: string, from: number, to: number): Passage[] {
  const passages: Passage[] = []
  let isBehindBlank = true
  for (let line = from; line < to; ) {
    const end = Math.min(findLineEnd(text, line), to)
    const words = text.slice(line, end).trim()
    const cue = words === '' ? undefined : readCue(text, line)
    const asks = cue?.question === true || /[?？]$/.test(words)
    if (words !== '' && !(end === to && isOpening(words, cue))) {
      if (isBehindBlank || cue !== undefined) passages.push({ start: line, asks })
      else if (asks) passages.push({ start: passages.pop()!.start, asks })
    }
    isBehindBlank = words === ''
    line = end + 1
  }
  return passages
}

function isOpening(words: string, cue: ReturnType<typeof readCue>): boolean {
  return (cue?.answer === true && cue.empty) || (words.length <= longestOpening && /[:：]\**$/.test(words))
}
