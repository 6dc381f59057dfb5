import type { LabelForm } from '../../../answer/citations/citation-labels.ts'
import { isMappedForm } from '../../../answer/citations/mapped-forms.ts'
import { isQuestion } from './sentences.ts'

/* Answers that a program reads, and forms of citation. Where a number is not mapped back, the numbers of a list stay. */

/** Rules on the form that an answer is asked for in. */
export const answerRules = {
  /** a format that a program reads */
  format: `
    DATA_FORMAT; TABLE; ^ 表で; markdown|html table|tables; as|in|into|a _? table; list|lists of _? integer+|number+|int+|id+|indices|indexes|float+|boolean+|string+
    with|has|having the|these|two|three? keys|fields|properties|attributes|columns`,
  /** what the model is given, not what it returns */
  given: `
    is|are|was|were|be _? given|provided|listed|presented|formatted|shown|supplied|returned
    you will|are|have? be? given|get|receive|provided; given|provided|below|above|following|retrieved|input|data _? json|yaml|csv|xml|table+|array+
    json|yaml|csv|xml|table+|array+ given|provided|below|above; from the? data? table|tables; xml|json|html|yaml tag+|element+|block+|bracket+
    document+|source+|context|passage+|chunk+|table+|record+|information ..3 in|as|from an|a? _? json|yaml|csv|xml|table|array
    no|not|never|without|avoid ..4 json|yaml|csv|xml|table|tables; don t ..4 json|yaml|csv|xml|table|tables; instead of ..4 json|yaml|csv|xml|table|tables`,
  /** in a question, a format is what is asked about, unless the answer shall have it */
  asked_in: `
    answer|reply|respond|return|output|give|list|print|write|show|put|format|convert|antwort*|gib|répond*|respond*|rispond*|ответ* ..6 json|yaml|yml|csv|xml|table|array|tabelle|tableau|tabla|tabela`,
  /** `Reply with one digit`, `answer by a single letter` */
  bare: `
    ^ pick|choose|select the best|right|correct|most_relevant one|document|passage|source|text|chunk|candidate
    REPLY ..3 ONE ..2 UNIT !of; REPLY ..3 ONE ..2 UNIT of the _? document|documents|passage|passages|source|sources|chunk|chunks|result|results
    one|single|1 word|letter|digit|numeral|number|integer|character|token; only|just|solely NAMING? the|its|their|a|one ..2 UNIT !of
    nothing but|except NAMING? the|its|their|a|one? ..2 UNIT !of; call _ NAMING? the|its|their|a|one ..2 UNIT !of
    only|just|solely NAMING? the|its|their|a|one ..2 UNIT of the document|documents|passage|passages|source|sources|chunk|chunks|result|results
    ONE_ABROAD ..2 UNIT_ABROAD|NUMBER_ABROAD; UNIT_ABROAD|NUMBER_ABROAD solamente|soltanto; alleen|slechts|één|bara|endast|kun|bare|ett|tylko|jedną|jednym|pouze|jen|jedním|sadece|chỉ|hanya|satu|en_enkelt|tek_bir _? UNIT_ABROAD|NUMBER_ABROAD
    только|одн*|лише|тільки номер*|индекс*|цифр*|букв*|числ*|слов*|літер*
    只|仅 ..10 编号|編號|序号|序號|数字|數字|索引|字母; 一 个|個 数字|數字|字母|编号|词|字; 番号|数字|記号 だけ|のみ|一つ|1つ|ひとつ; 번호|숫자|글자 만|하나
    رقم|حرف واحد; الرقم|رقم فقط; केवल|सिर्फ संख्या|अंक; ספרה אחת; ตัวเลขเดียว; เฉพาะหมายเลข; แค่หมายเลข
    ARTICLE|which|what|by|with|only|just number|index|position $$; NUMBER_ABROAD saja? $$; ^ 编号|編號|序号|番号 是|は|为; ^ 何番 !目; ^ 몇번이|인`,
  /** data that may hold a value for each text, though no word says so */
  many: '^ 表で; array|arrays|list of; json list|lists; lists|csv|tsv|数组|數組|列表|配列|배열|목록|liste|lista|список*|TABLE',

  citing: 'CITING',
  /** a number asked for as a name, though no form is shown; `cite by number` is answered by the labels of the list */
  by_number: `
    ASKING only|just? ARTICLE? ..3 NUMBER_WORD; document|doc|source|passage|context|chunk|snippet|excerpt|text|result|memory NUMBER_WORD; NUMBER_WORD of|for the|each|every|all|your|these|those ..3 TEXT_EN
    NUMBER_ABROAD; 编号; 編號; 序号; 番号; 번호`,
  /** the number of what was spoken of before */
  by_their_number: `
    its|their NUMBER_WORD !of; NUMBER_WORD of the one|ones; NUMBER_WORD ..2 for each
    ihre|seine|deren|dessen|leur|leurs|son|su|sus|seu|seus|suo|loro|hun|его|её|их NUMBER_ABROAD !de|di|d|du|do|da|del|della|счёта|счета|договора|телефона`,
  not_by_number:
    'not|never|without|avoid|don|doesn ..5 NUMBER_WORD; phone|telephone|mobile|fax|customer+|client+|person|people|filiale|kunden|teléfono|telefone|telefono|téléphone|telefon*|телефон*',
  number: 'number+|index|indexes|indices|ordinal+; NUMBER_ABROAD; 编号|編號|序号|番号|번호',
  by_id: 'id|ids|index|indices|indexes|identifier|identifiers|exposant*|superíndice*|rang',
  /** signs that are not mapped */
  by_sign: 'superscript*; hochgestellt*; in roman numerals',
} as const

