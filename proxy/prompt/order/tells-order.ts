import type { BlockSpan } from '../context-list.ts'
import { toAsciiDigits } from '../scan/words/digits.ts'
import { endsInRank } from '../scan/words/field-names.ts'

/*
 * What a list shows of its order: dates, times or numbers that rise or fall from text to text. Search results are
 * sorted by rank, so their dates and numbers do neither, unless there are few of them.
 */

const LONGEST_HEAD = 120
// a date, a time or a number, read as its numbers from left to right
const NUMBERS = /[\s\p{P}]{0,3}\d{1,14}(?:[-./:T, 年月日]{1,2}\d{1,6}){0,6}/uy
// `3.md` and `a/3` are names, `40 %` is an amount, and `3 ways` is a number of things
const NO_PLACE = /^(?:\.?\p{L}|[ ]?%|\.\d)/u
const BARE =
  /^(?:[ \t]*(?:\n|$)|[.):：\]/]|[ \t]*[-–—:：|]|[\p{Script=Han}\p{Script=Hangul}]|[. ]{1,2}(?:de |of )?\p{L}{3,10}\.?,? (?:de |del )?\d{4}(?!\d))/u
// `doc3` is a name, and a key identifies a text, but not its position
const OF_NAME =
  /:\/\/|(?<!(?<!\p{L})(?:v|q|h|fy|cy|no|nr|n))(?<=\p{Script=Latin})$|(?:^|[^\p{L}])(?:\p{L}{1,12}[ _-])?(?:id|uuid|key)[ \t]?[:=#>][ \t]?["']?$/iu

/** Returns whether the texts of these blocks begin alike up to numbers that rise or fall through all of them. */
export function tellsOrder(text: string, blocks: readonly BlockSpan[]): boolean {
  const heads = blocks.map(({ contentStart, contentEnd }) => {
    const end = Math.min(contentEnd, contentStart + LONGEST_HEAD)
    return toAsciiDigits(text.slice(contentStart, end).trimStart())
  })
  const prefix = sharedBy(heads).replace(/\d[\d\-.:/T]*$/, '')
  if (OF_NAME.test(prefix) || endsInRank(prefix)) return false
  return areSteady(heads.map((head) => readNumbers(head, prefix.length)))
}

/** Returns whether these values are dates or numbers that rise or fall throughout. */
export function areInOrder(values: readonly string[]): boolean {
  return areSteady(values.map((value) => readNumbers(value, 0)))
}

function readNumbers(head: string, from: number): readonly number[] | undefined {
  NUMBERS.lastIndex = from
  const written = NUMBERS.exec(head)?.[0]
  if (written === undefined) return undefined
  const numbers = written.match(/\d+/g)!.map(Number)
  const behind = head.slice(from + written.length)
  // three numbers or more are a date or a time
  if (numbers.length > 2 || BARE.test(behind)) return numbers
  return (from > 0 || numbers.length > 1) && !NO_PLACE.test(behind) ? numbers : undefined
}

/** Returns whether these all rise or all fall. Of two, one must follow the other, since any two do. */
function areSteady(all: readonly (readonly number[] | undefined)[]): boolean {
  if (all.length < 2 || all.includes(undefined)) return false
  const steps = all.slice(1).map((own, i) => stepBetween(all[i]!, own!))
  if (steps.length === 1 && all[0]!.length === 1) return Math.abs(steps[0]!) === 1
  return steps.every((step) => step > 0) || steps.every((step) => step < 0)
}

/** Returns the first difference from the left; a missing number counts as 0. */
function stepBetween(before: readonly number[], behind: readonly number[]): number {
  for (let i = 0; i < Math.max(before.length, behind.length); i++) {
    const step = (behind[i] ?? 0) - (before[i] ?? 0)
    if (step !== 0) return step
  }
  return 0
}

/** Returns what these texts have in common at their start. */
function sharedBy([first = '', ...others]: readonly string[]): string {
  let shared = first.length
  for (const other of others) while (!other.startsWith(first.slice(0, shared))) shared--
  return first.slice(0, shared)
}
