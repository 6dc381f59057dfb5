import type { CitationLabels, Labels, Name } from './citation-labels.ts'
import { NO_SPACES } from './citation-nouns.ts'

/** What precedes the numbers of a citation: a bracket, or a noun, which may be in brackets. */
export interface Opening {
  /** directly before the number; '' if a noun is there */
  readonly bracket: '' | '[' | '[^' | '【' | '(' | '（' | '<' | '第'
  /** the labels of the list that is cited; undefined if several may be meant */
  readonly cited: Labels | undefined
  /** several numbers may follow, whether or not a bracket closes them */
  readonly isPlural?: boolean
  /** the noun has other uses: `page 3 of the manual` */
  readonly isLoose?: boolean
  /** the clause is only this citation, as in `Source: 3` */
  readonly isAlone?: boolean
  /** the line before it */
  readonly before: string
}

const BRACKET = /(?:\\?\[{1,2}|［|【|〔|\(|（)[ \u00a0]{0,2}(?:(?:see|cf\.|vgl\.|siehe) )?\^?$/i
// `<cite>`, `<co: `, `<doc id="`
const TAG = /<\/?([\p{L}_]{2,20})(?:>|[ :]{1,2}|[ ][\p{L}_-]{1,20}=["']?)$/u
// `: ` in `Source: 3`, `ID: ` in `Source ID: 3`, `_id="` in `source_id="3"`, ` No. ` in `Document No. 3`, ` #`, `\_`, `:** ` in `**Source:** 3`, ` **`
const SEPARATOR =
  /(?:\(s\))?(?: (?:used|cited))?(?:[ _-]?(?<![\p{L}\p{N}])(?:ids?|n[or]\.?|n\.?[°º]|رقم|номер|nummer|n[úu]mero|numéro|num(?:ber)?s?|index|indices|idx))?(?:\\?_|-|(?<=id|index)=["']?|\. ?|(?:[ \u00a0]?\*{1,2})?[:：]?\*{0,2}[ \u00a0]?(?:[#№][ \u00a0]?)?)$/iu
const HAS_ID = /\p{L}{2}|[#№]/u
const JOINED = /^(?:\\?_|-|\. ?|)$/
const ABBREVIATED = /(?<!\p{L})(?:doc|dok|док|ref|src)$/iu
const OPEN = /[[【]\^?(?:see )?$/
const HEAD =
  /(?:^|[.!?。！？:;,–—-]["”)\]]?\s{1,4}|[([【|>*•+-]\s{0,4})[*_]{0,3}(?:(?:cited|used|relevant|supporting|source) )?$/iu
// `you must document 3 incidents`
const VERB =
  /(?<!\p{L})(?:you|we|they|i) (?:must|should|shall|will|would|can|could|may|might) (?:document|source|reference|cite|chunk)$/iu
const longestOpening = 64
const longestBracket = 12
const longestSeparator = 16

/** Reads what `line`, the text before a number, ends with; undefined if no citation may begin there. */
export function readOpening(line: string, labels: CitationLabels): Opening | undefined {
  const behind = line.slice(-longestOpening)
  // `第3个文档`
  if (behind.endsWith('第')) return { bracket: '第', before: line.slice(0, -1), cited: labels.bare }
  return readBracket(line, behind, labels) ?? readTag(line, behind, labels) ?? readNoun(line, behind, labels)
}

function readBracket(line: string, behind: string, labels: CitationLabels): Opening | undefined {
  const found = BRACKET.exec(behind.slice(-longestBracket))?.[0]
  if (found === undefined) return undefined
  const bracket = found.endsWith('^') ? '[^' : toBracket(found)
  const before = line.slice(0, -found.length)
  const cited = labels.bare
  // `（1）` begins an item, too
  if (bracket === '（' && !/[\p{L}\p{N}]$/u.test(before)) return undefined
  if (bracket !== '(' || labels.isInParentheses) return { bracket, before, cited }
  // `Sources (1, 2)`
  const name = before.endsWith(' ') ? labels.nounAt(before.slice(-longestOpening, -1)) : undefined
  return name?.use === 'citing' ? { bracket, before, cited: name.cited } : undefined
}

function toBracket(found: string): '[' | '【' | '(' | '（' {
  if (found.startsWith('〔')) return '【'
  return (['【', '(', '（'] as const).find((sign) => found.startsWith(sign)) ?? '['
}

function readTag(line: string, behind: string, labels: CitationLabels): Opening | undefined {
  if (!behind.includes('<')) return undefined
  const [whole = '', tag = ''] = TAG.exec(behind) ?? []
  const name = labels.nounAt(tag.replaceAll('_', ' '))
  // `m<sup>2</sup>` is none
  const isRaised = tag === 'sup' && /[.,;!?"”]<sup>$/.test(behind)
  if (name?.use !== 'citing' && tag !== 'co' && !isRaised) return undefined
  return { bracket: '<', before: line.slice(0, -whole.length), cited: name?.cited ?? labels.bare }
}

function readNoun(line: string, behind: string, labels: CitationLabels): Opening | undefined {
  const own = labels.prefixAt(behind)
  const separator = SEPARATOR.exec(behind.slice(-longestSeparator))?.[0] ?? ''
  const text = behind.slice(0, behind.length - separator.length)
  if (VERB.test(text)) return undefined
  const name = own ?? labels.nounAt(text) ?? readFooter(text, separator, labels)
  if (!name) return HAS_ID.test(separator) ? readIdentified(line, separator, labels) : undefined
  const before = line.slice(0, line.length - name.length - (own ? 0 : separator.length))
  const isAlone = !own && !isInBrackets(before) && /[:：]/.test(separator)
  if (!own && !mayCite(name, separator, text, before)) return undefined
  const { cited, isPlural } = name
  return { bracket: '', before, cited, isPlural, isLoose: name.use === 'spoken', isAlone }
}

/** `Cited: 1, 3` on a line of its own */
function readFooter(text: string, separator: string, labels: CitationLabels): Name | undefined {
  const { length } = /^[*_]{0,2}(?:used|cited|benutzt|zitiert)$/i.exec(text)?.[0] ?? ''
  return length > 0 && /[:：]/.test(separator)
    ? { cited: labels.bare, use: 'citing', isPlural: true, length }
    : undefined
}

/** `[ID: 3]`, `[#3]` */
function readIdentified(line: string, separator: string, labels: CitationLabels): Opening | undefined {
  const before = line.slice(0, -separator.length)
  const found = OPEN.exec(before)?.[0]
  if (found === undefined) return undefined
  return { bracket: '', before: before.slice(0, -found.length), cited: labels.bare }
}

function mayCite({ use, isOwn }: Name, separator: string, text: string, before: string): boolean {
  if (OPEN.test(before)) return true
  // `Dok. 3`; without the dot, `dok 3 sata` is Croatian for `while 3 hours`
  if (use === 'bracketed') return separator.startsWith('.') && ABBREVIATED.test(text)
  if (/[:：]/.test(separator)) return use === 'citing' && (isInBrackets(before) || HEAD.test(before))
  // `doc2`, where the prompt calls its blocks documents
  if (isOwn && !separator.startsWith('.')) return true
  return !JOINED.test(separator) || NO_SPACES.test(text) || (separator.startsWith('.') && ABBREVIATED.test(text))
}

function isInBrackets(before: string): boolean {
  return ['[]', '()', '【】'].some((pair) => before.lastIndexOf(pair[0]!) > before.lastIndexOf(pair[1]!))
}
