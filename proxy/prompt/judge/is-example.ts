import { findIndexFrom } from '../scan/find-edges.ts'
import { isKin } from '../scan/find-elements.ts'
import type { Marks } from '../scan/find-marks.ts'
import { readHeading } from './read-evidence.ts'

// the content of such elements is not material: it shows what to write, or the order of things
const OF_EXAMPLES =
  /(?:^|[_-])(?:examples?|output|response|answer|format|template|schema|steps?|conversation|history|transcript|messages?|dialog(?:ue)?|instructions?|rules?|guidelines|citations?)(?:$|[_-])/
// `in the following schema:`
const SHOWING =
  /\b(?:schema|format|template|structure|examples?|e\.g\.|for instance|like (?:this|so)|look(?:s)? like)\b[^\n.]{0,24}[:：]$|(?:例如|示例|格式)[^\n。]{0,8}[:：]$/i
const EXAMPLE = /\bexamples?\b|beispiel|ejemplo|exemple|示例|例子|例/i
const MARKDOWN_HEADING = /(?:^|\n)#{1,6}[ \t]+([^\n]{0,120})/g
const FURTHEST = 4_000

/** Returns whether the line before `start` announces an example of what to write. */
export function showsHow(text: string, start: number): boolean {
  return SHOWING.test(readHeading(text, start))
}

/** Returns whether a list is part of an example of what to write, not of the given material. */
export function isExample({ text, tags }: Marks, start: number, end: number): boolean {
  for (let i = findIndexFrom(tags, start) - 1, seen = 0; i >= 0 && seen < 2_000; i--, seen++) {
    const { partner, closing, name } = tags[i]!
    if (closing || partner === undefined || partner.start < end) continue
    if (OF_EXAMPLES.test(name) && !isKin(name)) return true
    if (partner !== undefined && showsHow(text, tags[i]!.start)) return true
  }
  if (showsHow(text, start)) return true
  const before = text.slice(Math.max(start - FURTHEST, 0), start)
  const heading = [...before.matchAll(MARKDOWN_HEADING)].at(-1)
  return heading !== undefined && EXAMPLE.test(heading[1]!)
}
