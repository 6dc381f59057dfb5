import { readNounAlone } from './words/read-noun.ts'

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
/** The closing mark of each form, or null if it has none. */
export type Closings = Map<string, string | null>

/** Reads the opening at `start`, where a line begins with `[`, `<`, `{`, `=` or `-`. */
export function readOpening(text: string, start: number, closings: Closings): Opening | undefined {
  return readBlock(text, start) ?? readNoun(text, start, closings)
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
