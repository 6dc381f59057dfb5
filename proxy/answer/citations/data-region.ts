import type { Lookahead } from './lookahead.ts'

/** A region of a text that cannot contain citations: data has to reach the client as it is. */
export type DataRegion =
  | { readonly kind: 'beginning' }
  /** all the rest of the text */
  | { readonly kind: 'rest' }
  | { readonly kind: 'element'; readonly name: string }
  /** `quote` ends the current string; empty outside strings */
  | { readonly kind: 'json'; readonly depth: number; readonly quote: string }

/** Only blanks so far: what comes next shows whether the whole text is data. */
export const beginning: DataRegion = { kind: 'beginning' }

const rest: DataRegion = { kind: 'rest' }
const prose = { kind: 'prose' } as const

const longestName = 48
const longestGap = 64
const longestCitedList = 16
const digits = '0123456789'
const whitespace = ' \t\r\n'
const nameSigns = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_:.-'
// tool calls as all model families mark them: <tool_call>, <function=f>, <|python_tag|>, <｜tool▁calls▁begin｜>
const dataToken = /tool|function|python|action|plugin|call|commentary/i
const dataElement = /tool|function|invoke|^(?:code|pre|script|style|samp|kbd|math|json|parameter|arguments?|action)$/i
const nonBlank = /[^ \t\r\n]/g
const jsonSign = /["'\\{}[\]\n]/g

/** Returns the place, from `at` on, of the next character that can end the region. */
export function findDataStop(region: DataRegion, text: string, at: number): number {
  if (region.kind === 'rest') return text.length
  if (region.kind === 'element') {
    const next = text.indexOf('<', at)
    return next < 0 ? text.length : next
  }
  const sign = region.kind === 'json' ? jsonSign : nonBlank
  sign.lastIndex = at
  return sign.exec(text)?.index ?? text.length
}

/** Returns the region after the stop that `ahead` is at. */
export function passDataStop(ahead: Lookahead, region: DataRegion): DataRegion | typeof prose {
  switch (region.kind) {
    case 'rest':
      return region
    case 'beginning': {
      const start = ahead.at
      const isData = isDataAhead(ahead)
      ahead.at = start
      return isData ? rest : prose
    }
    case 'element':
      if (ahead.take(`</${region.name}`) && !nameSigns.includes(ahead.peek() || 'x')) return prose
      ahead.at += 1
      return region
    case 'json':
      return passJsonSign(ahead, region)
  }
}

/**
 * Returns the region that begins at `<`, `{` or `[` in prose, if one does. `ahead` is inside it then; otherwise it does
 * not move.
 */
export function enterData(ahead: Lookahead): DataRegion | undefined {
  const start = ahead.at
  const region = ahead.peek() === '<' ? enterElement(ahead) : enterJson(ahead)
  if (!region) ahead.at = start
  return region
}

/** Whether the whole answer is JSON: `{…`, `[{…`, `[[…`, `["…`, or a list of numbers with nothing after it. */
function isDataAhead(ahead: Lookahead): boolean {
  if (ahead.peek() === '{') return true
  if (!ahead.take('[')) return false
  for (let count = 0; ; count++) {
    ahead.skip(whitespace, longestGap)
    if ('{["-'.includes(ahead.peek() || 'x')) return !isDoubled(ahead)
    if (ahead.skip(`${digits}.`, longestName) === 0) return false
    ahead.skip(whitespace, longestGap)
    if (count > 0 && ahead.take(']')) break
    if (!ahead.take(',')) return false
    if (count === longestCitedList) return true
  }
  ahead.skip(whitespace, longestGap)
  return ahead.peek() === ''
}

function enterElement(ahead: Lookahead): DataRegion | undefined {
  ahead.at += 1
  const start = ahead.at
  if ('|｜'.includes(ahead.peek() || 'x')) {
    while (ahead.at - start < longestName && !['>', '\n', ''].includes(ahead.peek())) ahead.at += 1
    return ahead.peek() === '>' && dataToken.test(ahead.since(start)) ? rest : undefined
  }
  if (ahead.skip(nameSigns, longestName) === 0) return undefined
  const name = ahead.since(start)
  return '>= \t\r\n'.includes(ahead.peek() || 'x') && dataElement.test(name) ? { kind: 'element', name } : undefined
}

/** Enters JSON in the middle of prose, Python's quotation marks included. */
function enterJson(ahead: Lookahead): DataRegion | undefined {
  if (ahead.take('[TOOL_CALL')) return rest
  const sign = ahead.peek()
  ahead.at += 1
  const start = ahead.at
  ahead.skip(whitespace, longestGap)
  const next = ahead.peek() || 'x'
  if (sign === '{') return `"'`.includes(next) ? { kind: 'json', depth: 1, quote: '' } : undefined
  const begins = `"'{[`.includes(next) || (ahead.since(start).includes('\n') && `-${digits}`.includes(next))
  return begins && !isDoubled(ahead) ? { kind: 'json', depth: 1, quote: '' } : undefined
}

/** Some models cite as `[[3]]` or `[[citation:3]]`. */
function isDoubled(ahead: Lookahead): boolean {
  const start = ahead.at
  const isInside = ahead.take('[')
  const isWord = /[a-z]/i.test(ahead.peek()) && !['true', 'false', 'null'].some((value) => ahead.take(value))
  const is = isInside && (isWord || (ahead.skip(digits, longestName) > 0 && ahead.take(']]')))
  ahead.at = start
  return is
}

function passJsonSign(ahead: Lookahead, region: DataRegion & { kind: 'json' }): DataRegion | typeof prose {
  const { depth, quote } = region
  const sign = ahead.peek()
  ahead.at += 1
  if (quote !== '') {
    if (sign === '\\' && ahead.peek() !== '') ahead.at += 1
    // a JSON string does not continue on the next line, so this was none
    if (sign === '\n') return prose
    return sign === quote ? { ...region, quote: '' } : region
  }
  if (sign === '"' || sign === "'") return { ...region, quote: sign }
  if (sign === '{' || sign === '[') return { ...region, depth: depth + 1 }
  if (sign !== '}' && sign !== ']') return region
  return depth === 1 ? prose : { ...region, depth: depth - 1 }
}
