import { type Noun, nouns, type Weight } from './nouns.ts'

/* Patterns and names that are built from the table of nouns. */

/** How a noun is written with what may part its words. */
function toSource(noun: string, gap: string): string {
  return noun.replaceAll(' ', gap)
}

function isWritten(noun: Noun, use: 'label' | 'tag' | 'announces', weight?: Weight): boolean {
  return weight === undefined ? noun[use] !== undefined : noun[use] === weight
}

// the longest first: `doc` begins `document`
function alternatives(words: readonly string[], gap: string): string {
  const distinct = [...new Set(words)].sort((a, b) => b.length - a.length)
  return distinct.map((word) => toSource(word, gap)).join('|')
}

/** The nouns that number blocks as labels, as a pattern's alternatives. */
export const labelNouns: string = alternatives(
  nouns.filter((noun) => isWritten(noun, 'label')).map(({ singular }) => singular),
  '[ _]',
)

/** What may stand in front of such a noun in a label: `Retrieved document 1`. */
const labelQualities =
  'retrieved|relevant|related|matching|supporting|source|context|knowledge|kb|web|search|text|reference|top|input|provided|similar|external|background|candidate|pertinent|relevante|relevanter|relevantes'

/** Up to two of them, as a pattern. */
export const qualities: string = `(?:(?:${labelQualities})[ _-]){0,2}`

// a line in words that says where a text is from, as `From a.md:`, begins so
const originWords = ['from', 'content', 'contents', 'auszug', 'id', 'index', 'the']
// behind signs a field says so, as in `###PATH: a.md`; without any it is one of a record
const fieldWords = ['path', 'filepath', 'url', 'uri', 'link', 'title']

const weakLabels = new RegExp(
  `^(?:${alternatives(
    nouns.filter((noun) => isWritten(noun, 'label', 'weak')).map(({ singular }) => singular),
    '[ _]',
  )})$`,
  'iu',
)

/** Whether a label's noun alone does not say that its blocks are retrieved texts. */
export function isWeakLabel(noun: string): boolean {
  return weakLabels.test(noun)
}

const labelWords = nouns.filter((noun) => isWritten(noun, 'label')).map(({ singular }) => singular)
const firstWords: ReadonlySet<string> = new Set(labelWords.map((word) => word.split(' ')[0]!))
const otherWords: ReadonlySet<string> = new Set([...labelQualities.split('|'), ...originWords])
const otherInitials: ReadonlySet<string> = new Set(
  labelWords.flatMap((word) => [word[0]!, word[0]!.toUpperCase()]).filter((sign) => !isLatin(sign.charCodeAt(0))),
)
const LONGEST_WORD = Math.max(...[...firstWords, ...otherWords].map(({ length }) => length))

// by their first two letters words are told apart before they are copied; a bit makes letters small, also those of
// Latin-1, but not others
const beginnings = new Uint8Array(1 << 16)
for (const [bit, words] of [firstWords, otherWords, new Set(fieldWords)].entries()) {
  for (const word of words) {
    for (const written of [word, word.toUpperCase(), word[0]!.toUpperCase() + word.slice(1)]) {
      beginnings[toBeginning(written, 0)]! |= 1 << bit
    }
  }
}

function toBeginning(text: string, at: number): number {
  return (((text.charCodeAt(at) | 32) << 8) | (text.charCodeAt(at + 1) | 32)) & 0xffff
}

/** Whether a noun for a label may begin here: most lines begin with other words, and are read no further. */
export function mayBeginLabel(text: string, at: number): boolean {
  if (!isLatin(text.charCodeAt(at))) return otherInitials.has(text[at] ?? '')
  if ((beginnings[toBeginning(text, at)]! & 1) === 0) return false
  const word = readWord(text, at)
  return word !== undefined && firstWords.has(word)
}

/** The same, or words may begin here that stand in front of such a noun, or of the name of a source. */
export function mayBeginDressed(text: string, at: number, isSigned: boolean): boolean {
  if (!isLatin(text.charCodeAt(at))) return otherInitials.has(text[at] ?? '')
  if ((beginnings[toBeginning(text, at)]! & (isSigned ? 7 : 3)) === 0) return false
  const word = readWord(text, at)
  if (word === undefined) return false
  return firstWords.has(word) || otherWords.has(word) || (isSigned && fieldWords.includes(word))
}

