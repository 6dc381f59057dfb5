/*
 * The nouns for retrieved text, said once. Labels, tags, containers, headings and members of JSON are all built from
 * this table, so a noun that is known in one place is known in all of them.
 */

/** How much a noun says by itself: `weak` ones name parts of one text and rows of a table, too. */
export type Weight = 'strong' | 'weak'

/** A noun for a retrieved text, in one language. */
export interface Noun {
  readonly language: 'en' | 'de' | 'fr' | 'es' | 'pt' | 'it' | 'nl' | 'pl' | 'tr' | 'ru' | 'uk' | 'zh' | 'ja' | 'ko'
  readonly singular: string
  /** languages without plurals repeat the singular */
  readonly plural: string
  /** as a label with a number: `Document 3:`, `[Doc_3]`, `### Passage 3` */
  readonly label?: Weight
  /** as a tag around one block: `<document>` */
  readonly tag?: Weight
  /** its plural announces blocks, as a heading, a container's name or a member of JSON */
  readonly announces?: Weight
}

const strong = { label: 'strong', tag: 'strong', announces: 'strong' } as const
const said = { label: 'strong', announces: 'strong' } as const

/** Spaces stand for a space, an underscore or a hyphen. */
export const nouns: readonly Noun[] = [
  { language: 'en', singular: 'search result', plural: 'search results', ...strong },
  { language: 'en', singular: 'document', plural: 'documents', ...strong },
  { language: 'en', singular: 'doc', plural: 'docs', ...strong },
  { language: 'en', singular: 'source', plural: 'sources', label: 'strong', tag: 'weak', announces: 'strong' },
  { language: 'en', singular: 'passage', plural: 'passages', ...strong },
  // a container holds contexts, one alone is no block beside others of its name
  { language: 'en', singular: 'context', plural: 'contexts', label: 'strong', announces: 'strong' },
  { language: 'en', singular: 'chunk', plural: 'chunks', ...strong },
  { language: 'en', singular: 'reference', plural: 'references', label: 'strong', tag: 'weak', announces: 'weak' },
  { language: 'en', singular: 'memory', plural: 'memories', label: 'strong', tag: 'weak', announces: 'strong' },
  { language: 'en', singular: 'file', plural: 'files', label: 'weak', tag: 'weak', announces: 'weak' },
  { language: 'en', singular: 'result', plural: 'results', label: 'weak', tag: 'weak', announces: 'weak' },
  { language: 'en', singular: 'snippet', plural: 'snippets', ...strong },
  { language: 'en', singular: 'excerpt', plural: 'excerpts', ...strong },
  { language: 'en', singular: 'article', plural: 'articles', label: 'weak', tag: 'weak', announces: 'strong' },
  { language: 'en', singular: 'extract', plural: 'extracts', label: 'strong', tag: 'strong', announces: 'strong' },
  { language: 'en', singular: 'evidence', plural: 'evidence', label: 'strong', tag: 'weak', announces: 'strong' },
  { language: 'en', singular: 'citation', plural: 'citations', label: 'weak' },
  { language: 'en', singular: 'cite', plural: 'cites', tag: 'weak', announces: 'strong' },
  { language: 'en', singular: 'fact', plural: 'facts', label: 'weak', tag: 'weak', announces: 'strong' },
  { language: 'en', singular: 'data', plural: 'data', tag: 'weak' },
  { language: 'en', singular: 'content', plural: 'contents', tag: 'weak', announces: 'weak' },
  { language: 'en', singular: 'item', plural: 'items', tag: 'weak' },
  { language: 'en', singular: 'node', plural: 'nodes', tag: 'weak' },
  { language: 'en', singular: 'attachment', plural: 'attachments', label: 'weak', tag: 'weak', announces: 'weak' },
  { language: 'en', singular: 'code selection', plural: 'code selections', tag: 'weak' },
  { language: 'en', singular: 'code snippet', plural: 'code snippets', ...strong },
  { language: 'en', singular: 'paragraph', plural: 'paragraphs', tag: 'weak' },
  { language: 'en', singular: 'hit', plural: 'hits', tag: 'weak' },
  { language: 'en', singular: 'text chunk', plural: 'text chunks', ...strong },
  { language: 'de', singular: 'dokument', plural: 'dokumente', ...strong },
  { language: 'de', singular: 'quelle', plural: 'quellen', label: 'strong', tag: 'weak', announces: 'strong' },
  { language: 'de', singular: 'auszug', plural: 'auszüge', label: 'strong', tag: 'strong', announces: 'strong' },
  { language: 'de', singular: 'textstelle', plural: 'textstellen', label: 'strong', announces: 'strong' },
  { language: 'de', singular: 'kontext', plural: 'kontext', label: 'strong', announces: 'strong' },
  { language: 'fr', singular: 'extrait', plural: 'extraits', ...strong },
  { language: 'fr', singular: 'contexte', plural: 'contextes', label: 'strong', announces: 'strong' },
  { language: 'es', singular: 'documento', plural: 'documentos', ...strong },
  { language: 'es', singular: 'fuente', plural: 'fuentes', label: 'strong', tag: 'weak', announces: 'strong' },
  { language: 'es', singular: 'fragmento', plural: 'fragmentos', ...strong },
  { language: 'es', singular: 'pasaje', plural: 'pasajes', ...strong },
  { language: 'es', singular: 'contexto', plural: 'contextos', label: 'strong', announces: 'strong' },
  { language: 'pt', singular: 'fonte', plural: 'fontes', ...said },
  { language: 'pt', singular: 'trecho', plural: 'trechos', ...said },
  { language: 'pt', singular: 'passagem', plural: 'passagens', ...said },
  { language: 'it', singular: 'documento', plural: 'documenti', ...said },
  { language: 'it', singular: 'fonte', plural: 'fonti', ...said },
  { language: 'it', singular: 'estratto', plural: 'estratti', ...said },
  { language: 'it', singular: 'brano', plural: 'brani', ...said },
  { language: 'it', singular: 'frammento', plural: 'frammenti', ...said },
  { language: 'it', singular: 'contesto', plural: 'contesti', ...said },
  { language: 'nl', singular: 'document', plural: 'documenten', ...said },
  { language: 'nl', singular: 'bron', plural: 'bronnen', ...said },
  { language: 'nl', singular: 'brondocument', plural: 'brondocumenten', ...said },
  { language: 'nl', singular: 'fragment', plural: 'fragmenten', ...said },
  { language: 'pl', singular: 'dokument', plural: 'dokumenty', ...said },
  { language: 'pl', singular: 'źródło', plural: 'źródła', ...said },
  { language: 'pl', singular: 'fragment', plural: 'fragmenty', ...said },
  { language: 'pl', singular: 'kontekst', plural: 'kontekst', ...said },
  { language: 'tr', singular: 'belge', plural: 'belgeler', ...said },
  { language: 'tr', singular: 'doküman', plural: 'dokümanlar', ...said },
  { language: 'tr', singular: 'kaynak', plural: 'kaynaklar', ...said },
  { language: 'tr', singular: 'bağlam', plural: 'bağlam', ...said },
  { language: 'tr', singular: 'alıntı', plural: 'alıntılar', ...said },
  { language: 'ru', singular: 'документ', plural: 'документы', ...said },
  { language: 'ru', singular: 'источник', plural: 'источники', ...said },
  { language: 'ru', singular: 'фрагмент', plural: 'фрагменты', ...said },
  { language: 'ru', singular: 'отрывок', plural: 'отрывки', ...said },
  { language: 'ru', singular: 'контекст', plural: 'контекст', ...said },
  { language: 'ru', singular: 'результат поиска', plural: 'результаты поиска', ...said },
  { language: 'uk', singular: 'документ', plural: 'документи', ...said },
  { language: 'uk', singular: 'джерело', plural: 'джерела', ...said },
  { language: 'uk', singular: 'фрагмент', plural: 'фрагменти', ...said },
  { language: 'uk', singular: 'уривок', plural: 'уривки', ...said },
  { language: 'zh', singular: '文档', plural: '文档', label: 'strong', tag: 'strong', announces: 'strong' },
  { language: 'zh', singular: '文档片段', plural: '文档片段', label: 'strong', announces: 'strong' },
  { language: 'zh', singular: '资料', plural: '资料', label: 'strong', announces: 'strong' },
  { language: 'zh', singular: '参考资料', plural: '参考资料', label: 'strong', announces: 'strong' },
  { language: 'zh', singular: '来源', plural: '来源', label: 'strong', announces: 'strong' },
  { language: 'zh', singular: '片段', plural: '片段', label: 'strong', announces: 'strong' },
  { language: 'zh', singular: '段落', plural: '段落', label: 'weak', announces: 'strong' },
  { language: 'zh', singular: '上下文', plural: '上下文', label: 'strong', announces: 'strong' },
  { language: 'zh', singular: '检索结果', plural: '检索结果', label: 'strong', announces: 'strong' },
  { language: 'zh', singular: '搜索结果', plural: '搜索结果', label: 'strong', announces: 'strong' },
  { language: 'zh', singular: '知识', plural: '知识', label: 'strong', announces: 'strong' },
  { language: 'zh', singular: '参考文档', plural: '参考文档', label: 'strong', announces: 'strong' },
  { language: 'zh', singular: '相关文档', plural: '相关文档', label: 'strong', announces: 'strong' },
  { language: 'zh', singular: '参考内容', plural: '参考内容', label: 'strong', announces: 'strong' },
  { language: 'zh', singular: '知识片段', plural: '知识片段', label: 'strong', announces: 'strong' },
  { language: 'zh', singular: '参考信息', plural: '参考信息', label: 'strong', announces: 'strong' },
  { language: 'zh', singular: '已知信息', plural: '已知信息', announces: 'strong' },
  { language: 'zh', singular: '参考', plural: '参考', announces: 'strong' },
  { language: 'ja', singular: '文書', plural: '文書', label: 'strong', announces: 'strong' },
  { language: 'ja', singular: 'ドキュメント', plural: 'ドキュメント', label: 'strong', announces: 'strong' },
  { language: 'ja', singular: '資料', plural: '資料', label: 'strong', announces: 'strong' },
  { language: 'ja', singular: '出典', plural: '出典', label: 'strong', announces: 'strong' },
  { language: 'ja', singular: 'コンテキスト', plural: 'コンテキスト', label: 'strong', announces: 'strong' },
  { language: 'ja', singular: '検索結果', plural: '検索結果', label: 'strong', announces: 'strong' },
  { language: 'ja', singular: '参考情報', plural: '参考情報', label: 'strong', announces: 'strong' },
  { language: 'ja', singular: '参考資料', plural: '参考資料', label: 'strong', announces: 'strong' },
  { language: 'ja', singular: '参考文書', plural: '参考文書', label: 'strong', announces: 'strong' },
  { language: 'ja', singular: '関連文書', plural: '関連文書', label: 'strong', announces: 'strong' },
  { language: 'ja', singular: '抜粋', plural: '抜粋', label: 'strong', announces: 'strong' },
  { language: 'ko', singular: '문서', plural: '문서', ...said },
  { language: 'ko', singular: '출처', plural: '출처', ...said },
  { language: 'ko', singular: '자료', plural: '자료', ...said },
  { language: 'ko', singular: '참고 자료', plural: '참고 자료', ...said },
  { language: 'ko', singular: '참고 문서', plural: '참고 문서', ...said },
  { language: 'ko', singular: '컨텍스트', plural: '컨텍스트', ...said },
  { language: 'ko', singular: '문맥', plural: '문맥', ...said },
  { language: 'ko', singular: '발췌', plural: '발췌', ...said },
  { language: 'ko', singular: '검색 결과', plural: '검색 결과', ...said },
]

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
const otherInitials: ReadonlySet<string> = new Set(
  labelWords.flatMap((word) => [word[0]!, word[0]!.toUpperCase()]).filter((sign) => !isLatin(sign.charCodeAt(0))),
)
const LONGEST_WORD = Math.max(...[...firstWords].map(({ length }) => length))

// by their first two letters words are told apart before they are copied; a bit makes letters small, also those of
// Latin-1, but not others
const beginnings = new Uint8Array(1 << 16)
for (const word of firstWords) {
  for (const written of [word, word.toUpperCase(), word[0]!.toUpperCase() + word.slice(1)]) {
    beginnings[toBeginning(written, 0)] = 1
  }
}

function toBeginning(text: string, at: number): number {
  return (((text.charCodeAt(at) | 32) << 8) | (text.charCodeAt(at + 1) | 32)) & 0xffff
}

/** Whether a noun for a label may begin here: most lines begin with other words, and are read no further. */
export function mayBeginLabel(text: string, at: number): boolean {
  if (!isLatin(text.charCodeAt(at))) return otherInitials.has(text[at] ?? '')
  if (beginnings[toBeginning(text, at)] !== 1) return false
  let end = at
  while (end - at <= LONGEST_WORD && isLatin(text.charCodeAt(end))) end++
  return end - at <= LONGEST_WORD && firstWords.has(text.slice(at, end).toLowerCase())
}

// with the letters of Western and Central European languages, and Turkish
function isLatin(code: number): boolean {
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
