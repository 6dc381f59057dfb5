import { finish } from '../body/finish.ts'
import { findLineEnd } from './find-edges.ts'
import type { Fence } from './find-fences.ts'
import type { Opening } from './find-openings.ts'
import { findTags, type Tag } from './find-tags.ts'
import { findTurns, type Turn } from './find-turns.ts'
import type { Foot } from './labels/find-feet.ts'
import { addInlineHeads } from './labels/find-inline-heads.ts'
import type { Label } from './labels/label.ts'
import { LineReader, type Place } from './line-reader.ts'
import { type ToolKind, toToolKind } from './words/tool-kind.ts'

export type { Place } from './line-reader.ts'

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
export interface Marks {
  readonly text: string
  readonly turns: readonly Turn[]
  readonly tags: readonly Tag[]
  readonly labels: readonly Label[]
  readonly fences: readonly Fence[]
  /** Lines of `---` or `===`, by their beginning. */
  readonly rules: readonly Place[]
  /** Such lines that are indented like the loop of a template. */
  readonly loopRules: readonly Place[]
  /** Lines of nothing but `###`. */
  readonly hashes: readonly Place[]
  /** Lines that may begin with a bullet or a number. */
  readonly bullets: readonly Place[]
  /**
   * Where a JSON array or object may begin: at the beginning of a line, after a tag there, or after words and a colon.
   */
  readonly values: readonly Place[]
  /** Table headers. */
  readonly tables: readonly Place[]
  /** Lines of three quotes. */
  readonly quotes: readonly Place[]
  /** Lines that begin with a field for text, such as `Content: …`. */
  readonly contents: readonly Place[]
  /** Bold HTML text at the beginning of a line, possibly after line breaks: `<br><b>Content from a.pdf: </b>`. */
  readonly bolds: readonly Place[]
  /** Marks that open a block closed by another mark, such as `[webpage 1 begin]`. */
  readonly openings: readonly Opening[]
  /** Lines below a text that name its source. */
  readonly feet: readonly Foot[]
  /** Lines that list the keys of the texts above them: `Valid Keys: Smith2020 pages 1-3`. */
  readonly keyLines: readonly Place[]
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

/** Reads a text once. Returns undefined if it has absurdly many marks. */
export function findMarks(text: string, traits: TextTraits = {}): Marks | undefined {
  return finish(readMarks(text, traits))
}

/** Like `findMarks`, but yields every few thousand lines. */
export function* readMarks(
  text: string,
  { whole = false, rendered = false, asked = false, tool, sorted = false }: TextTraits,
): Generator<void, Marks | undefined> {
  const tags = findTags(text)
  const turns = rendered ? findTurns(text) : [{ start: 0, end: text.length }]
  if (tags === undefined || turns === undefined) return undefined
  const reader = new LineReader(text, whole)
  let lines = 0
  for (let line = 0, end = 0; line < text.length; line = end + 1) {
    end = findLineEnd(text, line)
    reader.read(line, end)
    if (++lines > MOST_LINES || (lines % 256 === 0 && reader.count > MOST_MARKS) || reader.repeated > MOST_FORMS)
      return undefined
    if (lines % LINES_A_STEP === 0) yield
  }
  const {
    fences,
    rules,
    loopRules,
    hashes,
    bullets,
    values,
    tables,
    quotes,
    contents,
    bolds,
    openings,
    feet,
    keyLines,
  } = reader
  const labels = addInlineHeads(text, reader.labels)
  return {
    text,
    turns,
    tags,
    labels,
    fences,
    rules,
    loopRules,
    hashes,
    bullets,
    values,
    tables,
    quotes,
    contents,
    bolds,
    openings,
    feet,
    keyLines,
    whole,
    asked,
    source: sorted ? 'read' : toToolKind(tool),
  }
}
