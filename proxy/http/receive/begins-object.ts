/** white space, byte order marks, and what other encodings of Unicode put around ASCII */
const mayPrecede: ReadonlySet<number> = new Set([0x09, 0x0a, 0x0d, 0x20, 0xef, 0xbb, 0xbf, 0xfe, 0xff, 0x00])
const brace = 0x7b

/**
 * Returns whether a body begins like a JSON object, in UTF-8, UTF-16 or UTF-32. Engines read all three and ignore
 * `content-encoding`. They would read such a body even if its header calls it compressed.
 */
export function beginsObject(body: Buffer): boolean {
  let at = 0
  while (at < body.length && mayPrecede.has(body[at]!)) at++
  return body[at] === brace
}

/** Returns whether JSON text is in UTF-16 or UTF-32, each of which has a zero among its first four bytes. */
export function isWide(body: Buffer): boolean {
  return body.subarray(0, 4).includes(0)
}
