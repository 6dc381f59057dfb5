import { findContentEnd, findContentStart, findLineEnd } from '../find-edges.ts'

/** A line below a text that names its source, such as `(Source: a.md)` and `<https://a.example>`. */
export interface Foot {
  readonly start: number
  readonly end: number
  /** What all such lines of one list have in common. */
  readonly form: string
}

const FOOT =
  /([([（【]|[—–-]{1,2}[ \t]?)?((?:source|from|reference|citation|url|link|quelle|fuente|fonte|origen|来源|出处|出典|источник)s?)[:：][ \t]?\S[^\n]{0,200}/iuy

// `<https://a.example>`
const ADDRESS = /()(<https?:)\/\/[^\s<>]{1,300}>/iuy

const INITIALS = '<([（【—–-sSfFrRcCuUlLqQoO来出и'

/** Reads the line at `line`, whose first character is at `start`, if a blank line or nothing follows it. */
export function readFoot(text: string, line: number, start: number): Foot | undefined {
  if (!INITIALS.includes(text[start]!)) return undefined
  const shape = text[start] === '<' ? ADDRESS : FOOT
  shape.lastIndex = start
  const match = shape.exec(text)
  if (match === null) return undefined
  const [whole, sign = '', word] = match as unknown as [string, string | undefined, string]
  const lineEnd = findLineEnd(text, start)
  const end = start + whole.trimEnd().length
  if (end !== findContentEnd(text, start, lineEnd)) return undefined
  if (!isAboveBlank(text, lineEnd) || !isBelowText(text, line)) return undefined
  return { start, end, form: sign + word.toLowerCase() }
}

/** Returns whether a line of text comes right before it, other than one that announces what follows. */
function isBelowText(text: string, line: number): boolean {
  if (line === 0) return false
  const before = text.lastIndexOf('\n', line - 2) + 1
  const end = findContentEnd(text, before, line)
  return end > before && text[end - 1] !== ':' && text[end - 1] !== '：' && text[end - 1] !== '>'
}

function isAboveBlank(text: string, lineEnd: number): boolean {
  const next = lineEnd + 1
  return next >= text.length || findContentStart(text, next, findLineEnd(text, next)) === findLineEnd(text, next)
}
