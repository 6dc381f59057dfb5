import { findLineEnd } from './find-edges.ts'
import { findTags, type Tag } from './find-tags.ts'
import { findTurns, type Turn } from './find-turns.ts'
import { addInlineHeads } from './labels/find-record-head.ts'
import { countMarks, type LineMarks, LineReader } from './line-reader.ts'
import { type ToolKind, toToolKind } from './words/tool-kind.ts'

/** What is known about a text besides its characters. */
export interface TextTraits {
  /** It is all material, such as a tool's result: no question follows, and its last block ends with the text. */
  readonly whole?: boolean
  /** It is a prompt rendered with a chat template. Otherwise template marks are ordinary text. */
  readonly rendered?: boolean
  /** The question is in another message, so this one may end with its last block. */
  readonly asked?: boolean
  /** Name of the tool that returned this text. */
  readonly tool?: string | undefined
  /** The tool was asked for a specific order, such as by date. */
  readonly sorted?: boolean
}

/** Everything in a text that may be part of a list, in order, at any position. */
export interface Marks extends LineMarks {
  readonly text: string
  readonly turns: readonly Turn[]
  readonly tags: readonly Tag[]
  /** The text is all material, such as a tool's result: its last block ends with the text. */
  readonly whole: boolean
  /** The question is in another message, so this one may end with its last block. */
  readonly asked: boolean
  /** Kind of the tool that returned the text, if it has a name. */
  readonly source: ToolKind | undefined
}

// a million tokens are about 100,000 lines; a text with more marks than that is an attack and has no list
const MOST_MARKS = 100_000
// so is a text with many times that number of lines, each of which is read
const MOST_LINES = 300_000
// a text with more repeated forms of labels is not of any kind we know
const MOST_FORMS = 24

/** Lines read per step. Reading a few thousand lines takes milliseconds. */
const LINES_A_STEP = 2_048

/** Reads a text once, and yields every few thousand lines. Returns undefined if it has absurdly many marks. */
export function* readMarks(
  text: string,
  { whole = false, rendered = false, asked = false, tool, sorted = false }: TextTraits,
): Generator<void, Marks | undefined> {
  const tags = findTags(text)
  const turns = rendered ? findTurns(text) : [{ start: 0, end: text.length, isAnswer: false }]
  if (tags === undefined || turns === undefined) return undefined
  const reader = new LineReader(text)
  let lines = 0
  for (let line = 0, end = 0; line < text.length; line = end + 1) {
    end = findLineEnd(text, line)
    reader.read(line, end)
    if (
      ++lines > MOST_LINES ||
      (lines % 256 === 0 && countMarks(reader.marks) > MOST_MARKS) ||
      reader.repeated > MOST_FORMS
    )
      return undefined
    if (lines % LINES_A_STEP === 0) yield
  }
  // not a spread of the marks: that leaves 3 KB that only a full collection removes
  return Object.assign(reader.marks, {
    labels: addInlineHeads(text, reader.marks.labels),
    text,
    turns,
    tags,
    whole,
    asked,
    source: sorted ? 'read' : toToolKind(tool),
  } as const)
}
