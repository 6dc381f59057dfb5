const LONGEST_PREFIX = 40
const PREFIX = /\p{L}+[ _#:.-]{0,2}$/u

/** Returns what is said in front of a number when a block is mentioned: `Document ` for `Document 3:`, '' for `[3]`. */
export function labelPrefixOf(text: string, blockStart: number, labelStart: number): string {
  const front = text.slice(Math.max(blockStart, labelStart - LONGEST_PREFIX), labelStart)
  return PREFIX.exec(front)?.[0] ?? ''
}
