import { type Noun, nouns, type Weight } from './nouns.ts'

/* Patterns and names built from the table of nouns. */

/** Returns the pattern source of a noun, with `gap` between its words. */
function toSource(noun: string, gap: string): string {
  return noun.replaceAll(' ', gap)
}

function isWritten(noun: Noun, use: 'label' | 'tag' | 'announces', weight?: Weight): boolean {
  return weight === undefined ? noun[use] !== undefined : noun[use] === weight
}

// longest first, because `doc` begins `document`
function alternatives(words: readonly string[], gap: string): string {
  const distinct = [...new Set(words)].sort((a, b) => b.length - a.length)
  return distinct.map((word) => toSource(word, gap)).join('|')
}

function toTagNames(weight: Weight): ReadonlySet<string> {
  return new Set(
    nouns
      .filter((noun) => isWritten(noun, 'tag', weight))
      // `search_result`, `search-result`, `searchResult`
      .flatMap(({ singular }) => ['_', '-', ''].map((gap) => singular.replaceAll(' ', gap))),
  )
}

/** Tags around single blocks that show by themselves that they contain one. */
export const strongTags: ReadonlySet<string> = toTagNames('strong')

/** Tags around single blocks that need other evidence of retrieved texts. */
export const weakTags: ReadonlySet<string> = toTagNames('weak')

const announcing = nouns.filter((noun) => isWritten(noun, 'announces'))
// in Korean, endings follow a noun without a space
const isAlphabetic = ({ language }: Noun): boolean => !['zh', 'ja', 'ko'].includes(language)
const ideographic = announcing.filter((noun) => !isAlphabetic(noun)).map(({ plural }) => plural)

/** Names of elements that contain blocks: `<documents>`, `<search_results>`, `<searchResults>`, `<retrieved_chunks>`. */
export const containerNames: string = `context|(?:.{1,40}[_-])?(?:${alternatives(
  announcing.filter(isAlphabetic).map(({ plural }) => plural),
  '[_-]?',
)})(?:[_-]from[_-].{1,40})?`

/** Words in a line that announces several blocks. */
export const announcingPlurals: string = `(?:^|[^\\p{L}])(?:contexts?|(?:${alternatives(
  announcing.filter(isAlphabetic).map(({ plural }) => plural),
  '[ _-]',
)}))(?:$|[^\\p{L}])|${alternatives(ideographic, ' ?')}`

const massNouns = (
  'information|material|knowledge|knowledge base|learnings|documentation|dokumentation|unterlagen|wissen|informationen|' +
  'informations|connaissances|documentación|información|documentação|informações|documentazione|informazioni|информация'
).split('|')
const ideographicMass = ['信息', '知识库', '情報', '정보']

/** Words in a line that announces retrieved text: several texts, or one text or several. */
export const announcingWords: string = `${announcingPlurals}|(?:^|[^\\p{L}])(?:${alternatives(
  massNouns,
  '[ _-]',
)})(?:$|[^\\p{L}])|${alternatives(ideographicMass, '')}`

/** All words with which a line mentions retrieved text, including a single one. */
export const materialWords: string = `(?:^|[^\\p{L}])(?:${alternatives(
  [...announcing.filter(isAlphabetic).flatMap(({ singular, plural }) => [singular, plural]), ...massNouns],
  '[ _-]',
)})(?:$|[^\\p{L}])|${alternatives([...ideographic, ...ideographicMass], ' ?')}`

/** JSON members and tool arguments that contain what was searched for. */
export const strongLists: ReadonlySet<string> = new Set(
  announcing
    .filter((noun) => isAlphabetic(noun) && noun.announces === 'strong' && noun.plural !== 'chunks')
    .flatMap(({ plural }) => [plural.replaceAll(' ', '_'), plural.replaceAll(' ', '')])
    .concat(['context', 'hits', 'references']),
)
