import { findLineEnd } from './find-edges.ts'
import { type Fence, readFence } from './find-fences.ts'
import { type Label, readLabel } from './find-labels.ts'
import { findTags, type Tag } from './find-tags.ts'
import { findTurns, type Turn } from './find-turns.ts'

/** Everything in a text that may be part of a list, in order and wherever it stands. */
export interface Marks {
  readonly text: string
  readonly turns: readonly Turn[]
  readonly tags: readonly Tag[]
  readonly labels: readonly Label[]
  readonly fences: readonly Fence[]
}

// a million tokens are some 100,000 lines; a text with more marks than lines like these is an attack and holds no list
const MOST_MARKS = 100_000
// a text that speaks of its blocks in more forms than these is none that we know
const MOST_FORMS = 16

// deeper is code, but fences stand deeper inside Markdown lists
const MOST_LABEL_INDENT = 3
const MOST_FENCE_INDENT = 16

const LINE_FEED = 10
const BACKTICK = 96
const TILDE = 126

/** Reads a text once; undefined when it holds absurdly many marks. */
export function findMarks(text: string): Marks | undefined {
  const tags = findTags(text)
  const turns = findTurns(text)
  if (tags === undefined || turns === undefined) return undefined
  const labels: Label[] = []
  const fences: Fence[] = []
  const forms = new Set<string>()
  for (let line = 0; line < text.length; line = findLineEnd(text, line) + 1) {
    const mark = readLineMark(text, line)
    if (mark === undefined) continue
    if ('form' in mark) {
      labels.push(mark)
      forms.add(mark.form)
    } else fences.push(mark)
    if (labels.length + fences.length > MOST_MARKS || forms.size > MOST_FORMS) return undefined
  }
  return { text, turns, tags, labels, fences }
}

function readLineMark(text: string, line: number): Label | Fence | undefined {
  const start = skipIndent(text, line)
  if (start === text.length) return undefined
  const code = text.charCodeAt(start)
  if (code === BACKTICK || code === TILDE) return readFence(text, start)
  return code !== LINE_FEED && start - line <= MOST_LABEL_INDENT ? readLabel(text, start) : undefined
}

function skipIndent(text: string, line: number): number {
  let at = line
  while (at - line < MOST_FENCE_INDENT && isBlank(text.charCodeAt(at))) at++
  return at
}

function isBlank(code: number): boolean {
  return code === 32 || code === 9
}
