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
