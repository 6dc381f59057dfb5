/*
 * Ordinals in answers. In other languages they depend on the noun's gender, so that they could not be restored in a
 * history, and stay.
 */

export const english: readonly string[] =
  'first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth fifteenth sixteenth seventeenth eighteenth nineteenth twentieth'.split(
    ' ',
  )
export const chinese: readonly string[] = [...'一二三四五六七八九十']
export const suffixes: readonly string[] = ['th', 'st', 'nd', 'rd']
const SUFFIX = new RegExp(`(?<=\\d)(?:${suffixes.join('|')})$`)

/** Where an ordinal may begin, as a pattern. */
export const ordinalStop: string = `${english.join('|')}|第`
const PARTIAL = /(?<![A-Za-z])[a-z]{1,10}$/
const longestPartial = 11

/** Returns where the last word of a text begins, which may become an ordinal; its length if none does. */
export function findPartial(text: string, from: number): number {
  const start = Math.max(text.length - longestPartial, from)
  const found = PARTIAL.exec(text.slice(start))
  return found ? start + found.index : text.length
}

/**
 * Returns what `second`, `2nd` or `二` becomes, `none` if it cannot become anything, because there are more labels than
 * such words, and undefined if it is no ordinal.
 */
export function translateOrdinal(labels: ReadonlyMap<string, string>, ordinal: string): string | 'none' | undefined {
  const words = [english, chinese].find((own) => own.includes(ordinal))
  if (!words && !SUFFIX.test(ordinal)) return undefined
  const received = labels.get(words ? String(words.indexOf(ordinal) + 1) : ordinal.replace(SUFFIX, ''))
  if (received === undefined || !labels.has('1') || labels.has('0')) return 'none'
  if (words) return labels.size > words.length ? 'none' : (words[Number(received) - 1] ?? received)
  return `${received}${suffixes[/1\d$/.test(received) ? 0 : Number(received.at(-1))] ?? 'th'}`
}
