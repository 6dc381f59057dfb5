const wideSpaces = new Set([0xa0, 0x1680, 0x2028, 0x2029, 0x202f, 0x205f, 0x3000, 0xfeff])

/** Returns whether a UTF-16 code unit is whitespace, as defined by `String.prototype.trim`. */
export function isSpace(code: number): boolean {
  if (code <= 32) return code === 32 || (code >= 9 && code <= 13)
  return code >= 0xa0 && ((code >= 0x2000 && code <= 0x200a) || wideSpaces.has(code))
}

/** Returns whether a UTF-16 code unit is a space or a tab. */
export function isBlank(code: number): boolean {
  return code === 32 || code === 9
}

/** Returns whether a UTF-16 code unit is an ASCII digit. */
export function isDigit(code: number): boolean {
  return code >= 48 && code <= 57
}

/** Returns the position of the first non-whitespace character at or after `from`, or `to`. */
export function findContentStart(text: string, from: number, to: number): number {
  let at = from
  while (at < to && isSpace(text.charCodeAt(at))) at++
  return at
}

/** Returns the position after the last non-whitespace character before `to`, or `from`. */
export function findContentEnd(text: string, from: number, to: number): number {
  let at = to
  while (at > from && isSpace(text.charCodeAt(at - 1))) at--
  return at
}

/** Returns where the line that ends here begins. Of a line longer than `longest`, returns a place further back than that. */
export function findLineStart(text: string, end: number, longest: number): number {
  const from = Math.max(0, end - longest - 1)
  return from + text.slice(from, end).lastIndexOf('\n') + 1
}

/** Returns the end of the line around `at`: its line feed, or the end of the text. */
export function findLineEnd(text: string, at: number): number {
  const end = text.indexOf('\n', at)
  return end === -1 ? text.length : end
}

/**
 * Returns whether a line is a rule of `---`, `===`, `***`, `___`, or of more `#` than a heading has. `first` is its
 * first non-whitespace character.
 */
export function isRule(text: string, first: number, end: number): boolean {
  const code = text.charCodeAt(first)
  if (code !== 45 && code !== 61 && code !== 42 && code !== 95 && code !== 35) return false
  let at = first
  while (at < end && text.charCodeAt(at) === code) at++
  return at - first >= (code === 35 ? 7 : 3) && findContentStart(text, at, end) === end
}

/** Returns the index of the first of these ordered items that starts at or after `position`. */
export function findIndexFrom(items: readonly { readonly start: number }[], position: number): number {
  let low = 0
  let high = items.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if (items[middle]!.start < position) low = middle + 1
    else high = middle
  }
  return low
}

/** Returns how a sticky pattern matches at a position. */
export function matchAt(pattern: RegExp, text: string, at: number): RegExpExecArray | null {
  pattern.lastIndex = at
  return pattern.exec(text)
}

export const BLANK_LINE: RegExp = /\n[ \t\r]*\n/

const LETTER_OR_DIGIT = /[\p{L}\p{N}]/u

/** Whether a text holds more than signs and space. */
export function holdsWord(text: string): boolean {
  return LETTER_OR_DIGIT.test(text)
}

const WIDE = /[\u0100-\uffff]/

/**
 * Returns the same text, in one byte for each character if all of them fit. V8 keeps a piece of a text with wide
 * characters wide, and runs patterns with classes of letters five to twenty times slower on it.
 */
export function narrow(text: string): string {
  return WIDE.test(text) ? text : Buffer.from(text, 'latin1').toString('latin1')
}
