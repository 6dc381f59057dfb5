const BULLET = /([ \t]{0,3})([-*•+]|\d{1,4}[.)])[ \t]{1,4}(?=\S)/y

/** The beginning of a list item. */
export interface Bullet {
  /** Where its text begins. */
  readonly end: number
  /** Its kind and indentation, equal for all bullets of one list. */
  readonly form: string
  readonly indent: number
  /** The digits of a number. */
  readonly label: { readonly start: number; readonly end: number } | undefined
}

/** Reads the bullet of the line that begins at `line`. Returns undefined if there is none. */
export function readBullet(text: string, line: number): Bullet | undefined {
  BULLET.lastIndex = line
  const match = BULLET.exec(text)
  if (match === null) return undefined
  const indent = match[1]!.length
  const sign = match[2]!
  const isNumber = sign.length > 1
  const start = line + indent
  const label = isNumber ? { start, end: start + sign.length - 1 } : undefined
  return { end: line + match[0].length, form: `${indent}${isNumber ? sign.at(-1) : sign}`, indent, label }
}
