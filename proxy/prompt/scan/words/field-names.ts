/** Whether a field has one of some names, whatever its case and separators: `publishedAt` and `published_at`. */
export type FieldTest = (name: string) => boolean

/** Builds the test for these names, given in lower case without separators, and for longer names with these endings. */
export function named(names: string, endings = ''): FieldTest {
  const known = new Set(names.split(' '))
  const ends = endings.split(' ').filter(Boolean)
  return (name) => {
    const own = toFieldName(name)
    return known.has(own) || ends.some((end) => own.endsWith(end) && own !== end)
  }
}

/** Fields of things in a sequence: what was said, what is to be done, what happened. */
export const isOrderedField: FieldTest = named(
  'role speaker user username sender from to step stepnumber turn line lines linenumber lineno linestart lineend startline endline startindex endindex startchar endchar startbyte endbyte linerange fromline toline timestampms time start end starttime endtime offset startoffset charstart begin duration question input target sha commit version tagname number chapter sectionnumber seq sequence order positionms event level eventtype method parameters inputschema arguments function inreplyto parentid replyto messageid threadid frame round verse session layer totalparts totalchunks totalpages schritt étape etape paso 步骤 手順',
)

/** Fields that also suggest an order, but that search results may have too. */
export const isDatedField: FieldTest = named(
  'timestamp date datetime pubdate created createdat updated updatedat lastupdated published publishedat publisheddate modified modifiedat lastmodified day month year hour when age ts rev revision v author authors page pagenumber pagelabel paragraph part section status state priority assignee assignees duedate due milestone indexindocument chunkindex chunkid sequencenumber datum uhrzeit fecha hora heure 日期 时间 日付 日時 時刻',
)

/** Fields whose value fits the question, not the text: what a search found it by. */
export const rankedBy: readonly string[] =
  'relevance relevancy rerank reranker reranking retrieval search similarity vector bm25 hybrid semantic fusion rrf dense sparse cosine'.split(
    ' ',
  )

const isRankingName = named(
  [
    'score scores similarity distance relevance relevancy certainty rank ranking matchscore matchscores @search.score @search.rerankerscore',
    ...rankedBy.flatMap((by) => [`${by}score`, `${by}scores`]),
    ...['', '相关', '相关性', '相关度', '匹配', '检索', '召回', '重排'].map((by) => `${by}分数 ${by}得分 ${by}评分`),
    '相关度 相似度 匹配度 スコア 関連度スコア 類似度 関連度 유사도 점수 관련도',
    'relevanz relevanzwert ähnlichkeit ähnlichkeitswert pertinence similarité relevancia puntuación similitud relevância pontuação similaridade rilevanza punteggio relevantie релевантность оценка сходство',
  ].join(' '),
)

// with or without quotes; words may say more than how well a text fits
const NUMBER = /^(["']?)-?\d{1,12}(?:\.\d{1,30})?(?:e[+-]?\d{1,3})?[ \t]?%?\1$/i

/** Returns whether a field only ranks results. Its value, as written, changes with every question. */
export function isRankingField(name: string, value: string): boolean {
  return isRankingName(name) && NUMBER.test(value)
}

/** Returns a field's name without case and separators: `publishedAt` and `published_at` become `publishedat`. */
function toFieldName(name: string): string {
  return partWords(name).replaceAll('_', '').toLowerCase()
}

/** Parts the words of a name by underscores: `searchDocs` and `search Docs` become `search_Docs`. */
export function partWords(name: string): string {
  return name.replaceAll(/(?<=[a-z\d])(?=[A-Z])|[ -]/g, '_')
}

const isPage = named('page pagenumber pagelabel')

/** Returns whether a field dates its block, or gives its page; `hasOrigins`: pages are of different files, and no order. */
export function tellsTime(name: string, hasOrigins = false): boolean {
  return isDatedField(name) && !(hasOrigins && isPage(name))
}

/** Returns whether the word before a number says that it only ranks, as in `Score: 0.9`. */
export function endsInRank(prefix: string): boolean {
  const word = /([\p{L}_-]+)[^\p{L}]*$/u.exec(prefix)?.[1]
  return word !== undefined && isRankingName(word)
}

/**
 * Names of attributes and members that hold a block's id. The first one that all blocks of a list have is its label.
 */
export const idNames: readonly string[] = ['index', 'id', 'number', 'n', 'position', 'rank', 'doc_id']

/** An id that identifies a block in citations: a word or a number. */
export const plainId: RegExp = /^[\p{L}\p{N}_.:/#-]{1,64}$/u
