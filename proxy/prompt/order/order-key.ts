/** A position in some order. Keys of the same kind can be compared. */
export interface OrderKey {
  readonly kind: 'date' | 'time' | 'number'
  readonly value: readonly number[]
}

const MONTHS = [
  'jan(?:uary|uar|vier)?|ene(?:ro)?|jän(?:ner)?',
  'feb(?:ruary|ruar|rero)?|f[ée]v(?:rier)?\\.?',
  'mar(?:ch|s|zo)?|märz',
  'apr(?:il)?|abr(?:il)?|avr(?:il)?',
  'may|mai|mayo',
  'june?|juni|juin|junio',
  'july?|juli|juillet|julio',
  'aug(?:ust)?|août|ago(?:sto)?',
  'sept?(?:ember|embre|iembre)?',
  'oct(?:ober|obre|ubre)?|okt(?:ober)?',
  'nov(?:ember|embre|iembre)?',
  'dec(?:ember)?|dez(?:ember)?|déc(?:embre)?|dic(?:iembre)?',
].map((names) => new RegExp(`^(?:${names})\\.?$`, 'iu'))
const MONTH = '(\\p{L}{3,10})\\.?'
const CLOCK = '(?:[T ,]{1,3}(\\d{1,2}):(\\d\\d)(?::(\\d\\d))?)?'
const DAY_OF_WEEK = '(?:\\p{L}{2,10}\\.?,? (?:the )?)?'

const ISO = new RegExp(`(\\d{4})[-/.](\\d{1,2})(?:[-/.](\\d{1,2}))?(?!\\d)${CLOCK}`, 'uy')
const CHINESE = new RegExp(`(\\d{4})年(\\d{1,2})月(?:(\\d{1,2})日)?${CLOCK}`, 'uy')
const DAY_FIRST = new RegExp(`(\\d{1,2})[./](\\d{1,2})[./](\\d{4}|\\d\\d)(?!\\d)${CLOCK}`, 'uy')
const MONTH_FIRST = new RegExp(`${DAY_OF_WEEK}${MONTH} (\\d{1,2})(?:st|nd|rd|th)?,? (\\d{4})(?!\\d)${CLOCK}`, 'iuy')
const DAY_AND_MONTH = new RegExp(
  `${DAY_OF_WEEK}(\\d{1,2})(?:st|nd|rd|th|er)?\\.? (?:of |de |d')?${MONTH},? (?:de |del )?(\\d{4})(?!\\d)${CLOCK}`,
  'iuy',
)
// `Jun  1 10:00:00 host`, as in system logs
const WITHOUT_YEAR = /(\p{L}{3})[ ]{1,2}(\d{1,2}) (\d\d):(\d\d):(\d\d)/uy
const TIME = /(\d{1,2}):(\d\d)(?::(\d\d))?(?:[.,]\d{1,6})?(?!\d)/y

const SERIAL_NOUNS =
  'chapter|lesson|release|version|part|section|step|day|week|month|year|phase|stage|round|turn|scene|act|verse|canto|episode|season|page|slide|module|unit|lecture|exercise|session|sprint|milestone|volume|book|appendix|rule|clause|paragraph|commit|revision|iteration|entry|question|kapitel|lektion|teil|abschnitt|schritt|tag|woche|folge|seite|chapitre|leçon|partie|étape|jour|semaine|épisode|capítulo|lección|parte|paso|día|semana|episodio|página'
const SERIAL = new RegExp(
  `(?:${SERIAL_NOUNS})[ \\t]{1,3}(?:no\\.?[ ]?|#)?(\\d{1,4}(?:\\.\\d{1,4}){0,3}|[IVXLC]{1,7})(?![\\p{L}\\d])`,
  'iuy',
)
const SERIAL_SIGNS = /第\s?(\d{1,4}|[一二三四五六七八九十百]{1,4})\s?[章节課课話话回部篇幕日周步条條編节巻]/uy
// `v1.2.0`, `1.2 Scope`, `3) Open the lid`
const VERSION = /v(\d{1,4}(?:\.\d{1,4}){1,3})(?![\p{L}\d])/iuy
const OUTLINE = /(?:§ ?)?(\d{1,3}(?:\.\d{1,3}){1,4}|\d{1,3}(?=[.):]))[.):]?[ \t]+(?=\p{L})/uy