/** The word that begins here, in small letters, unless it is longer than any of these. */
function readWord(text: string, at: number): string | undefined {
  let end = at
  while (end - at <= LONGEST_WORD && isLatin(text.charCodeAt(end))) end++
  return end - at <= LONGEST_WORD ? text.slice(at, end).toLowerCase() : undefined
}

/** Whether this is a letter of a Western or Central European language, or of Turkish. */
export function isLatin(code: number): boolean {
  return (code >= 97 && code <= 122) || (code >= 65 && code <= 90) || (code >= 0xc0 && code <= 0x17f)
}

function toTagNames(weight: Weight): ReadonlySet<string> {
  return new Set(
    nouns
      .filter((noun) => isWritten(noun, 'tag', weight))
      .flatMap(({ singular }) => [singular.replaceAll(' ', '_'), singular.replaceAll(' ', '-')]),
  )
}

/** Tags around one block each that say by themselves that it is one. */
export const strongTags: ReadonlySet<string> = toTagNames('strong')

/** Tags around one block each, where something else says that they are retrieved texts. */
export const weakTags: ReadonlySet<string> = toTagNames('weak')

const announcing = nouns.filter((noun) => isWritten(noun, 'announces'))
// in Korean endings follow a noun without a space
const isAlphabetic = ({ language }: Noun): boolean => !['zh', 'ja', 'ko'].includes(language)
const ideographic = announcing.filter((noun) => !isAlphabetic(noun)).map(({ plural }) => plural)

/** Names of the elements that hold blocks: `<documents>`, `<search_results>`, `<retrieved_chunks>`. */
export const containerNames: string = `context|(?:.{1,40}[_-])?(?:${alternatives(
  announcing.filter(isAlphabetic).map(({ plural }) => plural),
  '[_-]',
)})(?:[_-]from[_-].{1,40})?`

/** What a line that announces several blocks says. */
export const announcingPlurals: string = `(?:^|[^\\p{L}])(?:contexts?|(?:${alternatives(
  announcing.filter(isAlphabetic).map(({ plural }) => plural),
  '[ _-]',
)}))(?:$|[^\\p{L}])|${alternatives(ideographic, ' ?')}`

const massNouns = [
  'information',
  'material',
  'knowledge',
  'knowledge base',
  'learnings',
  'contexte',
  'contexto',
  'contesto',
  'documentation',
  'dokumentation',
  'unterlagen',
  'documentación',
  'documentação',
  'documentazione',
  'wissen',
  'informationen',
  'información',
  'informations',
  'connaissances',
  'informações',
  'informazioni',
  'informatie',
  'informacje',
  'bilgiler',
  'информация',
  'інформація',
]
const ideographicMass = ['信息', '知识库', '情報', '정보']

/** What a line says that announces retrieved text: several texts, or what may be one of them or several. */
export const announcingWords: string = `${announcingPlurals}|(?:^|[^\\p{L}])(?:${alternatives(
  massNouns,
  '[ _-]',
)})(?:$|[^\\p{L}])|${alternatives(ideographicMass, '')}`

/** Anything by which a line speaks of retrieved text, also of one. */
export const materialWords: string = `(?:^|[^\\p{L}])(?:${alternatives(
  [...announcing.filter(isAlphabetic).flatMap(({ singular, plural }) => [singular, plural]), ...massNouns],
  '[ _-]',
)})(?:$|[^\\p{L}])|${alternatives([...ideographic, ...ideographicMass], ' ?')}`

/** Members of JSON and arguments of tools that hold what was searched for. */
export const strongLists: ReadonlySet<string> = new Set(
  announcing
    .filter((noun) => isAlphabetic(noun) && noun.announces === 'strong' && noun.plural !== 'chunks')
    .flatMap(({ plural }) => [plural.replaceAll(' ', '_'), plural.replaceAll(' ', '')])
    .concat(['context', 'hits', 'references']),
)
