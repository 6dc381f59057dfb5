import { findContentEnd, findLineEnd } from './find-edges.ts'
import type { Fence } from './find-fences.ts'
import { isFileName } from './labels/find-named-labels.ts'
import { isAlphabetic, isLabelNoun, readNounAlone } from './words/read-noun.ts'

/** A line, or its beginning, that opens a block closed by a separate mark, such as `[webpage 1 begin]`. */
export interface Opening {
  readonly start: number
  readonly end: number
  /** The mark that closes the block. */
  readonly closing: string
  /** What all openings of one list have in common. */
  readonly form: string
  /** Position of the number or name by which the block is mentioned. */
  readonly label: { readonly start: number; readonly end: number } | undefined
  /** What precedes the label when the block is mentioned. */
  readonly prefix: string
  /** The closing mark also has the label. */
  readonly isTwice: boolean
}

const ID = '[\\p{L}\\p{N}][\\p{L}\\p{N}_.-]{0,63}'
// what comes before the noun, and after it
const BEFORE_BLOCK = /(\[{1,2}|<{2,3}|[=-]{3,10}[ \t]?)((?:begin|start)(?: of)?[ _-])?/iy
const BEHIND_BLOCK = new RegExp(
  `([ _.:-]?#?)(${ID})([ _-](?:begin|start))?(?:\\]{1,2}|>{2,3}|[ \\t]?[=-]{3,10})`,
  'iuy',
)
const OF_FILE = /\[(file|document|attachment) (?:name|title)\][:：] ?[^\n]{1,200}\r?\n\[\1 content begin\]/iy
// the document role in Granite's chat template
const OF_ROLE = /<\|start_of_role\|>document \{[^<>\n]{0,300}\}<\|end_of_role\|>/y
const ROLE_ID = /"(?:document_|doc_)?id": ?"?([\p{L}\p{N}_.:-]{1,64})/u
const END_OF_ROLE = '<|end_of_text|>'

/** The closing mark of each form, or null if it has none. */
export type Closings = Map<string, string | null>

/** Reads the opening at `start`, where a line begins with `[`, `<`, `{`, `=` or `-`. */
export function readOpening(text: string, start: number, closings: Closings): Opening | undefined {
  return (
    readBlock(text, start) ??
    readNamedBlock(text, start) ??
    readAttributed(text, start, closings) ??
    readNumberedTag(text, start) ??
    readFile(text, start) ??
    readRole(text, start) ??
    readNoun(text, start, closings)
  )
}

// `[Document]`, `<<<DOC 2>>>`, alone on its line
const BEFORE_NOUN = /([[<{|=*#-]{1,10}[ \t]?)((?:begin|start)(?: of)?[ _-])?/iy
const BEHIND_NOUN = /([ _.:#-]{0,2}(?:\d{1,6}|[A-Z]))?([ \t]?[\]>}|=*#-]{1,10})(?=[ \t]*\r?\n)/iuy
const ENDS = ['/$', 'END $', 'END_$', 'End $', 'end $', 'end_$', 'END OF $', 'End of $', 'End', 'END', 'end']
// `<BEGIN SOURCE>`, which is not an element name, `<<<DOC 2>>>` and `<|doc|>`
const SAID = /^<(?:[<|]|(?:begin|start)[ _])/i
const MOST_FORMS = 24
// the first block is not longer than this
const FURTHEST_CLOSING = 100_000

/** Reads an opening that is only a word for a document, if the text has a matching closing mark, such as `[End]`. */
function readNoun(text: string, start: number, closings: Closings): Opening | undefined {
  // a single `<` precedes an element's name
  if (text[start] === '<' && !SAID.test(text.slice(start, start + 7))) return undefined
  const parts = readParts(text, start, BEFORE_NOUN, BEHIND_NOUN)
  if (parts === undefined) return undefined
  const { edge, before, noun, end } = parts
  const [, id = '', edgeEnd = ''] = parts.behind
  const form = `${edge}${before}${noun}${edgeEnd}`
  let closing = closings.get(form)
  if (closing === undefined && closings.size < MOST_FORMS) {
    const own = before === '' ? ENDS : [`${toEnd(before)}$`, `/${toEnd(before)}$`]
    const written = own.map((end) => `${edge}${end.replace('$', noun)}${edgeEnd}`)
    const near = text.slice(start, start + FURTHEST_CLOSING)
    closing = written.find((mark) => near.includes(mark)) ?? null
    closings.set(form, closing)
  }
  if (closing === undefined || closing === null) return undefined
  const digits = id.replace(/^[ _.:#-]+/, '')
  const at = start + edge.length + before.length + noun.length + id.length - digits.length
  const label = digits === '' ? undefined : { start: at, end: at + digits.length }
  return { start, end, closing, form, label, prefix: noun + id.slice(0, id.length - digits.length), isTwice: false }
}

// `Document start`, alone on its line
const SPOKEN = /[ _-](start|begin)(?:s|ning)?:?(?=[ \t]*\r?\n)/iy

/** Lines that only say that a document begins are not longer. */
export const LONGEST_SPOKEN = 32

/** Reads a line that is only a word for a document and one for its beginning, if the text has the word for its end. */
export function readSpokenOpening(text: string, start: number, closings: Closings): Opening | undefined {
  const noun = isAlphabetic(text.charCodeAt(start)) ? readNounAlone(text, start) : undefined
  if (noun === undefined) return undefined
  SPOKEN.lastIndex = noun.end
  const match = SPOKEN.exec(text)
  if (match === null) return undefined
  const end = noun.end + match[0].length
  const form = text.slice(start, end)
  if (!closings.has(form) && closings.size < MOST_FORMS) {
    const written = `\n${noun.word}${match[0].replace(/(?:start|begin)(?:s|ning)?/i, toEndWord)}`
    closings.set(form, text.slice(start, start + FURTHEST_CLOSING).includes(written) ? written : null)
  }
  const closing = closings.get(form)
  return closing == null
    ? undefined
    : { start, end, closing, form, label: undefined, prefix: noun.word, isTwice: false }
}

function toEndWord(word: string): string {
  return word === word.toUpperCase() ? 'END' : word[0]! < 'a' ? 'End' : 'end'
}

function readBlock(text: string, start: number): Opening | undefined {
  const parts = readParts(text, start, BEFORE_BLOCK, BEHIND_BLOCK)
  if (parts === undefined) return undefined
  const { edge, before, end } = parts
  const [whole, joint, id, behind = ''] = parts.behind as unknown as [string, string, string, string | undefined]
  // it says exactly once that it opens, and an id contains a digit or is one capital letter
  if ((before === '') === (behind === '') || !/\d|^[A-Z]$/.test(id)) return undefined
  const noun = parts.noun + joint
  const at = end - whole.length + joint.length
  return {
    start,
    end,
    closing: `${edge}${toEnd(before)}${noun}${id}${toEnd(behind)}${text.slice(at + id.length + behind.length, end)}`,
    form: `${edge}${before}${noun}${behind}`,
    label: { start: at, end: at + id.length },
    prefix: noun,
    isTwice: true,
  }
}

/** The noun of an opening, with what was read before and after it. */
interface Parts {
  readonly edge: string
  readonly before: string
  readonly noun: string
  readonly behind: RegExpExecArray
  readonly end: number
}

function readParts(text: string, start: number, front: RegExp, back: RegExp): Parts | undefined {
  front.lastIndex = start
  const match = front.exec(text)
  const noun = match === null ? undefined : readNounAlone(text, start + match[0].length)
  if (match === null || noun === undefined) return undefined
  back.lastIndex = noun.end
  const behind = back.exec(text)
  if (behind === null) return undefined
  const [, edge, before = ''] = match as unknown as [string, string, string | undefined]
  return { edge, before, noun: noun.word, behind, end: noun.end + behind[0].length }
}

function toEnd(word: string): string {
  return word.replace(/begin|start/i, (begin) =>
    begin === begin.toUpperCase() ? 'END' : begin[0]! < 'a' ? 'End' : 'end',
  )
}

// ``Here is a relevant excerpt in `a.md`:``
const RELEVANT =
  /^(?:[^\n`]{0,80}[ \t])?(?:relevant|code ?base|repository|retrieved)[ \t](?:\p{L}{1,20}[ \t]){0,3}(?:context|excerpt|snippet|passage|section)[ \t](?:from|in|of)[ \t](?:the[ \t])?(?:file[ \t])?`[^`\n]{1,200}`[^`:\n]{0,60}[:：]$/iu
const LONGEST_SENTENCE = 300

/**
 * Reads a fence below a sentence that calls its content relevant and names its file. `line` is where the fence's line
 * begins.
 */
export function readFenced(text: string, line: number, { start: at, end, length }: Fence): Opening | undefined {
  if (line < 2) return undefined
  const start = text.lastIndexOf('\n', line - 2) + 1
  const above = findContentEnd(text, start, line)
  const last = text[above - 1]
  if ((last !== ':' && last !== '：') || above - start > LONGEST_SENTENCE) return undefined
  if (!RELEVANT.test(text.slice(start, above))) return undefined
  const closing = `\n${text.slice(at, at + length)}`
  return { start, end, closing, form: `relevant ${closing}`, label: undefined, prefix: 'excerpt', isTwice: false }
}

// `--- BEGIN FILE: a.md ---` and `[start of a.md]`, closed by the same name
const NAMED_BLOCK =
  /^(?<edge>[=*#-]{2,10}[ \t]?|\[{1,2}|<{1,3})(?<before>(?:begin|start)(?: of)?[ _-])(?<what>(?:(?<noun>[\p{L}_ ]{3,24})[:：][ \t]?)?(?<name>[^\n]{1,200}?))(?<edgeEnd>[ \t]?[=*#-]{2,10}|\]{1,2}|>{1,3}|)[ \t]*$/iu

function readNamedBlock(text: string, start: number): Opening | undefined {
  const end = findContentEnd(text, start, Math.min(findLineEnd(text, start), start + LONGEST_SENTENCE))
  const groups = NAMED_BLOCK.exec(text.slice(start, end))?.groups
  if (groups === undefined) return undefined
  const { edge = '', before = '', what = '', noun = '', name = '', edgeEnd = '' } = groups
  if (noun === '' ? !isFileName(name) : !isLabelNoun(noun)) return undefined
  const closing = `${edge}${toEnd(before)}${what}${edgeEnd}`
  const prefix = noun === '' ? 'file' : noun
  return { start, end, closing, form: `${edge}${before}${noun}`, label: undefined, prefix, isTwice: false }
}

// `[CHUNK id=7 page=3]`, alone on its line
const ATTRIBUTED =
  /\[([A-Za-z]{3,20})(?:[ \t][A-Za-z][\w-]{0,30}=(?:"[^"\n]{0,200}"|[^\s\]"]{1,200})){1,8}\](?=[ \t]*\r?\n)/y

/** Reads a word for a document with attributes in brackets, if the text has the mark that closes it: `[/CHUNK]`. */
function readAttributed(text: string, start: number, closings: Closings): Opening | undefined {
  if (text[start] !== '[') return undefined
  ATTRIBUTED.lastIndex = start
  const [whole = '', noun = ''] = ATTRIBUTED.exec(text) ?? []
  if (whole === '' || !isLabelNoun(noun)) return undefined
  const form = `[${noun} =`
  const closing = `[/${noun}]`
  if (!closings.has(form) && closings.size < MOST_FORMS)
    closings.set(form, text.slice(start, start + FURTHEST_CLOSING).includes(closing) ? closing : null)
  if (closings.get(form) == null) return undefined
  return { start, end: start + whole.length, closing, form, label: undefined, prefix: noun, isTwice: false }
}

// `<source_index: 3>`, closed by `</source_index: 3>`
const NUMBERED_TAG = /<([A-Za-z][A-Za-z_]{2,30})(:[ \t]?)(\d{1,4})>(?=[ \t]*\r?\n)/y

function readNumberedTag(text: string, start: number): Opening | undefined {
  if (text[start] !== '<') return undefined
  NUMBERED_TAG.lastIndex = start
  const match = NUMBERED_TAG.exec(text)
  if (match === null || readNounAlone(text, start + 1) === undefined) return undefined
  const [whole, name, joint, id] = match as unknown as [string, string, string, string]
  const at = start + 1 + name.length + joint.length
  const label = { start: at, end: at + id.length }
  const form = `<${name}${joint}`
  return {
    start,
    end: start + whole.length,
    closing: `</${whole.slice(1)}`,
    form,
    label,
    prefix: `${name}${joint}`,
    isTwice: true,
  }
}

function readFile(text: string, start: number): Opening | undefined {
  OF_FILE.lastIndex = start
  const match = OF_FILE.exec(text)
  if (match === null) return undefined
  const mark = text.slice(start + match[0].lastIndexOf('['), start + match[0].length)
  return {
    start,
    end: start + match[0].length,
    closing: mark.replace(/begin/i, toEnd),
    form: mark,
    label: undefined,
    prefix: '',
    isTwice: false,
  }
}

function readRole(text: string, start: number): Opening | undefined {
  OF_ROLE.lastIndex = start
  const whole = OF_ROLE.exec(text)?.[0]
  if (whole === undefined) return undefined
  const id = ROLE_ID.exec(whole)
  const at = id === null ? 0 : start + id.index + id[0].length - id[1]!.length
  return {
    start,
    end: start + whole.length,
    closing: END_OF_ROLE,
    form: 'document role',
    label: id === null ? undefined : { start: at, end: at + id[1]!.length },
    prefix: '',
    isTwice: false,
  }
}
