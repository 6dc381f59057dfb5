import { groupBy } from '#index/group-by.ts'
import { isKin } from '../scan/find-elements.ts'
import { matchesOf } from '../scan/words/matches-of.ts'
import { isLabelNoun } from '../scan/words/read-noun.ts'

// one numbered line per block: `1: positive`, `Summary 2: …`, `Label 3 - …`, and `[1] https://…` below documents with such numbers
const NUMBERED =
  /^[ \t]*(?:[-*#>]{1,6}[ \t]*)?(?:\**(?:(\p{L}[\p{L} ]{0,30}?)[ \t]?#?)?(\d{1,4})\**[ \t]?[:：=]|([[【(])(\d{1,4})[\])】]:?[ \t]*\S)/gmu
// `Sources:`, `Summaries of these documents:`, above items without a word of their own
const OF_EACH =
  /(?<!\p{L})(?:translations?|summar(?:y|ies)|titles?|names|sources?|authors?|dates?|scores?|ratings?|labels?|urls?|links?|captions?|übersetzung(?:en)?|quellen|titel|traductions?|titres|fuentes|títulos|traducciones)(?!\p{L})[^\n]{0,40}[:：][ \t]*\n+((?:[ \t]*(?:[-*•]|\d{1,3}[.)])[ \t][^\n]*\n*){2,500})/giu
const ITEM = /^[ \t]*(?:[-*•]|\d{1,3}[.)])[ \t]/gm
// `Authors: Ann, Bob and Carl`, in one line
const INLINE =
  /(?:^|[.!?] )(?![^\S\n\r\u2028\u2029]*(?:valid|allowed|available|supported|possible|options|choices|languages|e\.g)\b)[^\n.!?:：]{3,60}[:：][ \t]?([^\n:：]{3,400}?)(?=[.。]?(?:\n|$)|[.。] )/gimu
// `They are from Ann, Bob and Carl`
const NAME = '[\\p{Lu}\\d][\\p{L}\\p{N}.’-]{0,30}(?: [\\p{Lu}\\d][\\p{L}\\p{N}.’-]{0,30}){0,2}'
const NAMED = new RegExp(
  `(?<!\\p{L})(?:[Tt]hey|[Tt]hese|[Ss]ie|[Ii]ls|[Ee]llos|[Dd]o[ck]ument[se]|[Ss]ources|[Tt]exts|[Aa]uthors|[Tt]itles|[Pp]ublishers|[Pp]assages|[Aa]rticles) (?:\\p{Ll}+ ){1,4}((?:${NAME}, ){1,30}${NAME},? (?:and|und|et|y|e|и|och|og|en|i) ${NAME})`,
  'gu',
)
// `Output four numbers`
const COUNTED =
  /(?<!(?:at most|up to|than|at least|within|max(?:imum)?(?: of)?) )(?<![\p{L}\d.])(\d{1,2}|two|three|four|five|six|seven|eight|nine|ten) (?:\p{Ll}[\p{Ll}/-]{1,20} )?(?:numbers|letters|titles|labels|scores|ratings|grades|characters|keywords|summaries|headings|captions|verdicts)(?!\p{L}| at most| or (?:fewer|less))/giu
const numerals = 'two three four five six seven eight nine ten'.split(' ')
const LONGEST_MEMBER = 40
const SHORTEST_INLINE = 3

const OPENING = /<([A-Za-z][\w-]{0,40})(?:\s[^<>\n]{0,200})?>/g

/**
 * Returns the sizes of the lists in these words: lines of one name that count up from 1 (or 0), elements of one name,
 * items below a line such as `Sources:`, and values asked for by their count. If there are equally many documents, each member belongs to one of them by position.
 */
export function findParallelLists(words: string): ReadonlySet<number> {
  const elements = [...matchesOf(OPENING, words)].filter(([, name]) => !isKin(name!.toLowerCase()))
  const counts = [
    ...countLines(words),
    ...[...groupBy(elements, ([, name]) => name).values()].map(({ length }) => length),
    ...[...matchesOf(OF_EACH, words)].map(([, items]) => items!.match(ITEM)!.length),
    ...[...matchesOf(INLINE, words), ...matchesOf(NAMED, words)].map(([, members]) => countMembers(members!)),
    ...[...matchesOf(COUNTED, words)].map(([, count]) => Number(count) || numerals.indexOf(count!.toLowerCase()) + 2),
  ]
  return new Set(counts.filter((count) => count > 1))
}

function countLines(words: string): number[] {
  const runs = new Map<string, { readonly from: number; readonly next: number }>()
  for (const [, name = '', own, bracket, bracketed] of matchesOf(NUMBERED, words)) {
    // citation examples number documents too
    if (isLabelNoun(name)) continue
    const [key, number] = [bracket ? '[' : name.toLowerCase(), Number(own ?? bracketed)]
    const { from, next } = runs.get(key) ?? { from: number, next: number }
    if (number === next && from < 2) runs.set(key, { from, next: next + 1 })
  }
  return [...runs.values()].map(({ from, next }) => next - from)
}

/** Returns how many short members a list in one line has; 0 if it is none. */
function countMembers(members: string): number {
  const apart = members.split(/[;；]/)
  const parts = apart.length > 1 ? apart : members.split(/[,，、]| (?:and|und|et|y|e|и|och|og|en|i) /)
  const named = parts.map((part) => part.trim()).filter((part) => part !== '')
  return named.length >= SHORTEST_INLINE && named.every(({ length }) => length <= LONGEST_MEMBER) ? named.length : 0
}
