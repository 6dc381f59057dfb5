/** A label at the beginning of a line, as in `[3] text`, `[Doc_3] text` and `Document 3: text`, or a record's fields. */
export interface Label {
  /** Where the label begins, with its heading signs, emphasis and brackets. */
  readonly start: number
  readonly end: number
  /** What is alike in all labels of one list. */
  readonly form: string
  /** `[3]`: footnotes, citations and code look the same, so its numbers have to run. */
  readonly bare: boolean
  /** What stands in front of the id when the label is spoken of. */
  readonly prefix: string
  /** Empty where blocks have no id, as below `### Document`. */
  readonly idStart: number
  readonly idEnd: number
  /** The id's value if it is a plain number. */
  readonly number: number | undefined
  /** Of a record: the names of its fields. */
  readonly keys?: string
}

const WORD = 'search[ _]result|document|doc|source|passage|context|chunk|reference|memory|file|result|snippet|excerpt'
const ID = '([\\p{L}\\p{N}][\\p{L}\\p{N}_.-]{0,63})'
const COLON = '[ \\t]?[:：]'

const DECORATION = /#{1,6}[ \t]{1,3}|\*\*|[=-]{3,10}[ \t]/y
// no initialiser `[3] = …`
const NUMBER = /()\[(\d{1,6})\](?:\*\*)?(?=\s|$)(?![ \t]{0,8}=)/y
const BRACKETED = toPattern(`\\[((?:${WORD})(?:[ _.-]?#?|: ?))${ID}\\](?:\\*\\*)?(?::(?:\\*\\*)?)?(?=\\s|$)`)
const LINKED = toPattern(`((?:${WORD})[ \\t]?)\\[${ID}\\](?:${COLON}|(?=[ \\t]?\\())`)
const SPOKEN = toPattern(`((?:${WORD})[ \\t]?#?)${ID}(?:${COLON}|(?=[ \\t]?\\([^()\\n]{1,200}\\)[:：]))`)
const BOLD = toPattern(`((?:${WORD})[ \\t]?#?)${ID}(?:${COLON}\\*\\*|\\*\\*(?:${COLON})?(?=\\s|$))`)
const HEADING = toPattern(`((?:${WORD})[ \\t]?#?)${ID}(?:${COLON}|(?=[ \\t]?(?:\\r?\\n|$|[(–-])))`)
// `===== Document 0 =====`, and `--- SOURCE 1: Rome ---`, of which the title is content
const FRAMED = toPattern(
  `((?:${WORD})[ \\t]?#?)${ID}(?:${COLON}?[ \\t][=-]{3,10}(?=[ \\t]*(?:\\r?\\n|$))|${COLON}(?=[^\\n]{1,200}[ \\t][=-]{3,10}[ \\t]*(?:\\r?\\n|$)))`,
)

// a heading that names no block, as in `### Document`
const UNNUMBERED = /((?:document|doc|source|passage|chunk|excerpt|snippet|search result))[ \t]*(?=\r?\n)/iuy

const DECORATED = '#*=-'
const WORD_INITIALS = 'dspcrmfeDSPCRMFE'

function toPattern(source: string): RegExp {
  return new RegExp(source, 'iuy')
}

/** Reads the label that begins at `start`, its line's first character. */
export function readLabel(text: string, start: number): Label | undefined {
  const first = text[start]!
  const decoration = DECORATED.includes(first) ? readDecoration(text, start) : ''
  const at = start + decoration.length
  if (decoration !== '' && (first === '=' || first === '-')) return matchLabel(text, start, decoration, FRAMED, 0)
  if (text[at] === '[') {
    const bare = isDigit(text.charCodeAt(at + 1))
    if (!bare && !WORD_INITIALS.includes(text[at + 1] ?? ' ')) return undefined
    return matchLabel(text, start, decoration, bare ? NUMBER : BRACKETED, 1)
  }
  return WORD_INITIALS.includes(text[at] ?? ' ') ? readWordLabel(text, start, decoration) : undefined
}

function readWordLabel(text: string, start: number, decoration: string): Label | undefined {
  const spoken = decoration === '' ? SPOKEN : decoration === '**' ? BOLD : HEADING
  const label = matchLabel(text, start, decoration, spoken, 0) ?? matchLabel(text, start, decoration, LINKED, 1)
  return label ?? (spoken === HEADING ? readUnnumbered(text, start, decoration) : undefined)
}

function readUnnumbered(text: string, start: number, decoration: string): Label | undefined {
  UNNUMBERED.lastIndex = start + decoration.length
  const name = UNNUMBERED.exec(text)?.[1]
  if (name === undefined) return undefined
  const noId = { idStart: start, idEnd: start, number: undefined }
  const end = start + decoration.length + name.length
  return { start, end, form: `${decoration}${name}`, bare: false, prefix: '', ...noId }
}

function readDecoration(text: string, start: number): string {
  DECORATION.lastIndex = start
  return DECORATION.exec(text)?.[0] ?? ''
}

function matchLabel(
  text: string,
  start: number,
  decoration: string,
  shape: RegExp,
  brackets: 0 | 1,
): Label | undefined {
  const at = start + decoration.length
  shape.lastIndex = at
  const match = shape.exec(text)
  if (match === null) return undefined
  const [whole, prefix, id] = match as unknown as [string, string, string]
  if (!isLabelId(prefix, id)) return undefined
  const idStart = at + prefix.length + brackets
  return {
    start,
    // `**Document [3]:**`
    end: at + whole.length + (decoration === '**' && text.startsWith('**', at + whole.length) ? 2 : 0),
    form: `${decoration}${shape === LINKED ? '[]' : brackets}${prefix}`,
    bare: shape === NUMBER,
    // `Document[3]` is spoken of as [Document 3]
    prefix: shape === LINKED ? `${prefix.trimEnd()} ` : prefix,
    idStart,
    idEnd: idStart + id.length,
    number: toNumber(id),
  }
}

/** `[Source code]` and `File name:` are words, not labels: an id holds a digit or is one capital letter. */
function isLabelId(prefix: string, id: string): boolean {
  if (/^(?:Doc|DOC|Document|DOCUMENT)_$/.test(prefix)) return true
  if (/[a-z]$/i.test(prefix)) return isDigit(id.charCodeAt(0))
  return /\d/.test(id) || /^[A-Z]$/.test(id)
}

/** The value of a plain number; `07` is none, as it could not be counted up in its own form. */
function toNumber(id: string): number | undefined {
  return /^(?:0|[1-9]\d{0,5})$/.test(id) ? Number(id) : undefined
}

/** Whether these ids are n, n+1, n+2 …, from 0 or 1 on. */
export function isRunning(ids: readonly (string | undefined)[]): boolean {
  const first = toNumber(ids[0] ?? '')
  if (first === undefined || first > 1) return false
  return ids.every((id, i) => id !== undefined && toNumber(id) === first + i)
}

function isDigit(code: number): boolean {
  return code >= 48 && code <= 57
}
