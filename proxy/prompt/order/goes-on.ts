import type { BlockSpan } from '../context-list.ts'

const GOES_ON = /^\p{Ll}/u
const CUT = /[\p{L}\d,]$/u
const WORDS = /^\S+(?:[ \n]\S+){4}/

const LONGEST_LINE = 200

/**
 * Returns whether these are one text cut inside sentences. Fixed-size chunks of several texts begin and end anywhere.
 */
export function goOn(text: string, blocks: readonly BlockSpan[]): boolean {
  return blocks.every(({ contentStart: start, contentEnd: end }, i) => {
    const isFirst = i === 0
    const isLast = i === blocks.length - 1
    if (GOES_ON.test(text.slice(start, start + 1)) === isFirst) return false
    if (CUT.test(text.slice(Math.max(start, end - 1), end)) === isLast) return false
    return WORDS.test(text.slice(start, Math.min(end, start + LONGEST_LINE)))
  })
}
