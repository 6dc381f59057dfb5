const BACKSLASH = '\\'
const LETTER_U = 0x75

/**
 * Maps offsets in a text to offsets in the JSON string it was written as, whose content begins at `start`. `offsets`
 * are ascending, in UTF-16 units of the text. Only escapes make a difference, so the search jumps from one to the next.
 */
export function toJsonOffsets(json: string, start: number, offsets: readonly number[]): Map<number, number> {
  const found = new Map<number, number>()
  let at = start
  let units = 0
  let next = json.indexOf(BACKSLASH, at)
  for (const offset of offsets) {
    while (next >= 0 && next - at < offset - units) {
      units += next - at + 1
      at = next + (json.charCodeAt(next + 1) === LETTER_U ? 6 : 2)
      next = json.indexOf(BACKSLASH, at)
    }
    at += offset - units
    units = offset
    found.set(offset, at)
  }
  return found
}

/** Returns whether an offset falls between the two UTF-16 units of one character. */
export function splitsCharacter(text: string, offset: number): boolean {
  return offset > 0 && isHigh(text.charCodeAt(offset - 1)) && isLow(text.charCodeAt(offset))
}

function isHigh(unit: number): boolean {
  return unit >= 0xd800 && unit < 0xdc00
}

function isLow(unit: number): boolean {
  return unit >= 0xdc00 && unit < 0xe000
}
