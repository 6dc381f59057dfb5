import type { Span } from '#proxy/common/json/json-spans.ts'
import { type VolatileKind, volatilePatterns } from './volatile-patterns.ts'

/** Text that differs between otherwise equal requests: nothing after it is found in an engine's cache. */
export interface VolatileText extends Span {
  readonly kind: VolatileKind
}

/** A text with more matches than this is data, not headers. */
const mostFound = 100

/** Shorter lines are not searched: even `now 14:03` is longer. */
const shortest = 7

const FENCE = /^[ \t]*(?:```|~~~)/

// words that mark what follows as an example, not this request's own value
const EXAMPLE =
  /\be\.g\.|\bz\.\s?B\.|\b(?:for (?:example|instance)|examples?|formats?|formatted|such as|like|beispiel)\b/i

/**
 * Finds the volatile text before `end`, in order and not overlapping, in linear time. Omits what is quoted, in code or
 * given as an example.
 */
export function findVolatileText(text: string, end: number = text.length): VolatileText[] {
  const found: VolatileText[] = []
  let isCode = false
  for (let start = 0; start < end && found.length < mostFound; ) {
    const feed = text.indexOf('\n', start)
    const lineEnd = feed < 0 ? end : Math.min(feed, end)
    const content = text.slice(start, lineEnd)
    const isFence = FENCE.test(content)
    if (isFence) isCode = !isCode
    if (!isFence && !isCode && content.length >= shortest) found.push(...findInLine(content, start))
    start = lineEnd + 1
  }
  return found.slice(0, mostFound)
}

function findInLine(content: string, lineStart: number): VolatileText[] {
  const found: VolatileText[] = []
  // most lines have no digit and need no search
  if (!/\d/.test(content)) return found
  for (const { regExp, kindOf } of volatilePatterns) {
    for (const match of content.matchAll(regExp)) {
      const kind = kindOf(match)
      if (kind === undefined || isExample(content, match.index)) continue
      const start = lineStart + match.index
      const end = start + match[0].length
      // what a surer pattern has found stays
      if (found.some((one) => one.start < end && start < one.end)) continue
      found.push({ start, end, kind })
      if (found.length >= mostFound) break
    }
  }
  return found.toSorted((a, b) => a.start - b.start)
}

function isExample(line: string, at: number): boolean {
  return EXAMPLE.test(line.slice(Math.max(0, at - 200), at))
}