// `keys "answer"`, and a specimen of an object: `{"answer": string}`, `{'sources': [1]}`, `[{"id"`
const KEY = /(?<!\p{L})(?:keys?|fields?|propert(?:y|ies)|attributes?|columns?) ["'“`]\p{L}/u
const OBJECT = /[{[]\s*["'“]\p{L}[\p{L}\p{N} _-]{0,40}["'”]\s*[:,\]]/u

interface Found {
  has(kind: keyof typeof answerRules | 'text' | 'showing'): boolean
}

// what is around a list of JSON objects is open
function isClosed(sentence: string): boolean {
  const count = (signs: string): number => [...sentence].filter((sign) => signs.includes(sign)).length
  return count('{[') === count('}]')
}

function asksForFormat(found: Found, sentence: string): boolean {
  if (OBJECT.test(sentence) && isClosed(sentence)) return true
  if (!(found.has('format') || KEY.test(sentence)) || sentence.trimStart().startsWith('```') || found.has('given'))
    return false
  return !isQuestion(sentence) || found.has('asked_in')
}

/** Whether a lower-case sentence asks for data, in which numbers may stand. */
export function asksForData(found: Found, sentence: string): boolean {
  // a number in brackets is a citation
  return asksForFormat(found, sentence) || (found.has('bare') && !sentence.includes('brackets'))
}

// `{"doc_1": …`, `{"doc": n`
const NUMBERED_KEY = new RegExp(
  [
    `["'“](?:\\p{L}{1,20}[ _-]?)?\\d{1,2}["'”]\\s*:`,
    `["'“](?:doc(?:ument)?|source|passage|chunk|result|text|index)s?["'”]\\s*:\\s*[[<]?(?:[nikx]|int(?:eger)?|number|\\d{1,2})(?![\\p{L}.\\d])`,
  ].join('|'),
  'u',
)

/** Whether a lower-case sentence asks for data that may hold a value for each text. */
export function asksForMany(found: Found, sentence: string): boolean {
  return (found.has('many') || NUMBERED_KEY.test(sentence)) && asksForFormat(found, sentence)
}

// what stands for a number: digits, a letter of a formula, a name in braces
const PLACEHOLDER =
  '\\$?[{<]?(?:\\d{1,3}|[XYZNKIJxyznkij]|(?:doc |document |source |ref |passage )?(?:index|idx|ids?|num(?:ber)?s?|no\\.?|nr\\.?|#))[}>]?'
const NUMBERS = `${PLACEHOLDER}(?: ?(?:[,;–&-]|and) ?(?:${PLACEHOLDER}|\\.\\.\\.|…)){0,8}`
const NAME = '\\p{L}[\\p{L}\\p{N}]*(?:[ _:#./-]{1,2}\\p{L}[\\p{L}\\p{N}]*){0,3}[ _:#.-]{0,2}'
const SPECIMEN = new RegExp(
  [
    `(?:[A-Za-z]{1,20})?\\[{1,2}\\^?(?:${NAME})?\\(?${NUMBERS}\\)?(?: \\p{L}+)?\\^?\\]{1,2}(?:\\([^()\\s]{1,80}\\))?\\^?`,
    `[【〔「]\\p{L}{0,20}[ :：]?${NUMBERS}[^】〕」\\n]{0,12}[】〕」]`,
    `<([\\w-]{1,20})(?:[ :][^<>\\n]{0,40})?>\\s?(?:${NAME})?\\[?${NUMBERS}\\]?\\s?</\\1>`,
    `<(?:cite|co|ref|sup|citation|fn|footnote)[^<>\\n]{0,20}[ :="']${NUMBERS}["']? ?/?>|<\\w{2,20} \\w{1,20}=["']?${NUMBERS}["']? ?/>|<${NUMBERS}>`,
    `["“'«](?:${NAME})?\\d{1,2}(?:[,;] ?\\d{1,2})+["”'»]|«${NUMBERS}»`,
    `\\^${NUMBERS}\\^|\\{${NUMBERS}\\}|[¹²³⁴-⁹①-⑳❶-❿]|†\\d|\\p{L}+ ?[=:#] ?<(?:number|index|id|n)>`,
  ].join('|'),
  'gu',
)
// without these, no text matches the pattern above
const SIGN = /[[【〔「<^{¹²³⁴-⁹①-⑳❶-❿†«"“']/u
// a number that is part of a word or sign, such as `S.3`, `*1` and `#doc-3`, but no amount, and no end of a longer name
const APART = '(?<![^\\s("“‘`\'])(?![$€£¥~≈<>=≤≥±+-]\\d|https?:)'
const END = '\\d{1,2}(?![\\d\\p{L}]|[.,:/_-][\\d\\p{L}])'
const JOINED = `${APART}(?:[^\\s\\d("“‘\`']{1,24}|[#№] )${END}`
// where nothing is said of citing: behind a sign, or a word or letter for a text; `CO2` and `GPT-4` are names
const MENTIONED = new RegExp(
  `${APART}(?:[^\\s\\d\\p{L}("“‘\`'][^\\s\\d("“‘\`']{0,23}|(?:documents?|docs?|sources?|src|passages?|refs?|texts?|chunks?|[ds])[-_:#.]{0,2})${END}`,
  'giu',
)
// `(because of 1, 5, 3)`, where nothing is said of texts either
const CAUSE = new RegExp(
  `\\((?:because of|from|see|per|cf\\.?|according to|based on|supported by|source:?) ${NUMBERS}\\)`,
  'giu',
)
const PLAIN = new RegExp(`\\((?:${NAME})?${NUMBERS}\\)|${JOINED}|(?<![=:])["'“‘\`](?:${NAME})?${NUMBERS}["'”’\`]`, 'gu')

// the number of a rule: `(2) Cite your sources`
const ENUMERATION = /^\s*\(?\d{1,2}[.)]\s/

const mostSpecimens = 20

/** A form of citation: the number, or the name, is asked for in whatever form. */
const ANY_NUMBER = '#'
const ANY_FORM = ''

/** Reads the forms of citation in a sentence as it is written. */
export function readForms(found: Found, sentence: string): readonly string[] {
  const specimens = readSpecimens(found, sentence)
  if (specimens.length > 0) return specimens.map((specimen) => specimen.replaceAll('$', ''))
  const isCiting = found.has('citing')
  const isAsked = found.has('by_number') && (isCiting ? found.has('by_id') : found.has('text'))
  if ((isAsked || found.has('by_their_number')) && !found.has('not_by_number'))
    return [found.has('number') ? ANY_NUMBER : ANY_FORM]
  return isCiting && found.has('by_sign') ? [ANY_FORM] : []
}

function readSpecimens(found: Found, sentence: string): string[] {
  const isCiting = found.has('citing')
  const isSigned = SIGN.test(sentence)
  const specimens = isSigned ? firstOf(sentence.matchAll(SPECIMEN)) : []
  if (!isCiting && !found.has('text'))
    return found.has('showing') ? [...specimens, ...firstOf(sentence.matchAll(CAUSE))] : specimens
  const plain = sentence.replace(ENUMERATION, '')
  const rest = isSigned ? plain.replaceAll(SPECIMEN, ' ') : plain
  const numbered = firstOf(rest.matchAll(isCiting ? PLAIN : MENTIONED))
  return [...specimens, ...numbered.map((specimen) => specimen.replace(/^["'“‘`]|["'”’`]$/gu, ''))]
}

/** Returns the first distinct matches. A sentence with more shows no specimens, and one that is not mapped is enough. */
function firstOf(matches: Iterable<RegExpExecArray>): string[] {
  const found = new Set<string>()
  for (const [specimen] of matches) if (found.add(specimen).size === mostSpecimens) break
  return [...found]
}

/** Whether citations in the forms asked for would come back with the numbers that were sent. */
export function areUnmapped(forms: readonly string[], form: LabelForm): boolean {
  // `[webpage X begin]` describes the list itself
  const own = form.prefix.trim().toLowerCase()
  const asked = forms.filter((specimen) => !isAny(specimen) && !isOwnMark(specimen.toLowerCase(), own))
  return asked.length > 0 ? asked.some((specimen) => !isMappedForm(specimen, form)) : forms.some(isAny)
}

// `[1]`, `D2` and `{n}`, but no `[DOC_ID:f6962c80]`
const PLACE = /^\D{0,16}\d{1,2}(?![\p{L}\p{N}])|(?<![\p{L}\p{N}])(?:[nikNX]|index|num(?:ber)?)(?![\p{L}\p{N}])/u

/** Whether texts without labels would be cited by their places. */
export function arePlaces(forms: readonly string[]): boolean {
  return forms.some((specimen) => specimen === ANY_NUMBER || PLACE.test(specimen))
}

function isAny(specimen: string): boolean {
  return specimen === ANY_NUMBER || specimen === ANY_FORM
}

function isOwnMark(specimen: string, own: string): boolean {
  return own !== '' && specimen.includes(own) && /\s(?:begin|end|start)/.test(specimen)
}
