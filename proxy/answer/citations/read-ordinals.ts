import type { Span } from '../../common/json/json-spans.ts'
import type { CitationLabels, Labels } from './citation-labels.ts'
import { Lookahead } from './lookahead.ts'
import { chinese, english, suffixes } from './ordinals.ts'

const BEFORE = /(?:^|[^\p{L}])the $/iu
const joints = [', and the ', ' and the ', ' or the ', ', and ', ', ', ' and ', ' or ']
const mostOrdinals = 4
// `the first document to mention salt`, `the second source of income`
const others = new Set('of to that which ever'.split(' '))

/** Ordinals, the labels that they cite, and where the noun behind them ends. */
interface Ordinals {
  readonly numbers: readonly Span[]
  readonly cited: Labels | undefined
  readonly end: number
}

/**
 * Reads `second document` or `2nd and 3rd documents`, where labels have this noun, as `Document 2:`; `line` is the text
 * before it.
 */
export function readOrdinals(ahead: Lookahead, labels: CitationLabels, line: string): Ordinals | undefined {
  if (!BEFORE.test(line)) return undefined
  const numbers: Span[] = []
  do {
    const start = ahead.at
    if (!english.some((word) => ahead.take(word)) && !takeWithSuffix(ahead)) return undefined
    numbers.push({ start, end: ahead.at })
  } while (numbers.length < mostOrdinals && joints.some((joint) => ahead.take(joint)))
  if (!ahead.take(' ')) return undefined
  const noun = ahead.peekWord(0)
  const name = labels.nounAt(noun)
  if (!name?.isOwn || name.length < noun.length || (name.isPlural && numbers.length === 1)) return undefined
  ahead.at += noun.length
  const end = ahead.at
  const isOther = /\p{L}/u.test(ahead.peek()) || (ahead.peek() === ' ' && others.has(ahead.peekWord(1)))
  return isOther ? undefined : { numbers, cited: name.cited, end }
}

const OF_DOCUMENT = new RegExp(`[Tt]he (?:${english.join('|')}) `, 'g')

/** Whether a whole text has an ordinal and the noun behind it. A search of its own is thirty times as fast here. */
export function holdsOrdinal(text: string, labels: CitationLabels): boolean {
  return [...text.matchAll(OF_DOCUMENT)].some(({ index }) =>
    readOrdinals(new Lookahead(text, index + 'the '.length, true), labels, 'the '),
  )
}

function takeWithSuffix(ahead: Lookahead): boolean {
  return ahead.skip('0123456789', 2) > 0 && suffixes.some((suffix) => ahead.take(suffix))
}

/** Steps over the numeral of `第二个文档`; returns where it is. */
export function takeChineseOrdinal(ahead: Lookahead): Span | undefined {
  const start = ahead.at
  return ahead.skip(chinese.join(''), 2) === 1 ? { start, end: ahead.at } : undefined
}
