import { type Noun, nouns, type Weight } from './nouns.ts'

/* Patterns and names built from the table of nouns. */

/** Returns the source of a pattern for these words, with `gap` between the parts of each. */
function alternatives(words: readonly string[], gap: string): string {
  // longest first, because `doc` begins `document`
  const distinct = [...new Set(words)].sort((a, b) => b.length - a.length)
  return distinct.join('|').replaceAll(' ', gap)
}

/** Returns the source of a pattern for words in a line; those of `joined` need no space around them. */
function inLine(words: readonly string[], joined: readonly string[]): string {
  return `(?:^|[^\\p{L}])(?:${alternatives(words, '[ _-]')})(?:$|[^\\p{L}])|${alternatives(joined, ' ?')}`
}

function toTagNames(weight: Weight): ReadonlySet<string> {
  const names = nouns.filter(({ tag }) => tag === weight).map(({ singular }) => singular)
  // `search_result`, `search-result`, `searchResult`
  return new Set(['_', '-', ''].flatMap((gap) => names.map((name) => name.replaceAll(' ', gap))))
}

/** Tags around single blocks that show by themselves that they contain one. */
export const strongTags: ReadonlySet<string> = toTagNames('strong')

/** Tags around single blocks that need other evidence of retrieved texts. */
export const weakTags: ReadonlySet<string> = toTagNames('weak')

const announcing = nouns.filter(({ announces }) => announces !== undefined)
// in Korean, endings follow a noun without a space
const alphabetic = announcing.filter(({ language }: Noun) => !['zh', 'ja', 'ko'].includes(language))
const plurals = alphabetic.map(({ plural }) => plural)
const ideographic = announcing.filter((noun) => !alphabetic.includes(noun)).map(({ plural }) => plural)

/** Names of elements that contain blocks: `<documents>`, `<search_results>`, `<searchResults>`, `<retrieved_chunks>`. */
export const containerNames: string = `context|(?:.{1,40}[_-])?(?:${alternatives(plurals, '[_-]?')})(?:[_-]from[_-].{1,40})?`

const massNouns = (
  'information|material|knowledge|knowledge base|learnings|documentation|dokumentation|unterlagen|wissen|informationen|' +
  'informations|connaissances|documentación|información|documentação|informações|documentazione|informazioni|информация'
).split('|')
const ideographicMass = ['信息', '知识库', '情報', '정보']

/** Words in a line that announces several blocks. */
export const announcingPlurals: string = inLine([...plurals, 'context'], ideographic)

/** Words in a line that announces retrieved text: several texts, or one text or several. */
export const announcingWords: string = inLine(
  [...plurals, 'context', 'contexte', 'contexto', 'contesto', ...massNouns],
  [...ideographic, ...ideographicMass],
)

/** All words with which a line mentions retrieved text, including a single one. */
export const materialWords: string = inLine(
  [...plurals, ...alphabetic.map(({ singular }) => singular), ...massNouns],
  [...ideographic, ...ideographicMass],
)

/** JSON members and tool arguments that contain what was searched for. */
export const strongLists: ReadonlySet<string> = new Set(
  alphabetic
    .filter(({ announces, plural }) => announces === 'strong' && plural !== 'chunks')
    .flatMap(({ plural }) => [plural.replaceAll(' ', '_'), plural.replaceAll(' ', '')])
    .concat(['context', 'hits', 'organic', 'organic_results', 'references']),
)
