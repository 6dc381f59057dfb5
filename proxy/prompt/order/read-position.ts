import { matchAt } from '../scan/find-edges.ts'

/**
 * A position that a text states: a date, a day of the week, a month, a time of day, an age or a number. Positions of one kind
 * can be compared.
 */
export interface Position {
  readonly kind: 'date' | 'day' | 'month' | 'time' | 'age' | 'number'
  readonly value: readonly number[]
}

const MONTHS =
  'jan ene gen янв ينا 一月|feb fev fév фев فبر 二月|mar mär мар مار 三月|apr avr abr апр أبر 四月|may mai mag май мая ماي 五月|jun juin giu июн يوني 六月|jul juil lug июл يولي 七月|aug ago aoû авг أغس 八月|sep set сен سبت 九月|oct okt ott out окт أكت 十月|nov ноя نوف 十一月|dec dez dic déc дек ديس 十二月'
    .split('|')
    .map((names) => names.split(' '))
/** The days of the week, and how they are cut short in front of a mark. */
const DAYS = [
  'monday montag lundi lunes lunedì segunda-feira maandag понедельник 星期一 周一 月曜日 월요일 الاثنين|mon mo пн',
  'tuesday dienstag mardi martes martedì terça-feira dinsdag вторник 星期二 周二 火曜日 화요일 الثلاثاء|tues tue di вт',
  'wednesday mittwoch mercredi miércoles mercoledì quarta-feira woensdag среда 星期三 周三 水曜日 수요일 الأربعاء|weds wed mi ср',
  'thursday donnerstag jeudi jueves giovedì quinta-feira donderdag четверг 星期四 周四 木曜日 목요일 الخميس|thurs thu do чт',
  'friday freitag vendredi viernes venerdì sexta-feira vrijdag пятница 星期五 周五 金曜日 금요일 الجمعة|fri fr пт',
  'saturday samstag samedi sábado sabato zaterdag суббота 星期六 周六 土曜日 토요일 السبت|sat sa сб',
  'sunday sonntag dimanche domingo domenica zondag воскресенье 星期日 星期天 周日 日曜日 일요일 الأحد|sun so вс',
].map((names) => names.split('|').map((kind) => kind.split(' ')))
const namesOf = (kind: number): string => DAYS.flatMap((kinds) => kinds[kind]!).join('|')
const DAY = new RegExp(`((?:${namesOf(0)})(?!\\p{L})|(?:${namesOf(1)})(?=[.,:：]))\\.?,?[ ]{0,2}`, 'iuy')
const MONTH_ALONE = /(\p{L}{2,10})\.?(?=[ \t]*(?:[:：\n–—-]|$))/iuy
const MONTH = '(\\p{L}{3,10})\\.?'
const CLOCK = '(?:[T ,]{1,3}(\\d{1,2}):(\\d\\d)(?::(\\d\\d))?)?'
const DATE = new RegExp(
  [
    '(?:(\\d{4})(?:[-/.年]|년 ?)(\\d{1,2})(?:(?:[-/.月]|월 ?)(\\d{1,2})[日일]?)?(?!\\d)',
    '(\\d{1,2})[./](\\d{1,2})[./](\\d{4}|\\d\\d)(?!\\d)',
    `${MONTH}[ ]{1,2}(?:(\\d{4})(?!\\d)|(\\d{1,2})(?:st|nd|rd|th)?(?:,? (\\d{4})(?!\\d))?)`,
    `(\\d{1,2})(?:st|nd|rd|th|er)?\\.? (?:of |de |d')?${MONTH}(?:,? (?:de |del )?(\\d{4})(?!\\d))?`,
    `(\\d{1,2})(?:月|월 ?)(\\d{1,2})[日일])${CLOCK}`,
  ].join('|'),
  'iuy',
)
const TIME = /(\d{1,2}):(\d\d)(?::(\d\d))?(?:[.,]\d{1,6})?(?!\d)/y
/** How many hours are in a unit of time, by the beginnings of its names. */
const UNITS = (
  [
    [0.0003, 'sec sek сек 秒 초'],
    [0.0167, 'min мин 分 분'],
    [1, 'hour h stunde heure hora ora ore час 小时 小時 時間 시간'],
    [24, 'day tag jour d\u00eda dia giorn де дн 天 日 일'],
    [168, 'week woche semaine semana settiman недел 周 週 주'],
    [730, 'month monat mois mes m\u00eas месяц 个月 個月 か月 개월'],
    [8_760, 'year jahr an a\u00f1o год лет 年 년'],
  ] as const
).map(([hours, names]) => ({ hours, names: names.split(' ') }))
const AGO = '(?:vor|il y a|hace|há) '
const COUNT = '(\\d{1,3}|an?|one|ein(?:e[rmn]?)?|une?|una?|uma?|uno)'
const AGE = new RegExp(
  `(?:(?:${AGO}|(?<=${AGO}))${COUNT} (\\p{L}{1,12})|${COUNT}? ?(\\p{L}{1,10}?) ?(?:ago|fa|atrás|назад|前|전)|(yesterday))(?!\\p{L})`,
  'iuy',
)
const NUMBER = /\d{1,14}(?:\.\d{1,4}){0,4}/y

