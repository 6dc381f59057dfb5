/** The UTF-8 bytes of a text, one a character. */
export function toRaw(text: string): string {
  return Buffer.from(text).toString('latin1')
}

/** The text whose UTF-8 bytes these are, one a character. */
export function fromRaw(raw: string): string {
  return Buffer.from(raw, 'latin1').toString()
}
