import { endsInRank } from '../scan/words/ordered-fields.ts'
import { areSteady } from './numbered-heads.ts'

/*
 * Names that differ only in a number and are parts of one source: `report.pdf#2`, `Slide 3`, `page="4"`. Also files
 * numbered in reading order: `0003_users.sql`, `02-setup.md`. `doc-3.md` is an ordinary name.
 */

const LONGEST_NAMES = 300
const NUMBERS = /\d+/g
// words that number the parts of one source when they come before the number
const PART =
  /(?:^|[^\p{L}])(?:parts?|pages?|p|pp|page_?labels?|page_?number|chapters?|ch|sections?|sec|slides?|volumes?|vol|episodes?|ep|lessons?|modules?|units?|steps?|paragraphs?|para|verses?|articles?|art|clauses?|lines?|frames?|rows?|records?|chunks?|patch|rev|version|v|migrations?|q|draft|minutes|meetings?|sessions?|visits?|acts?|scenes?|days?|weeks?|months?|years?|seasons?|rounds?|phases?|stages?|sprints?|layers?|levels?|books?|appendix|annex|exhibits?|attachments?|sitzung|entwurf|teil|seite|kapitel|abschnitt|partie|chapitre|capítulo|parte|página|часть|страница|глава|第|页|章|部分|ページ)[\s_:=."'#-]*$/iu
const FRAGMENT = /#[^#/\s]{0,24}$/
// a year, or a date
const YEAR = /^(?:19|20)\d\d(?:[01]\d(?:[0-3]\d)?)?$/
const OF_ALL = /^[ \t]?(?:\/|of|von|de|из|\/)[ \t]?$/
// `V3__users.sql`, `0003_users.sql`, `02-setup.md`, at the beginning of a file name
const NUMBERED_FILE = /(?:^|[\s/\\"'`:[(])v?(\d{1,14})(?:__|[_-])(?=\p{L})[\p{L}\p{N}._-]*\.\p{L}/iu

/** Returns whether these names of sources number them through one source, or as files in reading order. */
export function areNumberedNames(names: readonly string[]): boolean {
  const own = names.map((name) => name.slice(0, LONGEST_NAMES))
  return own.length > 1 && (areParts(own) || areNumberedFiles(own))
}

function areNumberedFiles(names: readonly string[]): boolean {
  const numbers: number[][] = []
  for (const name of names) {
    const number = NUMBERED_FILE.exec(name)?.[1]
    if (number === undefined) return false
    numbers.push([Number(number)])
  }
  return areSteady(numbers)
}

function areParts(names: readonly string[]): boolean {
  const words = names[0]!.split(/\d+/)
  const numbers = names.map((name) => name.match(NUMBERS) ?? [])
  if (numbers[0]!.length === 0) return false
  const skeleton = words.join('\0')
  if (!names.every((name) => name.split(/\d+/).join('\0') === skeleton)) return false
  const varying = numbers[0]!.map((_, i) => i).filter((i) => numbers.some((own) => own[i] !== numbers[0]![i]))
  const own = varying.filter((i) => !endsInRank(words.slice(0, i + 1).join('')))
  const isPart = own.some((i) => isPartOf(words, i, numbers))
  return isPart && own.every((i) => areSteady(numbers.map((values) => [Number(values[i])])))
}

/** Returns whether the number after `words[i]` numbers the parts of one source. */
function isPartOf(words: readonly string[], i: number, numbers: readonly (readonly string[])[]): boolean {
  const before = words[i]!
  if (PART.test(before) || FRAGMENT.test(before)) return true
  if (numbers[0]!.length > i + 1 && OF_ALL.test(words[i + 1]!)) return true
  if (numbers.every((own) => YEAR.test(own[i]!))) return true
  return numbers.some((own) => own[i]!.length > 1 && own[i]!.startsWith('0') && !before.endsWith('.'))
}