/** Returns the date, day, month or time of day that begins at `at`, if there is one. */
export function readDate(text: string, at: number): Position | undefined {
  const [written, day] = matchAt(DAY, text, at) ?? []
  const date = readFullDate(text, at + (written?.length ?? 0))
  if (date !== undefined) return date
  if (day !== undefined)
    return { kind: 'day', value: [DAYS.findIndex((kinds) => kinds.flat().includes(day.toLowerCase()))] }
  const age = readAge(text, at)
  if (age !== undefined) return { kind: 'age', value: [age] }
  const month = toNamedMonth(matchAt(MONTH_ALONE, text, at)?.[1])
  if (month > 0) return { kind: 'month', value: [month] }
  const [, ...time] = matchAt(TIME, text, at) ?? []
  return time.length === 0 ? undefined : { kind: 'time', value: time.map((part) => Number(part ?? 0)) }
}

/** Returns how many hours ago something was, as `3 hours ago` says. */
function readAge(text: string, at: number): number | undefined {
  const [, before, unitBefore, behind, unitBehind, yesterday] = matchAt(AGE, text, at) ?? []
  if (yesterday !== undefined) return 24
  const name = (unitBefore ?? unitBehind)?.toLowerCase()
  const unit = UNITS.findLast(({ names }) => names.some((begins) => name?.startsWith(begins)))
  const count = before ?? behind ?? '1'
  return unit && (/\d/.test(count) ? Number(count) : 1) * unit.hours
}

function readFullDate(text: string, at: number): Position | undefined {
  const [, y, m, d, day, ofMonth, year, name, ofYear, onDay, inYear, first, month, last, inMonth, atDay, ...clock] =
    matchAt(DATE, text, at) ?? []
  if (y !== undefined) return toDate(y, Number(m), d, clock)
  if (day !== undefined) return toDate(year, Number(ofMonth), day, clock)
  if (name !== undefined) return toDate(ofYear ?? inYear, toMonth(name), onDay, clock)
  if (inMonth !== undefined) return toDate(undefined, Number(inMonth), atDay, clock)
  // `3 marbles` are no date
  return month === undefined
    ? undefined
    : toDate(last, last === undefined ? toNamedMonth(month) : toMonth(month), first, clock)
}

/** Returns the number that begins at `at`, and where it ends. */
export function readNumber(text: string, at: number): (Position & { readonly end: number }) | undefined {
  const number = matchAt(NUMBER, text, at)?.[0]
  if (number === undefined) return undefined
  return { kind: 'number', value: number.split('.').map(Number), end: at + number.length }
}

function toMonth(name: string): number {
  const own = name.toLowerCase()
  return MONTHS.findIndex((names) => names.some((begins) => own.startsWith(begins))) + 1
}

let monthNames: ReadonlyMap<string, number> | undefined

/** Returns the month of this name in full: `Marketing` begins like one. 0 if there is none. */
function toNamedMonth(name: string | undefined): number {
  if (name === undefined || toMonth(name) === 0) return 0
  // most texts begin with no such word, and the first format takes some milliseconds
  monthNames ??= new Map(
    ['en', 'de', 'fr', 'es', 'it', 'pt', 'nl', 'ru', 'ar', 'zh'].flatMap((locale) => {
      const format = new Intl.DateTimeFormat(locale, { month: 'long', timeZone: 'UTC' })
      return MONTHS.map((_, i): [string, number] => [format.format(Date.UTC(2024, i, 15)).toLowerCase(), i + 1])
    }),
  )
  return monthNames.get(name.toLowerCase()) ?? 0
}

function toDate(
  year: string | undefined,
  month: number,
  day: string | undefined,
  clock: readonly (string | undefined)[],
): Position | undefined {
  if (month < 1 || month > 12) return undefined
  return {
    kind: 'date',
    value: [Number(year ?? 0), month, Number(day ?? 0), ...clock.map((part) => Number(part ?? 0))],
  }
}

/** What begins again behind the last one. */
const cycles: Readonly<Partial<Record<Position['kind'], number>>> = { day: 7, month: 12 }

function followsIn(cycle: number, before: Position, behind: Position): boolean {
  return (behind.value[0]! - before.value[0]! + cycle) % cycle === 1
}

/**
 * Returns whether these all have positions of one kind, which rise or fall. Of two numbers, one must follow the other.
 * Nothing is read behind the first that has no such position.
 */
export function areSteady<T>(items: readonly T[], read: (item: T) => Position | undefined): boolean {
  const positions: Position[] = []
  for (const item of items) {
    const position = read(item)
    if (position === undefined || position.kind !== (positions[0] ?? position).kind) return false
    positions.push(position)
  }
  const [first, second] = positions
  if (first === undefined || second === undefined) return false
  const steps = positions.slice(1).map((one, i) => compare(one.value, positions[i]!.value))
  // any two numbers rise or fall
  if (steps.length === 1 && first.kind === 'number') {
    return Math.abs(first.value.at(-1)! - second.value.at(-1)!) === 1
  }
  const cycle = cycles[first.kind]
  if (cycle !== undefined && positions.every((one, i) => i === 0 || followsIn(cycle, positions[i - 1]!, one)))
    return true
  const known = steps.filter((step) => step !== 0)
  if (first.kind === 'number' && known.length < steps.length) return false
  return known.length > 0 && (known.every((step) => step > 0) || known.every((step) => step < 0))
}

/** Compares from the left; a missing number counts as 0. */
function compare(a: readonly number[], b: readonly number[]): number {
  for (let i = 0; i < Math.max(a.length, b.length); i++) {
    const difference = (a[i] ?? 0) - (b[i] ?? 0)
    if (difference !== 0) return difference
  }
  return 0
}