// headings, emphasis, bullets and brackets may precede dates
const DECORATION = /(?:\s|[#>*_`|[({«"'-])*(?:(?:date|datum|fecha|日期|time|created|published|updated)\s?[:：]\s?)?/iuy
/** Returns whether these values are dates, times or numbers that rise or fall throughout. */
export function areInOrder(values: readonly string[]): boolean {
  return isMonotone(values, (value) => readKey(value) ?? toPlainNumber(value))
}

function toPlainNumber(value: string): OrderKey | undefined {
  return /^\d{1,15}$/.test(value) ? { kind: 'number', value: [Number(value)] } : undefined
}

const LONGEST_HEAD = 100

/** Returns the order key at the beginning of a text, if there is one. */
export function readKey(head: string): OrderKey | undefined {
  DECORATION.lastIndex = 0
  DECORATION.exec(head)
  const at = DECORATION.lastIndex
  const first = head[at]
  if (first === undefined) return undefined
  return readDate(head, at) ?? readSerial(head, at)
}

function readDate(head: string, at: number): OrderKey | undefined {
  const match = (pattern: RegExp): readonly string[] | undefined => {
    pattern.lastIndex = at
    return pattern.exec(head) ?? undefined
  }
  const [, ...iso] = match(ISO) ?? match(CHINESE) ?? []
  if (iso.length > 0) return toDate(iso[0], Number(iso[1]), iso[2], iso.slice(3))
  const [, day, month, year, ...clock] = match(DAY_FIRST) ?? []
  if (day !== undefined) return toDate(year, Number(month), day, clock)
  const [, named, ofMonth, inYear, ...atTime] = match(MONTH_FIRST) ?? []
  if (named !== undefined && toMonth(named) > 0) return toDate(inYear, toMonth(named), ofMonth, atTime)
  const [, onDay, thatMonth, thatYear, ...then] = match(DAY_AND_MONTH) ?? []
  if (thatMonth !== undefined && toMonth(thatMonth) > 0) return toDate(thatYear, toMonth(thatMonth), onDay, then)
  const [, short, logged, ...time] = match(WITHOUT_YEAR) ?? []
  if (short !== undefined && toMonth(short) > 0) return toDate('0', toMonth(short), logged, time)
  const [, ...clockOnly] = match(TIME) ?? []
  return clockOnly.length === 0 ? undefined : { kind: 'time', value: clockOnly.map((part) => Number(part ?? 0)) }
}

function toMonth(name: string): number {
  return MONTHS.findIndex((month) => month.test(name)) + 1
}

function toDate(
  year: string | undefined,
  month: number,
  day: string | undefined,
  clock: readonly (string | undefined)[],
): OrderKey | undefined {
  if (month < 1 || month > 12) return undefined
  return {
    kind: 'date',
    value: [Number(year), month, Number(day ?? 0), ...[0, 1, 2].map((i) => Number(clock[i] ?? 0))],
  }
}

function readSerial(head: string, at: number): OrderKey | undefined {
  for (const pattern of [SERIAL, SERIAL_SIGNS, VERSION, OUTLINE]) {
    pattern.lastIndex = at
    const number = pattern.exec(head)?.[1]
    if (number !== undefined) return { kind: 'number', value: toNumbers(number) }
  }
  return undefined
}

const ROMAN: Readonly<Record<string, number>> = { I: 1, V: 5, X: 10, L: 50, C: 100 }
const CHINESE_DIGITS = '零一二三四五六七八九'

export function toNumbers(number: string): number[] {
  if (/^\d/.test(number)) return number.split('.').map(Number)
  if (/^[IVXLC]+$/i.test(number)) {
    const digits = [...number.toUpperCase()].map((sign) => ROMAN[sign]!)
    return [digits.reduce((sum, digit, i) => sum + (digit < (digits[i + 1] ?? 0) ? -digit : digit), 0)]
  }
  const [tens, ones] = number.includes('十') ? number.split('十') : ['', number]
  const digit = (sign: string | undefined): number => Math.max(0, CHINESE_DIGITS.indexOf(sign?.at(-1) || '零'))
  return [(number.includes('十') ? 10 * (tens === '' ? 1 : digit(tens)) : 0) + digit(ones)]
}

/**
 * Returns whether these begin with the same words, followed by dates that rise or fall, as in `Minutes of 3 March
 * 2024`.
 */
export function areDatedHeads(heads: readonly string[]): boolean {
  const [first = '', ...others] = heads
  const line = first.slice(0, LONGEST_HEAD).split('\n', 1)[0]!
  let shared = 0
  while (shared < line.length && others.every((head) => head[shared] === first[shared])) shared++
  // `12 May` and `14 May` share their first digit
  while (shared > 0 && /[\p{L}\d]/u.test(first[shared - 1]!)) shared--
  return shared > 0 && isMonotone(heads, (head) => readDate(head, shared))
}

/** Returns whether all items have keys of one kind that rise or fall throughout. Equal keys do neither. */
export function isMonotone<Item>(items: readonly Item[], keyOf: (item: Item) => OrderKey | undefined): boolean {
  let before: OrderKey | undefined
  let direction = 0
  for (const item of items) {
    const key = keyOf(item)
    if (key === undefined || (before !== undefined && key.kind !== before.kind)) return false
    const step = before === undefined ? 0 : Math.sign(compareValues(key.value, before.value))
    if (step * direction < 0) return false
    direction ||= step
    before = key
  }
  return direction !== 0
}

/** Compares from the left; a missing number counts as 0. */
export function compareValues(a: readonly number[], b: readonly number[]): number {
  for (let i = 0; i < Math.max(a.length, b.length); i++) {
    const difference = (a[i] ?? 0) - (b[i] ?? 0)
    if (difference !== 0) return difference
  }
  return 0
}
