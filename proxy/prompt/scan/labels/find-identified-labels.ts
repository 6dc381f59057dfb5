import { GAP, type Label, toLabelNumber } from './label.ts'

/* Labels that are the identifier of a text in brackets. */

// `[PMID:123]`, a global or local identifier with its type
const IDENTIFIED = new RegExp(
  `\\[((?:pmid|pmcid|doi|arxiv|isbn|issn|ecli|celex|nct|id|uid|key|ref|cite|kb|mem|src)(?:[:#] ?|[_-](?=\\d{1,12}\\])))([\\w.:/-]{0,60}\\d[\\w.:/-]{0,20})\\]:?${GAP}`,
  'iuy',
)
// `[c910e2e] Source: a.md`, alone on its line, and `[c910e2e]:Title: Rome Description: …`
const ID_BEFORE_FIELD =
  /\[([\p{L}\p{N}][\p{L}\p{N}_.:/-]{0,63})\](?:[:：](?=[ \t]?(?:title|name|source|content)[:：])|(?=[ \t](?:source|file|filename|document|title|url|path)[:：][ \t]?\S[^\n]{0,200}\r?\n[ \t]*\S))/iuy

/** Reads an identifier in brackets before a field that names the text or its source. */
export function readIdBeforeField(text: string, start: number): Label | undefined {
  ID_BEFORE_FIELD.lastIndex = start
  const match = ID_BEFORE_FIELD.exec(text)
  if (match === null) return undefined
  const idStart = start + 1
  const idEnd = idStart + match[1]!.length
  const end = start + match[0].length
  const number = toLabelNumber(match[1]!)
  return { start, end, form: '[] source:', bare: false, isWeak: true, prefix: '', idStart, idEnd, number }
}

// `[9031 | Smith et al. | 2019 | Citations: 3]: text`
const KEY_OF_PARTS =
  /\[(?=[^[\]\n]{1,300}\|[ \t]?(?:citations?|cited by|sources?|pages?|p\.|score|relevance|title|file|doc|document|doi|url)[:=])(?![^[\]\n]{0,300}\d:\d\d)[^[\]\n|]{1,80}(?:[ \t]?\|[ \t]?[^[\]\n|]{1,120}){1,7}\]:(?=[ \t]+\S)/iuy
// `[[1]] text`
const DOUBLED = new RegExp(`\\[\\[(\\d{1,4})\\]\\]:?${GAP}`, 'uy')
// `[Quote from Rome] text`
const QUOTED_FROM =
  /\[((?:quote|quotation|excerpt|extract|passage|snippet|chunk) from )[^[\]\n]{1,200}\]:?(?=[ \t]+\S|[ \t]*\r?\n)/iuy

/** Reads a key of several parts in brackets, a number in double brackets, or the name of what a text is quoted from. */
export function readOtherBrackets(text: string, start: number): Label | undefined {
  DOUBLED.lastIndex = start
  const doubled = text[start + 1] === '[' ? DOUBLED.exec(text) : null
  if (doubled !== null) {
    const [whole, id] = doubled as unknown as [string, string]
    const span = { start, end: start + whole.length, idStart: start + 2, idEnd: start + 2 + id.length }
    return { ...span, form: '[[]]', bare: true, isWeak: true, prefix: '', number: toLabelNumber(id) }
  }
  for (const shape of [QUOTED_FROM, KEY_OF_PARTS]) {
    shape.lastIndex = start
    const match = shape.exec(text)
    if (match === null) continue
    const form = shape === QUOTED_FROM ? `[${match[1]!.toLowerCase()}~` : '[|]:'
    const span = { start, end: start + match[0].length, idStart: start, idEnd: start }
    return { ...span, form, bare: false, isWeak: true, prefix: '', number: undefined }
  }
  return undefined
}

/** Reads an identifier in brackets, with its type. */
export function readIdentified(text: string, start: number, at: number): Label | undefined {
  IDENTIFIED.lastIndex = at
  const match = IDENTIFIED.exec(text)
  if (match === null) return undefined
  const [whole, prefix, id] = match as unknown as [string, string, string]
  const idStart = at + 1 + prefix.length
  const form = `${text.slice(start, at)}[${prefix.toLowerCase()}~`
  const number = toLabelNumber(id)
  return {
    start,
    end: at + whole.length,
    form,
    bare: false,
    isWeak: true,
    prefix,
    idStart,
    idEnd: idStart + id.length,
    number,
  }
}
