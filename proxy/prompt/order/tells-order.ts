import { commonStart } from '#index/common-edges.ts'
import { toAsciiDigits } from '../../common/digits.ts'
import type { BlockSpan } from '../context-list.ts'
import { endsInRank } from '../scan/words/field-names.ts'
import { areSteady, type Position, readDate, readNumber } from './read-position.ts'

/*
 * What a list shows of its order: dates, times or numbers that rise or fall from text to text. Search results are
 * sorted by rank, so their dates and numbers do neither, unless there are few of them.
 */

const LONGEST_HEAD = 120
const WORD = /(?<![\p{L}\p{N}])[\p{L}\p{N}]/gu
// `3.md` and `a/3` are names, `40 %` is an amount, and `3 ways` is a number of things
const NO_PLACE = /^(?:\.?\p{L}|[ ]?%|\.\d)/u
// what a number counts, behind it
const COUNTED = /^[年月日章节節页頁回部条條課课话話년월일장절회과화]/u
const BARE = new RegExp(`^(?:[ \\t]*(?:\\n|$)|\\t| {2}|[.):：\\]/]|[ \\t]*[-–—:：|])|${COUNTED.source}`, 'u')
// `doc3` is a name, `v3`, `Q3` and `FY2021` are not
const NAMED = /(?<!(?<!\p{L})(?:v|q|h|fy|cy|no|nr|n))(?<=\p{Script=Latin})$/iu
// a key identifies a text, but not its position
const OF_ID = /(?:^|[^\p{L}])(?:\p{L}{1,12}[ _-])?(?:id|uuid|key)[ \t]?[:=#>][ \t]?["']?$/iu
// words that number the parts of one source when they come before the number
const PART =
  /(?:^|[^\p{L}])(?:parts?|pages?|pp?|page_?(?:label|number)|chapters?|sections?|slides?|volumes?|episodes?|lessons?|paragraphs?|lines?|rows?|chunks?|steps?|versions?|v|q|drafts?|acts?|scenes?|stages?|phases?|rounds?|weeks?|days?|exhibits?|annex|appendix|teil|akt|seite|kapitel|partie|chapitre|parte|capítulo|página|часть|страница|глава|第|页|章)[\s_:=."'#-]*$|#[^#/\s]{0,24}$/iu
// numbers that are not written in digits
const COUNTS: readonly (readonly string[])[] = [
  'one two three four five six seven eight nine ten',
  'first second third fourth fifth sixth seventh eighth ninth tenth',
  'i ii iii iv v vi vii viii ix x xi xii',
  'a b c d e f g h i j k l m n o p q r s t u v w x y z',
  '一 二 三 四 五 六 七 八 九 十',
].map((words) => words.split(' '))
const OF_ALL = /^[ \t]?(?:\/|of|von|de|из)[ \t]?\d/
// what stands in front of a text: `第一天：`, `Act I`
const FRONT = /^([^:：.\\\n]{1,40})(?:[:：\n]|\\n)/u
const YEAR = /^(?:19|20)\d\d$/

/** Returns whether the texts of these blocks begin with dates, times or numbers that rise or fall through all of them. */
export function tellsOrder(text: string, blocks: readonly BlockSpan[]): boolean {
  const heads = blocks.map(({ contentStart, contentEnd }) =>
    text.slice(contentStart, Math.min(contentEnd, contentStart + LONGEST_HEAD)).trimStart(),
  )
  if (areCounted(heads)) return true
  const fronts = heads.flatMap((head) => FRONT.exec(head)?.[1] ?? [])
  return fronts.length === heads.length && fronts.length > 1 && areNextNames(fronts, commonStart(fronts))
}

/** Returns whether the values of these items are dates, times or numbers that rise or fall throughout. */
export function areInOrder<T>(items: readonly T[], toValue: (item: T) => string): boolean {
  return areSteady(items, (item) => {
    const value = toValue(item)
    return readDate(value, 0) ?? (/^\d{1,15}$/.test(value) ? readNumber(value, 0) : undefined)
  })
}

/** Returns whether each of these texts holds a date, with its day and year, and the first ones rise or fall throughout. */
export function areDated(texts: readonly string[]): boolean {
  const isFull = (date?: Position): boolean => date?.kind === 'date' && date.value[0]! > 0 && date.value[2]! > 0
  return areSteady(texts.map(toAsciiDigits), (text) =>
    Array.from(text.matchAll(WORD), ({ index }) => readDate(text, index)).find(isFull),
  )
}

/** Returns whether these beginnings of texts are alike up to a date or a number that rises or falls. */
function areCounted(written: readonly string[]): boolean {
  if (written.length < 2) return false
  const heads = written.map(toAsciiDigits)
  const shared = commonStart(heads)
  const [head] = heads as [string, ...string[]]
  // `12 May` and `14 May` share a digit, `March` and `May` two letters
  const word = head.slice(0, shared).replace(/[\p{L}\d]+$/u, '').length
  if (areSteady(heads, (one) => readDate(one, word))) return true
  const prefix = head.slice(0, shared).replace(/[\d.]+$/, '')
  if (prefix.includes('://') || OF_ID.test(prefix) || endsInRank(prefix) || NAMED.test(prefix)) return false
  return areSteady(heads, (one) => readPlace(one, prefix))
}

function readPlace(head: string, { length }: string): Position | undefined {
  const number = readNumber(head, length)
  const behind = number === undefined ? '' : head.slice(number.end)
  if (number === undefined || (NO_PLACE.test(behind) && !/^[\p{Script=Han}\p{Script=Hangul}]/u.test(behind)))
    return undefined
  return length > 0 || number.value.length > 1 || BARE.test(behind) ? number : undefined
}

/** Returns whether these names follow each other: `Monday`, `Act two`, `report.pdf#page=3`, `02-setup.md`. */
export function areNumberedParts(written: readonly string[]): boolean {
  if (written.length < 2) return false
  const names = written.map(toAsciiDigits)
  const shared = commonStart(names)
  return areNextNames(names, shared) || areCountedNames(names, shared)
}

/** Whether names differ in days, months or what counts without digits, one after the other. */
function areNextNames(names: readonly string[], shared: number): boolean {
  const prefix = names[0]!.slice(0, shared).replace(/[\p{Script=Latin}\p{Script=Cyrillic}]+$/u, '')
  const valueAt = (name: string, at: number): string =>
    /^[^"'<>()[\]\n|]*/.exec(name.slice(at))![0].trim().toLowerCase()
  const values = names.map((name) => valueAt(name, prefix.length))
  const dateIn = (value: string): Position | undefined => (/^[\p{L}-]+$/u.test(value) ? readDate(value, 0) : undefined)
  // `星期一` and `星期二` share letters, `ログ月曜日` and `ログ火曜日` a word
  const before = prefix.replace(/\p{L}+$/u, '').length
  if (areSteady(values, dateIn) || areSteady(names, (name) => dateIn(valueAt(name, before)))) return true
  const words = values.map((value) => /^(?:\p{Script=Han}|\p{L}+)/u.exec(value)?.[0] ?? '')
  const rests = values.map((value, i) => value.slice(words[i]!.length))
  // `First letter`, `II. Of salt`
  const isSame = rests.every((rest) => (rest !== '' && rest === rests[0]) || /^[.:)] /.test(rest))
  const isPart = PART.test(prefix) || rests.every((rest) => PART.test(rest) && rest === rests[0])
  return (
    (isPart || isSame) &&
    COUNTS.some((counts) => {
      // `a.md` and `b.md` are names
      if (!isPart && counts.length === 26) return false
      const at = words.map((word) => counts.indexOf(word))
      return !at.includes(-1) && [1, -1].some((step) => at.every((place, i) => place === at[0]! + step * i))
    })
  )
}

function areCountedNames(names: readonly string[], shared: number): boolean {
  const prefix = names[0]!.slice(0, shared).replace(/\d+$/, '')
  const numbers = names.map((name) => readNumber(name, prefix.length))
  const [first] = numbers
  if (first === undefined || !areSteady(numbers, (number) => number) || endsInRank(prefix)) return false
  const rests = names.map((name, i) => name.slice(numbers[i]!.end))
  const behind = rests[0]!
  if (rests.every((rest) => /^[_-]{1,2}\p{L}/u.test(rest))) return true
  if (!rests.every((rest) => rest === behind)) return false
  const digits = names.map((name, i) => name.slice(prefix.length, numbers[i]!.end))
  return (
    PART.test(prefix) ||
    OF_ALL.test(behind) ||
    COUNTED.test(behind) ||
    digits.every((own) => YEAR.test(own)) ||
    digits.some((own) => own.startsWith('0') && own.length > 1)
  )
}
