/** Whether a UTF-16 code unit is white space, as `String.prototype.trim` sees it. */
export function isSpace(code: number): boolean {
  if (code <= 32) return code === 32 || (code >= 9 && code <= 13)
  if (code < 0xa0) return false
  return (
    code === 0xa0 ||
    code === 0x1680 ||
    (code >= 0x2000 && code <= 0x200a) ||
    code === 0x2028 ||
    code === 0x2029 ||
    code === 0x202f ||
    code === 0x205f ||
    code === 0x3000 ||
    code === 0xfeff
  )
}

/** The first position from `from` on that holds no white space, or `to`. */
export function findContentStart(text: string, from: number, to: number): number {
  let at = from
  while (at < to && isSpace(text.charCodeAt(at))) at++
  return at
}

/** The position behind the last character before `to` that is no white space, or `from`. */
export function findContentEnd(text: string, from: number, to: number): number {
  let at = to
  while (at > from && isSpace(text.charCodeAt(at - 1))) at--
  return at
}

/** Where the line around `at` ends: at its line feed or at the end of the text. */
export function findLineEnd(text: string, at: number): number {
  const end = text.indexOf('\n', at)
  return end === -1 ? text.length : end
}

/** Whether a line is one of `---`, `===`, `***` or `___`; `first` is its first character that is no white space. */
export function isRule(text: string, first: number, end: number): boolean {
  const code = text.charCodeAt(first)
  if (code !== 45 && code !== 61 && code !== 42 && code !== 95) return false
  let at = first
  while (at < end && text.charCodeAt(at) === code) at++
  return at - first >= 3 && findContentStart(text, at, end) === end
}

/** Index of the first of these ordered items that starts at or behind `position`. */
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
