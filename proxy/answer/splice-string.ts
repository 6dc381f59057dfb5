import { SpanFinder, type Splice } from '../common/json/json-spans.ts'
import type { JsonPath } from '../common/json/json-value.ts'

/**
 * Returns splices for valid JSON that make `changes` in the string at `path`; unchanged parts keep their bytes, escapes
 * included. The changes are in UTF-16 units of the string, ascending and not overlapping.
 */
export function spliceString(json: string, path: JsonPath, changes: readonly Splice[]): Splice[] {
  const literal = new SpanFinder(json).find(path)
  const isPlain = !json.slice(literal.start, literal.end).includes('\\')
  let units = 0
  let at = literal.start + 1
  const seek = (unit: number): number => {
    if (isPlain) return literal.start + 1 + unit
    for (; units < unit; units++) at += json[at] !== '\\' ? 1 : json[at + 1] === 'u' ? 6 : 2
    return at
  }
  return changes.map(({ start, end, text }) => ({
    start: seek(start),
    end: seek(end),
    text: JSON.stringify(text).slice(1, -1),
  }))
}
