import type { BlockSpan } from '../context-list.ts'
import { findContentEnd, findContentStart, findLineEnd, isRule } from '../scan/find-edges.ts'
import { findBlank, findLastRule, type LineNotes, notesIn } from '../scan/find-line-notes.ts'
import type { Label } from '../scan/labels/label.ts'
import { findInnerClosings } from './list-closings.ts'
import { asks, findAnnouncements } from './prompt-lines.ts'

/** Signs that open and close a block. */
const QUOTES = ['«»', '""', '“”']

/** Whether the same signs open and close all blocks. */
export function areQuoted(text: string, blocks: readonly BlockSpan[]): boolean {
  return QUOTES.some((quotes) =>
    blocks.every(({ contentStart, contentEnd }) => isQuotedBy(text, contentStart, contentEnd, quotes)),
  )
}

function isQuotedBy(text: string, from: number, end: number, quotes: string): boolean {
  const start = findContentStart(text, from, end)
  return end - start > 1 && text[start] === quotes[0] && text[end - 1] === quotes[1]
}

/** Returns the end of the sign that closes the last block: as many signs as opened it, once at the end of a line. */
export function findQuoteEnd(text: string, from: number, quotes: string, limit: number): number | undefined {
  const start = findContentStart(text, from, limit)
  let count = 0
  while (text[start + count] === quotes[0]) count++
  let found: number | undefined
  for (let line = start + count; line < limit; line = findLineEnd(text, line) + 1) {
    const end = findContentEnd(text, line, Math.min(findLineEnd(text, line), limit))
    if (count === 0 || end - count < line || !text.startsWith(quotes[1]!.repeat(count), end - count)) continue
    if (found !== undefined) return undefined
    found = end
  }
  return found
}

/** What a list's blocks, except the last, contain. Such things cannot mark the end of the last block. */
export interface Interior {
  /** Where each of these blocks ends. */
  readonly ends: readonly number[]
  readonly blank: boolean
  readonly rule: boolean
  /** A rule is the last line of some blocks, but does not separate all of them. */
  readonly endsInRule: boolean
  readonly heading: boolean
  readonly cues: ReadonlySet<string>
  /** Only some have a paragraph that begins like a question to the model: it may be the prompt's. */
  readonly holdsQuestion: boolean
  /** Each of them is between two rules, of which one may be its own. */
  readonly doubled: boolean
  /** The rule after each of them. */
  readonly separator: string | undefined
  /** Each of them is closed by a line with its number. */
  readonly closed: boolean
  /** The quotation marks around each of them. */
  readonly quotes: string | undefined
  /** Some end with a heading, such as `More sources:`: the next ones are of another kind. */
  readonly endsInHeading: boolean
}

/** Reads the blocks of these labels, except the last. */
export function readInterior(text: string, lines: LineNotes, labels: readonly Label[]): Interior {
  const bodies = labels.slice(0, -1).map(({ end: start }, i) => {
    const end = findContentEnd(text, start, labels[i + 1]!.start)
    return { start, end, rule: findLastRule(text, start, end) }
  })
  const separator = bodies[0]?.rule?.text
  const separated = separator !== undefined && bodies.every(({ rule }) => rule?.text === separator)
  const closings = findInnerClosings(text, labels)
  const ends = bodies.map(({ start, end, rule }, i) => {
    if (closings !== undefined) return findContentEnd(text, start, closings[i]!.start)
    return separated ? rule!.bodyEnd : end
  })
  const inside = bodies.map(({ start }, i) => notesIn(lines, findLineEnd(text, start), ends[i]!))
  const all = inside.flat()
  const headings = bodies.map(({ start }, i) => lastHeading(text, start, ends[i]!))
  return {
    ends,
    blank: bodies.some(({ start }, i) => findBlank(lines, start, text.length) < ends[i]!),
    rule: all.some(({ kind }) => kind === 'rule'),
    endsInRule: !separated && bodies.some(({ rule }) => rule !== undefined),
    heading: all.some(({ kind }) => kind === 'heading'),
    cues: new Set(all.map(({ kind }) => (typeof kind === 'object' ? kind.kind : ''))),
    holdsQuestion: areSome(inside.map((own) => own.some(asks))),
    doubled: separated && bodies.every(({ start, rule }) => findLastRule(text, start, rule!.bodyEnd) !== undefined),
    separator: separated ? separator : undefined,
    closed: closings !== undefined,
    quotes:
      ends.length > 0
        ? QUOTES.find((own) => bodies.every((b, i) => isQuotedBy(text, b.start, ends[i]!, own)))
        : undefined,
    // a line that ends all of them is of their form
    endsInHeading: areSome(headings),
  }
}

/** Returns whether some blocks have what the others do not, or the only one has it. */
function areSome(values: readonly (string | boolean | undefined)[]): boolean {
  return values.some(Boolean) && (values.length === 1 || new Set(values).size > 1)
}

// of some 13,000 documents of real retrievals two end with a paragraph like this
const HEADING = /^(?:#{1,6}[ \t]|[=-]{2,}[^=-]|\*\*.*\*\*$|\(.*\)$)|[:：](?:\*\*)?$/
const LONGEST_HEADING = 200

/** Returns the last of a block's paragraphs, if it is a heading of what follows. */
function lastHeading(text: string, from: number, end: number): string | undefined {
  const line = text.lastIndexOf('\n', end - 1) + 1
  const before = text.lastIndexOf('\n', line - 2) + 1
  if (before <= from || findContentStart(text, before, line) < line || end - line > LONGEST_HEADING) return undefined
  const written = text.slice(line, end).trim()
  return HEADING.test(written) ? written : undefined
}

/** Returns whether two rules follow a last block: one of them may be its own. */
export function endsInOwnRule(text: string, end: number): boolean {
  const [first = '', second = ''] = text.slice(end, end + 400).match(/\S(?:.*\S)?/g) ?? []
  return first === second && isRule(first, 0, first.length)
}

/** Returns the texts behind the labels of all blocks, the last one up to `limit`. */
export function readBodies(text: string, labels: readonly Label[], { ends }: Interior, limit: number): string[] {
  return labels.map(({ end }, i) => text.slice(end, ends[i] ?? limit))
}

/** Returns whether the last of these bodies has no more lines than the others. A further line may be of the prompt. */
export function isNoLonger(bodies: readonly string[]): boolean {
  const counts = bodies.map((body) => body.trim().split('\n').length)
  return counts.pop()! <= Math.max(...counts)
}

/** Returns whether a paragraph of the last body, but none of the others, begins with a short line and a colon. */
export function announcesAlone(bodies: readonly string[]): boolean {
  const announcing = bodies.map((body) => findAnnouncements(body).length > 0)
  return announcing.pop() === true && !announcing.includes(true)
}
