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

/** What is known of a text besides its characters. */
export interface TextTraits {
  /** It is nothing but material, like a tool's result: no question follows, and its last block ends where it ends. */
  readonly whole?: boolean
  /** It is a prompt as a chat template renders it; elsewhere the marks of templates are words like others. */
  readonly rendered?: boolean
  /** The question stands in another message: this one may end with its last block. */
  readonly asked?: boolean
  /** What the tool is called whose result it is. */
  readonly tool?: string | undefined
  /** What it was asked for it lists in an order of its own, as by date. */
  readonly sorted?: boolean
}

/** Everything in a text that may be part of a list, in order and wherever it stands. */
export interface Marks {
  readonly text: string
  readonly turns: readonly Turn[]
  readonly tags: readonly Tag[]
  readonly labels: readonly Label[]
  readonly fences: readonly Fence[]
  /** Lines of `---` or `===`, each from its beginning. */
  readonly rules: readonly Place[]
  /** Lines that may begin with a bullet or a number. */
  readonly bullets: readonly Place[]
  /** Where an array or object of JSON may begin: first in a line, behind a tag there, or behind words and a colon. */
  readonly values: readonly Place[]
  /** The headers of tables. */
  readonly tables: readonly Place[]
  /** Lines of three quotes. */
  readonly quotes: readonly Place[]
  /** Lines that begin with a field which holds a text, as `Content: …`. */
  readonly contents: readonly Place[]
  /** Where bold words of HTML stand first in a line but for line breaks, as in `<br><b>Content from a.pdf: </b>`. */
  readonly bolds: readonly Place[]
  /** Marks that open a block which another one closes, as `[webpage 1 begin]`. */
  readonly openings: readonly Opening[]
  /** Lines below a text that say where it is from. */
  readonly feet: readonly Foot[]
  /** The text is nothing but material, like a tool's result: where it ends, the last block ends. */
  readonly whole: boolean
  /** The question stands in another message: this one may end with its last block. */
  readonly asked: boolean
  /** What kind of tool said it, where one did and it has a name. */
  readonly source: ToolKind | undefined
}

// a million tokens are some 100,000 lines; a text with more marks than lines like these is an attack and holds no list
const MOST_MARKS = 100_000
// as is one of many times as many lines, of which each is read
const MOST_LINES = 300_000
// a text that speaks of its blocks in more forms than these is none that we know
const MOST_FORMS = 24

/** Reading a few thousand lines takes milliseconds. */
const LINES_A_STEP = 2_048

/** Reads a text once; undefined when it holds absurdly many marks. */
export function findMarks(text: string, traits: TextTraits = {}): Marks | undefined {
  return finish(readMarks(text, traits))
}

/** The same, some thousand lines a step. */
export function* readMarks(
  text: string,
  { whole = false, rendered = false, asked = false, tool, sorted = false }: TextTraits,
): Generator<void, Marks | undefined> {
  const tags = findTags(text)
  const turns = rendered ? findTurns(text) : [{ start: 0, end: text.length }]
  if (tags === undefined || turns === undefined) return undefined
  const reader = new LineReader(text, whole)
  let lines = 0
  for (let line = 0; line < text.length; line = findLineEnd(text, line) + 1) {
    reader.read(line)
    if (++lines > MOST_LINES || (lines % 256 === 0 && reader.count > MOST_MARKS) || reader.repeated > MOST_FORMS)
      return undefined
    if (lines % LINES_A_STEP === 0) yield
  }
  const { fences, rules, bullets, values, tables, quotes, contents, bolds, openings, feet } = reader
  const labels = addInlineHeads(text, reader.labels)
  return {
    text,
    turns,
    tags,
    labels,
    fences,
    rules,
    bullets,
    values,
    tables,
    quotes,
    contents,
    bolds,
    openings,
    feet,
    whole,
    asked,
    source: sorted ? 'read' : toToolKind(tool),
  }
}
