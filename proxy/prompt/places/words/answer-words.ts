import type { LabelForm } from '../../../answer/citations/citation-labels.ts'
import { isMappedForm } from '../../../answer/citations/mapped-forms.ts'
import { WordPattern } from '../../scan/words/word-pattern.ts'
import { TEXTS } from './text-words.ts'

/* Answers that a program reads, and forms of citation. Where a number is not mapped back, the numbers of a list stay. */

// names of formats are the same in all languages
const FORMAT = new WordPattern(
  /(?<![a-z\d])(?:json(?:l|5| ?schema)?|ya?ml|toml|csv|tsv|xml|protobuf)(?![a-z\d])|(?<!\p{L})(?:(?:markdown |html )tables?|(?:as|in|into|a) (?:\p{L}+ )?table|arrays?|dict(?:ionary|ionaries)?|tuples?|(?:with|has|having) (?:the |these |two |three )?(?:keys|fields|properties|attributes|columns))(?!\p{L})|(?<!\p{L})(?:keys?|fields?|propert(?:y|ies)|attributes?|columns?) ["'“`]\p{L}|(?<!\p{L})lists? of (?:\p{L}+ )?(?:integers?|numbers?|ints?|ids?|indices|indexes|floats?|booleans?|strings?)|tabelle|tableau|(?<!\p{L})tabla(?!\p{L})|tabela|tabell|таблиц|массив|масив|表格|[数數][组組]|配列|배열|جدول|مصفوفة|טבלה|सारणी/u,
)
// what the model is given, not what it returns
const GIVEN = new WordPattern(
  /(?<!\p{L})(?:(?:is|are|was|were|be) (?:\p{L}+ )?(?:given|provided|listed|presented|formatted|shown|supplied|returned)|you (?:will |are |have )?(?:be )?(?:given|get|receive|provided)|(?:given|provided|below|above|following|retrieved|input|data) (?:\p{L}+ )?(?:json|yaml|csv|xml|tables?|arrays?)|(?:json|yaml|csv|xml|tables?|arrays?) (?:given|provided|below|above)|(?:documents?|sources?|context|passages?|chunks?|tables?|records?|information) (?:\p{L}+ ){0,3}(?:in|as|from) (?:an? )?(?:\p{L}+ )?(?:json|yaml|csv|xml|table|array)|from (?:the )?(?:data )?tables?|(?:xml|json|html|yaml)[- ](?:tags?|elements?|blocks?|brackets)|(?:no|not|never|without|avoid|don['’]?t|do not|instead of)(?: \p{L}+){0,4} (?:json|yaml|csv|xml|tables?))(?!\p{L})/u,
)
// in a question, a format is what is asked about, unless the answer shall have it
const ASKED_IN = new WordPattern(
  /(?<!\p{L})(?:answer|reply|respond|return|output|give|list|print|write|show|put|format|convert|antwort\p{L}*|gib|répond\p{L}*|respond\p{L}*|rispond\p{L}*|ответ\p{L}*)(?: \p{L}+){0,6} (?:json|ya?ml|csv|xml|table|array|tabelle|tableau|tabla|tabela)(?!\p{L})/u,
)
const QUESTION = /[?？؟;]\s*$/
// a specimen of an object: `{"answer": string}`, `{'sources': [1]}`, `[{"id"`
const OBJECT = new WordPattern(/[{[]\s*["'“]\p{L}[\p{L}\p{N} _-]{0,40}["'”]\s*[:,\]]/u)

// what is around a list of JSON objects is open
function isClosed(sentence: string): boolean {
  const count = (signs: string): number => [...sentence].filter((sign) => signs.includes(sign)).length
  return count('{[') === count('}]')
}

const ONE = '(?:one|a|an|a single|exactly one|only one|just one|the|its|their|only the|just the|nothing but the)'
// `Reply with one digit`, `answer by a single letter`
const BARE = new WordPattern(
  [
    `(?<!\\p{L})(?:answer|reply|respond|return|output|print|give|write|say|state|choose|pick|select|end|finish)(?: \\p{L}+){0,3} (?:with|by|as|in|of|only|just)? ?${ONE} (?:\\p{L}+ ){0,2}(?:digit|numeral|integer|letter|index|indices|ids?|character|number|numbers|token)(?!\\p{L})(?! of (?!the (?:\\p{L}+ )?(?:documents?|passages?|sources?|chunks?|results?)))`,
    '(?<!\\p{L})(?:one|a single|single|exactly one|only one|just one|1) (?:word|letter|digit|numeral|number|integer|character|token)(?!\\p{L})',
    '(?<!\\p{L})(?:only|just|solely|nothing but|nothing except|call \\w+) (?:by |with |print |return |output |give |write )?(?:the|its|their|a|one) (?:\\p{L}+ ){0,2}(?:numbers?|index|indexes|indices|ids?|digits?)(?!\\p{L})(?! of (?!the (?:documents?|passages?|sources?|chunks?|results?)))',
    // `1, 2, 3 or 4?`
    '(?<![\\d.,])1, ?2(?:, ?\\d){0,8},? ?(?:or|and|oder|und|ou|et|o|y|e|или|і|eller|of|lub|nebo|veya|hoặc|atau) ?\\d(?!\\d)',
    '(?<!\\p{L})(?:einer?|eine einzige|einzelne|nur|ausschließlich|lediglich|mit)(?: mit)?(?: (?:der|die|den|einem|einer|einzigen?|ihrer|seiner|deren|dessen)){0,2} (?:\\p{L}*nummern?|\\p{L}*index|ziffer|zahl|buchstaben?|wort)(?!\\p{L})',
    "(?<!\\p{L})(?:un seul|une seule|uniquement|seulement|juste|par un|par une|d['’]un|avec un|avec une)(?: (?:par|avec|de|son|sa|le|la|les|leurs?|un|une|seule?)){0,2} ?(?:num[ée]ros?|indices?|chiffre|nombre|lettre|mot)(?!\\p{L})",
    '(?<!\\p{L})(?:sol[oa]|sólo|solamente|únicamente|soltanto|apenas|somente|só|un[oa]? (?:sol[oa]|únic[oa])|um[a]? (?:só|único|única)|con un|com um)(?: (?:con|com|el|la|su|o|a|seu|il|i|los|os|le|l[ao]|un[oa]?|uma?|sol[oa])){0,2} ?(?:n[úu]meros?|numer[oi]|índices?|indic[ei]|d[íi]gito|cifra|letra|lettera|palabra|palavra|parola)(?!\\p{L})',
    '(?<!\\p{L})(?:alleen|slechts|één|bara|endast|kun|bare|ett|en enkelt|tylko|jedną|jednym|pouze|jen|jedním|sadece|tek bir|chỉ|hanya|satu)(?: \\p{L}+)? (?:nummer|cijfer|getal|letter|siffra|ciffer|tal|bokstav|numer\\p{L}*|cyfr\\p{L}*|liter\\p{L}*|číslo|číslic\\p{L}*|numara\\p{L}*|rakam\\p{L}*|số|nomor|angka|huruf)(?!\\p{L})',
    '(?:только|одн\\p{L}+|лише|тільки) (?:номер|индекс|цифр|букв|числ|слов|літер)',
    '只(?:需要?|要|能|用)?(?:回答|输出|輸出|返回|给出|填写?|写|说|回复)?[^。\\n]{0,6}(?:编号|編號|序号|序號|数字|數字|索引|字母)|一[个個](?:数字|數字|字母|编号|词|字)|(?:番号|数字|記号)(?:だけ|のみ|一つ|1つ|ひとつ)|(?:번호|숫자|글자)(?:만| 하나)|(?:رقم|حرف) واحد|(?:الرقم|رقم) فقط|(?:केवल|सिर्फ) (?:संख्या|अंक)|ספרה אחת|רק (?:את )?המספר|ตัวเลขเดียว|เฉพาะหมายเลข',
  ],
  'u',
)

// data that may hold a value for each text, though no word says so
const MANY =
  /(?<!\p{L})(?:arrays?|json lists?|list of|lists|csv|tsv)(?!\p{L})|[數数][组組]|列表|配列|배열|목록|tabel|tableau|tabla|liste|lista|массив|список|таблиц/u

function asksForFormat(sentence: string): boolean {
  if (OBJECT.test(sentence) && isClosed(sentence)) return true
  if (!FORMAT.test(sentence) || sentence.trimStart().startsWith('```') || GIVEN.test(sentence)) return false
  return !QUESTION.test(sentence) || ASKED_IN.test(sentence)
}

/** Whether a lower-case sentence asks for data, in which numbers may stand. */
export function asksForData(sentence: string): boolean {
  // a number in brackets is a citation
  return asksForFormat(sentence) || (BARE.test(sentence) && !sentence.includes('brackets'))
}

/** Whether a lower-case sentence asks for data that may hold a value for each text. */
export function asksForMany(sentence: string): boolean {
  return MANY.test(sentence) && asksForFormat(sentence)
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
    `<(?:cite|co|ref|sup|citation|fn|footnote)[^<>\\n]{0,20}[ :="']${NUMBERS}["']? ?/?>`,
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
const JOINED = `${APART}[^\\s\\d("“‘\`']{1,24}${END}`
// where nothing is said of citing: behind a sign, or a word or letter for a text; `CO2` and `GPT-4` are names
const MENTIONED = new RegExp(
  `${APART}(?:[^\\s\\d\\p{L}("“‘\`'][^\\s\\d("“‘\`']{0,23}|(?:documents?|docs?|sources?|src|passages?|refs?|texts?|chunks?|[ds])[-_:#.]{0,2})${END}`,
  'giu',
)
const PLAIN = new RegExp(`\\((?:${NAME})?${NUMBERS}\\)|${JOINED}|(?<![=:])["'“‘\`](?:${NAME})?${NUMBERS}["'”’\`]`, 'gu')

const CITES = new WordPattern(
  /(?<!\p{L})(?:cit(?:e|es|ed|ing|ations?)|referenc\w*|refer to|attribut\w*|footnotes?|sources? used|source (?:number|id)s?|mark (?:each|every|the|your)|zitier\p{L}*|zitat\p{L}*|quellenangabe\p{L}*|beleg\p{L}*|verweis\p{L}*|cite[zr]|citations?|référenc\p{L}*|cita|citar|citas?|citação|citações|citazion\p{L}*|referencia|referência|riferiment\p{L}*|citeer|verwijs\p{L}*|hänvisa|henvis|cytuj|przypis|citujte|alıntı|kaynak|цитир\p{L}*|ссыл\p{L}*|сноск\p{L}*|посилан\p{L}*|trích dẫn|kutip|sitasi)(?!\p{L})|引用|标注|標註|角标|脚注|出典|参照|인용|각주|استشه|مرجع|उद्धर|อ้างอิง|παραπομπ/iu,
)
const NUMBER_WORD = '(?:numbers?|ids?|index|indices|indexes|ordinals?)'
// in other languages such words stand for hardly anything else beside words for texts
const FOREIGN_NUMBER =
  '(?:nummern?|zahl|ziffer|numéros?|rang|números?|numer[oi]|nummers?|nummer(?:et|ene)|numret?|numer(?:u|em|y)?|čísl\\p{L}*|numara\\p{L}*|номер\\p{L}*|số|nomor|رقم\\p{L}*|संख्या|क्रमांक|מספר\\p{L}*)'
const ASKING =
  '(?:by|with|using|via|name|list|give|state|mention|report|return|indicate|provide|include|output|print|add|are|track of|through|per|mit|über|nenne|gib|par|avec|indique|donne|por|con|com|indica|per|tramite|via|door|po|по|указыв\\p{L}*|укаж\\p{L}*)'
const ARTICLE =
  '(?:the|its|their|your|a|all|of|der|die|den|ihre[rnm]?|deren|leurs?|le|les|son|sa|su|sus|el|los|o|os|seus?|il|i|loro|de|hun|номер\\p{L}*)?'
// a number asked for as a name, though no form is shown; `cite by number` is answered by the labels of the list
const BY_NUMBER = new WordPattern(
  [
    `(?<!\\p{L})${ASKING} (?:only |just )?${ARTICLE}(?: \\p{L}+){0,3} ?${NUMBER_WORD}(?!\\p{L})`,
    `(?<!\\p{L})${NUMBER_WORD} (?:of|for) (?:the|each|every|all|your|these|those) (?:\\p{L}+ ){0,3}${TEXTS}(?!\\p{L})`,
    `(?<!\\p{L})${FOREIGN_NUMBER}(?!\\p{L})|编号|編號|序号|番号|번호`,
  ],
  'iu',
)

const ID =
  /(?<!\p{L})(?:ids?|index|indices|indexes|identifiers?|superscripts?|hochgestellt\p{L}*|exposants?|superíndices?|rang)(?!\p{L})/iu

// the number of a rule: `(2) Cite your sources`
const ENUMERATION = /^\s*\(?\d{1,2}[.)]\s/

const mostSpecimens = 20

/** A form of citation: the number is asked for, in whatever form. */
const ANY_FORM = ''

/** Reads the forms of citation in a sentence as it is written. */
export function readForms(sentence: string, mentionsTexts: boolean): readonly string[] {
  const isCiting = CITES.test(sentence)
  const isAboutTexts = isCiting || mentionsTexts
  const isSigned = SIGN.test(sentence)
  const specimens = isSigned ? firstOf(sentence.matchAll(SPECIMEN)) : []
  if (isAboutTexts) {
    const plain = sentence.replace(ENUMERATION, '')
    const rest = isSigned ? plain.replaceAll(SPECIMEN, ' ') : plain
    const numbered = firstOf(rest.matchAll(isCiting ? PLAIN : MENTIONED))
    specimens.push(...numbered.map((specimen) => specimen.replace(/^["'“‘`]|["'”’`]$/gu, '')))
  }
  if (specimens.length > 0) return specimens.map((specimen) => specimen.replaceAll('$', ''))
  return BY_NUMBER.test(sentence) && (isCiting ? ID.test(sentence) : isAboutTexts) ? [ANY_FORM] : []
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
  const asked = forms.filter((specimen) => specimen !== ANY_FORM && !isOwnMark(specimen.toLowerCase(), own))
  return asked.length > 0 ? asked.some((specimen) => !isMappedForm(specimen, form)) : forms.includes(ANY_FORM)
}

function isOwnMark(specimen: string, own: string): boolean {
  return own !== '' && specimen.includes(own) && /\s(?:begin|end|start)/.test(specimen)
}
