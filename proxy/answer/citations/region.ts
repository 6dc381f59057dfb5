import type { Lookahead } from './lookahead.ts'

/** A region of a Markdown text. Only prose can contain citations: code and data have to reach the client as they are. */
export type Region =
  | { readonly kind: 'prose' }
  /** only blanks so far: what comes next shows whether the whole text is data */
  | { readonly kind: 'beginning' }
  /** all the rest of the text is data */
  | { readonly kind: 'rest' }
  | { readonly kind: 'element'; readonly name: string }
  /** `quote` ends the current string; empty outside strings */
  | { readonly kind: 'json'; readonly depth: number; readonly quote: string }
  /** a span of code, and a fenced block */
  | { readonly kind: 'span'; readonly length: number }
  | { readonly kind: 'fence'; readonly sign: string; readonly length: number; readonly isFirstLine: boolean }

export const prose: Region = { kind: 'prose' }
export const beginning: Region = { kind: 'beginning' }
const rest: Region = { kind: 'rest' }

const longestName = 48
const longestGap = 64
const longestCitedList = 16
const digits = '0123456789'
const whitespace = ' \t\r\n'
const nameSigns = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_:.-'
// tool calls as all model families mark them: <tool_call>, <function=f>, <|python_tag|>, <｜tool▁calls▁begin｜>
const dataToken = /tool|function|python|action|plugin|call|commentary/i
const dataElement = /tool|function|invoke|^(?:code|pre|script|style|samp|kbd|math|json|parameter|arguments?|action)$/i
const longestRun = 64
const listItem = /^[ \t>]*(?:(?:[-*+]|\d{1,3}[.)])[ \t]+)?$/
const indentation = /^[ \t>]*$/
const stops = {
  prose: /[`~\\[{<]|\d+/g,
  beginning: /[^ \t\r\n]/g,
  element: /</g,
  json: /["'\\{}[\]\n]/g,
  span: /[`\n]/g,
} as const
const fenceStops: Readonly<Record<string, RegExp>> = { '`': /[`\n]/g, '~': /[~\n]/g }

/** Returns the place, from `at` on, of the next character that can end the region, or in prose may begin another. */
export function findStop(region: Region, text: string, at: number): number {
  if (region.kind === 'rest') return text.length
  const stop = region.kind === 'fence' ? fenceStops[region.sign]! : stops[region.kind]
  stop.lastIndex = at
  return stop.exec(text)?.index ?? text.length
}

/** Returns the region behind the stop that `ahead` is at, past which it steps; `line` returns what precedes it in its line. */
export function passStop(ahead: Lookahead, region: Region, line: () => string): Region {
  switch (region.kind) {
    case 'prose':
      return '`~'.includes(ahead.peek()) ? enterCode(ahead, line) : enterData(ahead)
    case 'beginning': {
      const start = ahead.at
      const isData = isDataAhead(ahead)
      ahead.at = start
      return isData ? rest : prose
    }
    case 'rest':
      return region
    case 'element':
      if (ahead.take(`</${region.name}`) && !nameSigns.includes(ahead.peek() || 'x')) return prose
      ahead.at += 1
      return region
    case 'json':
      return passJsonSign(ahead, region)
    case 'span':
      // ends with its line at the latest
      return ahead.take('\n') || ahead.skip('`', longestRun) === region.length ? prose : region
    case 'fence':
      return passFenceStop(ahead, region, line)
  }
}

/** Returns the region behind a run of backticks or tildes in prose. */
function enterCode(ahead: Lookahead, line: () => string): Region {
  const sign = ahead.peek()
  const length = ahead.skip(sign, longestRun)
  // models open fences after words too; tildes there are strikethrough
  const isFence = length >= 3 && (sign === '`' || listItem.test(line()))
  if (isFence) return { kind: 'fence', sign, length, isFirstLine: true }
  return sign === '`' ? { kind: 'span', length } : prose
}

function passFenceStop(ahead: Lookahead, region: Region & { kind: 'fence' }, line: () => string): Region {
  if (ahead.take('\n')) return { ...region, isFirstLine: false }
  if (ahead.skip(region.sign, longestRun) < region.length) return region
  // a fence that ends on the line it began on was a span
  if (region.isFirstLine) return region.sign === '`' ? prose : region
  return indentation.test(line()) && isRestBlank(ahead) ? prose : region
}

function isRestBlank(ahead: Lookahead): boolean {
  return ['', '\n', '\r'].includes(ahead.peek(ahead.count(' \t', 32)))
}

/** Returns the region that begins at `<`, `{` or `[` in prose, if one does. */
function enterData(ahead: Lookahead): Region {
  const start = ahead.at
  const region = ahead.peek() === '<' ? enterElement(ahead) : enterJson(ahead)
  if (!region) ahead.at = start + 1
  return region ?? prose
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

function enterElement(ahead: Lookahead): Region | undefined {
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
function enterJson(ahead: Lookahead): Region | undefined {
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

/** Some models cite as `[[3]]`, `[[3](https://…)]` or `[[citation:3]]`. */
function isDoubled(ahead: Lookahead): boolean {
  const start = ahead.at
  const isInside = ahead.take('[')
  const isWord = /[a-z]/i.test(ahead.peek()) && !['true', 'false', 'null'].some((value) => ahead.take(value))
  const is =
    isInside && (isWord || (ahead.skip(digits, longestName) > 0 && [']]', ']('].some((end) => ahead.take(end))))
  ahead.at = start
  return is
}

function passJsonSign(ahead: Lookahead, region: Region & { kind: 'json' }): Region {
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
