/*
 * The single table of nouns for retrieved text. Labels, tags, containers, headings and JSON members are all built from
 * it, so that a noun known in one place is known in all of them.
 */

/** How much evidence a noun is by itself. `weak` nouns also name parts of one text and rows of a table. */
export type Weight = 'strong' | 'weak'

type Language = 'ar' | 'de' | 'en' | 'es' | 'fr' | 'it' | 'ja' | 'ko' | 'pt' | 'ru' | 'zh'

/** A noun for a retrieved text, in one language. */
export interface Noun {
  readonly language: Language
  /** A space stands for a space, an underscore or a hyphen. */
  readonly singular: string
  /** languages without plurals repeat the singular */
  readonly plural: string
  /** as a numbered label: `Document 3:`, `[Doc_3]`, `### Passage 3` */
  readonly label?: Weight
  /** as a tag around one block: `<document>` */
  readonly tag?: Weight
  /** its plural announces blocks: as a heading, a container name or a JSON member */
  readonly announces?: Weight
}

/** What the nouns of a row are, as a label, a tag and an announcement: `S`trong, `w`eak or not at all. */
type Uses = `${'S' | 'w' | '-'}${'S' | 'w' | '-'}${'S' | 'w' | '-'}`

// a container holds contexts, but a single context is not a block among others of its name
const table: readonly (readonly [Language, Uses, string])[] = [
  [
    'en',
    'SSS',
    'search result/search results|document/documents|doc/docs|passage/passages|chunk/chunks|snippet/snippets|excerpt/excerpts|extract/extracts|code snippet/code snippets|text chunk/text chunks',
  ],
  ['en', 'SwS', 'source/sources|memory/memories|evidence'],
  ['en', 'S-S', 'context/contexts|web page/web pages|webpage/webpages'],
  ['en', 'Sww', 'reference/references'],
  ['en', 'www', 'file/files|result/results|attachment/attachments'],
  ['en', 'wwS', 'hit/hits'],
  ['en', 'w--', 'knowledge|note/notes'],
  ['en', '-wS', 'cite/cites|article/articles|fact/facts'],
  ['en', '-w-', 'data|item/items|entry/entries|code selection/code selections|paragraph/paragraphs'],
  ['en', '-ww', 'content/contents|context item/context items'],
  ['en', 'ww-', 'node/nodes'],
  ['en', '--S', 'reference material/reference materials|relevant note/relevant notes|retrieved note/retrieved notes'],
  ['en', 'w-S', 'abstract/abstracts'],
  ['de', 'SSS', 'dokument/dokumente|auszug/auszüge'],
  ['de', 'SwS', 'quelle/quellen'],
  [
    'de',
    'S-S',
    'textstelle/textstellen|kontext|textauszug/textauszüge|ausschnitt/ausschnitte|kontextabschnitt/kontextabschnitte|fundstelle/fundstellen',
  ],
  ['de', 'w--', 'treffer|ergebnis/ergebnisse'],
  ['fr', 'SSS', 'extrait/extraits'],
  ['fr', 'S-S', 'contexte/contextes|passage pertinent/passages pertinents|référence/références'],
  ['fr', 'w--', 'résultat/résultats'],
  ['es', 'SSS', 'documento/documentos|fragmento/fragmentos|pasaje/pasajes'],
  ['es', 'SwS', 'fuente/fuentes'],
  ['es', 'S-S', 'contexto/contextos|extracto/extractos|referencia/referencias'],
  ['es', 'w--', 'resultado/resultados'],
  ['pt', 'S-S', 'fonte/fontes|trecho/trechos|passagem/passagens|referência/referências'],
  ['it', 'S-S', 'documento/documenti|fonte/fonti|estratto/estratti|brano/brani|frammento/frammenti|contesto/contesti'],
  ['it', 'w--', 'risultato/risultati'],
  [
    'ru',
    'S-S',
    'документ/документы|источник/источники|фрагмент/фрагменты|отрывок/отрывки|контекст|результат поиска/результаты поиска|выдержка/выдержки',
  ],
  ['ru', 'w--', 'материал/материалы|результат/результаты'],
  ['zh', 'SSS', '文档'],
  [
    'zh',
    'S-S',
    '文档片段|资料|参考资料|来源|片段|上下文|检索结果|搜索结果|知识|参考文档|相关文档|参考内容|知识片段|参考信息|出处|文献|网页|相关片段|知识条目|相关知识|参考文献片段',
  ],
  ['zh', '--S', '已知信息|参考|段落'],
  ['zh', 'w--', '结果|文章|文件'],
  [
    'ja',
    'S-S',
    '文書|ドキュメント|資料|出典|コンテキスト|検索結果|参考情報|参考資料|参考文書|関連文書|抜粋|参考|文脈|関連情報|引用|検索文書',
  ],
  ['ja', 'w--', '記事|結果'],
  ['ko', 'S-S', '문서|출처|자료|참고 자료|참고 문서|컨텍스트|문맥|발췌|검색 결과|참고 정보|본문'],
  ['ko', 'w--', '결과'],
  [
    'ar',
    'S-S',
    'المستند/المستندات|مستند/مستندات|المصدر/المصادر|مصدر/مصادر|وثيقة/وثائق|الوثيقة/الوثائق|مقطع/مقاطع|المقطع/المقاطع|السياق',
  ],
]

const weights: Readonly<Record<string, Weight>> = { S: 'strong', w: 'weak' }

export const nouns: readonly Noun[] = table.flatMap(([language, uses, words]) => {
  const [label, tag, announces] = [...uses].map((sign) => weights[sign])
  return words.split('|').map((word): Noun => {
    const [singular = '', plural = singular] = word.split('/')
    return { language, singular, plural, ...(label && { label }), ...(tag && { tag }), ...(announces && { announces }) }
  })
})
