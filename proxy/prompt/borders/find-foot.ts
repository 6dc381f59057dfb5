import { findContentEnd, findContentStart, findLineEnd } from '../scan/find-edges.ts'
import { namesOrigin } from '../scan/labels/find-record-head.ts'
import { rankingField, toFieldName } from '../scan/words/ordered-fields.ts'

const FIELD = /^(\p{L}[\p{L}_ ]{0,24})[:：]/u
const LONGEST_LINE = 300

/**
 * Returns the name of the field that is the last line of each of these blocks and no other line of theirs, if it gives
 * a text's source or how well it fits, as in `Score: 0.9`. The last block then ends with such a line, too.
 */
export function findFoot(
  text: string,
  bodies: readonly { readonly start: number; readonly end: number }[],
): string | undefined {
  const [first] = bodies
  const name = first && nameAt(text, text.lastIndexOf('\n', first.end - 1) + 1, first.end)
  if (name === undefined || !(namesOrigin(name) || rankingField.test(toFieldName(name)))) return undefined
  return bodies.every(({ start, end }) => findFootEnd(text, start, end, name) === end) ? name : undefined
}

/** Returns the end of the only line below the first one in this range that begins with this field. */
export function findFootEnd(text: string, from: number, limit: number, name: string): number | undefined {
  let found: number | undefined
  for (let line = findLineEnd(text, from) + 1; line < limit; line = findLineEnd(text, line) + 1) {
    const end = Math.min(findLineEnd(text, line), limit)
    const at = findContentStart(text, line, end)
    if (!text.startsWith(name, at) || nameAt(text, line, end) !== name) continue
    if (found !== undefined) return undefined
    found = findContentEnd(text, at, end)
  }
  return found
}

function nameAt(text: string, line: number, end: number): string | undefined {
  const start = findContentStart(text, line, end)
  return end - start > LONGEST_LINE ? undefined : FIELD.exec(text.slice(start, Math.min(end, start + 28)))?.[1]
}
