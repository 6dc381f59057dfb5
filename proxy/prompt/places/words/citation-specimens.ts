import type { LabelForm } from '../../../answer/citations/citation-labels.ts'
import { isMappedForm } from '../../../answer/citations/mapped-forms.ts'
import { WordPattern } from '../../scan/words/word-pattern.ts'
import { mentionsTexts, TEXTS } from './text-words.ts'

/* Forms of citation that a prompt asks for. Where one is not mapped back, the numbers of a list stay. */

// what stands for a number: digits, a letter of a formula, a name in braces
const PLACEHOLDER =
  '\\$?[{<]?(?:\\d{1,3}|[XYZNKIJxyznkij]|(?:doc |document |source |ref |passage )?(?:index|idx|ids?|num(?:ber)?s?|no\\.?|nr\\.?|#))[}>]?'
const NUMBERS = `${PLACEHOLDER}(?: ?(?:[,;–&-]|and) ?(?:${PLACEHOLDER}|\\.\\.\\.|…)){0,8}`
const NAME = '\\p{L}[\\p{L}\\p{N}]*(?:[ _:#./-]{1,2}\\p{L}[\\p{L}\\p{N}]*){0,3}[ _:#.-]{0,2}'
const BRACKETED = new RegExp(
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
const NUMBER = '(?:numbers?|ids?|index|indices|indexes|ordinals?)'
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
    `(?<!\\p{L})${ASKING} (?:only |just )?${ARTICLE}(?: \\p{L}+){0,3} ?${NUMBER}(?!\\p{L})`,
    `(?<!\\p{L})${NUMBER} (?:of|for) (?:the|each|every|all|your|these|those) (?:\\p{L}+ ){0,3}${TEXTS}(?!\\p{L})`,
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
export function readForms(sentence: string): readonly string[] {
  const isCiting = CITES.test(sentence)
  const isAboutTexts = isCiting || mentionsTexts(sentence.toLowerCase())
  const isSigned = SIGN.test(sentence)
  const specimens = isSigned ? firstOf(sentence.matchAll(BRACKETED)) : []
  if (isAboutTexts) {
    const plain = sentence.replace(ENUMERATION, '')
    const rest = isSigned ? plain.replaceAll(BRACKETED, ' ') : plain
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
