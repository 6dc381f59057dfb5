import { WordPattern } from '../../scan/words/word-pattern.ts'
import { languages, type PlaceWords, unspaced, unspacedEach } from './place-tables.ts'

/** A noun found in a text, with the languages it belongs to. */
interface FoundNoun {
  readonly index: number
  readonly languages: readonly CompiledWords[]
}

interface CompiledWords {
  /** matched against the text before a noun */
  readonly before: RegExp | undefined
  /** matched from the noun on */
  readonly behind: RegExp | undefined
  readonly each: RegExp | undefined
}

// Hindi vowels are marks
const LETTERS = '[\\p{L}\\p{M}]'
const START = '(?<![\\p{L}\\p{N}])'
// articles that are joined to the noun
const ARTICLE = '(?:ال|ה)?'

const compiled = languages.map(({ ordinals, side, each }): CompiledWords => {
  const before = new RegExp(`${START}(?:${ordinals})${LETTERS}*(?:[ \\t-]+${LETTERS}+){0,2}[ \\t-]+$`, 'u')
  const behind = new RegExp(`^${LETTERS}+(?: ${LETTERS}+)?[ \\t]+(?:${ordinals})`, 'u')
  return {
    before: side === 'behind' ? undefined : before,
    behind: side === 'before' ? undefined : behind,
    each: each === undefined ? undefined : new RegExp(`${START}(?:${each})[ \\t]+${ARTICLE}$`, 'u'),
  }
})

const stems = [...new Set(languages.flatMap(({ nouns }) => nouns.split('|')))]
// the longest stem matches, and it may begin with shorter stems of other languages
const languagesOf: ReadonlyMap<string, readonly CompiledWords[]> = new Map(
  stems.map((stem) => [
    stem,
    compiled.filter((_, i) => languages[i]!.nouns.split('|').some((noun) => stem.startsWith(noun))),
  ]),
)

function toNounPattern(scripts: readonly PlaceWords['script'][]): RegExp {
  const own = languages.filter(({ script }) => scripts.includes(script)).flatMap(({ nouns }) => nouns.split('|'))
  return new RegExp([...new Set(own)].sort((a, b) => b.length - a.length).join('|'), 'g')
}

const latinNouns = toNounPattern(['latin'])
const allNouns = toNounPattern(['latin', 'cyrillic', 'arabic', 'other'])
const OTHER_SCRIPTS = /[\u0370-\u052f\u0590-\u06ff\u0900-\u09ff]/
// words that need no noun behind or before them
const callingAlone = new WordPattern(
  [...unspaced, `${START}(?:${languages.flatMap(({ alone }) => alone ?? []).join('|')})`].join('|'),
  'u',
)
const eachAlone = new WordPattern(
  [...unspacedEach, `${START}(?:${languages.flatMap(({ inTurn }) => inTurn ?? []).join('|')})(?!\\p{L})`].join('|'),
  'u',
)
const NUMBER_BEHIND = new RegExp(
  `^${LETTERS}+(?: ${LETTERS}+)?[ \\t]?(?:[_#.:([-]|n\\.?[º°o]\\.?|nr\\.?|№|номер|numara|numéro|número|numero|nummer|numer|số|رقم|شماره|संख्या|αριθμός|หมายเลข)?[ \\t]?(\\d{1,4})(?![\\d%]|[.,]\\d)`,
  'u',
)

const WIDEST = 48
const MOST_NOUNS = 500

/** Yields the nouns of all languages in a lower-case text, for checks of the words around them. */
function* findNouns(text: string): Generator<FoundNoun> {
  let count = 0
  for (const { 0: noun, index } of text.matchAll(OTHER_SCRIPTS.test(text) ? allNouns : latinNouns)) {
    if (++count > MOST_NOUNS) return
    yield { index, languages: languagesOf.get(noun)! }
  }
}

/** Returns whether a lower-case text refers to one of several texts by position, in any language but English. */
export function callsByPlace(text: string): boolean {
  if (callingAlone.test(text)) return true
  for (const { index, languages: own } of findNouns(text)) {
    const front = text.slice(Math.max(index - WIDEST, 0), index)
    const on = text.slice(index, index + WIDEST)
    if (own.some(({ before, behind }) => before?.test(front) || behind?.test(on))) return true
  }
  return false
}

/** Whether a lower-case text refers to each of several texts or to one after the other, except in English. */
export function holdsEachOne(text: string): boolean {
  if (eachAlone.test(text)) return true
  for (const { index, languages: own } of findNouns(text)) {
    const front = text.slice(Math.max(index - WIDEST, 0), index)
    if (own.some(({ each }) => each?.test(front))) return true
  }
  return false
}

/** Yields the numbers after words for a text, as in `документ 2`, in a lower-case text. */
export function* findNumbered(
  text: string,
): Generator<{ readonly number: string; readonly start: number; readonly end: number }> {
  for (const { index } of findNouns(text)) {
    const match = NUMBER_BEHIND.exec(text.slice(index, index + WIDEST))
    if (match !== null) yield { number: match[1]!, start: index, end: index + match[0].length }
  }
}
