/*
 * The single table of nouns for retrieved text. Labels, tags, containers, headings and JSON members are all built from
 * it, so that a noun known in one place is known in all of them.
 */

/** How much evidence a noun is by itself. `weak` nouns also name parts of one text and rows of a table. */
export type Weight = 'strong' | 'weak'

type Language =
  | 'ar'
  | 'cs'
  | 'da'
  | 'de'
  | 'el'
  | 'en'
  | 'es'
  | 'fi'
  | 'fr'
  | 'he'
  | 'hi'
  | 'hu'
  | 'id'
  | 'it'
  | 'ja'
  | 'ko'
  | 'nl'
  | 'no'
  | 'pl'
  | 'pt'
  | 'ro'
  | 'ru'
  | 'sv'
  | 'th'
  | 'tr'
  | 'uk'
  | 'vi'
  | 'zh'

/** A noun for a retrieved text, in one language. */
export interface Noun {
  readonly language: Language
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

const strong = { label: 'strong', tag: 'strong', announces: 'strong' } as const
const said = { label: 'strong', announces: 'strong' } as const

/** A space stands for a space, an underscore or a hyphen. */
export const nouns: readonly Noun[] = [
  { language: 'en', singular: 'search result', plural: 'search results', ...strong },
  { language: 'en', singular: 'document', plural: 'documents', ...strong },
  { language: 'en', singular: 'doc', plural: 'docs', ...strong },
  { language: 'en', singular: 'source', plural: 'sources', label: 'strong', tag: 'weak', announces: 'strong' },
  { language: 'en', singular: 'passage', plural: 'passages', ...strong },
  // a container holds contexts, but a single context is not a block among others of its name
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
  { language: 'en', singular: 'entry', plural: 'entries', tag: 'weak' },
  { language: 'en', singular: 'node', plural: 'nodes', label: 'weak', tag: 'weak' },
  { language: 'en', singular: 'attachment', plural: 'attachments', label: 'weak', tag: 'weak', announces: 'weak' },
  { language: 'en', singular: 'code selection', plural: 'code selections', tag: 'weak' },
  { language: 'en', singular: 'code snippet', plural: 'code snippets', ...strong },
  { language: 'en', singular: 'paragraph', plural: 'paragraphs', tag: 'weak' },
  { language: 'en', singular: 'hit', plural: 'hits', label: 'weak', tag: 'weak', announces: 'strong' },
  { language: 'en', singular: 'text chunk', plural: 'text chunks', ...strong },
  { language: 'en', singular: 'context item', plural: 'context items', tag: 'weak', announces: 'weak' },
  { language: 'en', singular: 'reference material', plural: 'reference materials', announces: 'strong' },
  { language: 'en', singular: 'relevant note', plural: 'relevant notes', announces: 'strong' },
  { language: 'en', singular: 'retrieved note', plural: 'retrieved notes', announces: 'strong' },
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
  { language: 'ru', singular: 'выдержка', plural: 'выдержки', ...said },
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
  { language: 'zh', singular: '出处', plural: '出处', ...said },
  { language: 'zh', singular: '文献', plural: '文献', ...said },
  { language: 'zh', singular: '网页', plural: '网页', ...said },
  { language: 'zh', singular: '相关片段', plural: '相关片段', ...said },
  { language: 'zh', singular: '知识条目', plural: '知识条目', ...said },
  { language: 'zh', singular: '相关知识', plural: '相关知识', ...said },
  { language: 'zh', singular: '参考文献片段', plural: '参考文献片段', ...said },
  { language: 'ja', singular: '参考', plural: '参考', ...said },
  { language: 'ja', singular: '文脈', plural: '文脈', ...said },
  { language: 'ja', singular: '関連情報', plural: '関連情報', ...said },
  { language: 'ja', singular: '引用', plural: '引用', ...said },
  { language: 'ja', singular: '検索文書', plural: '検索文書', ...said },
  { language: 'ko', singular: '참고 정보', plural: '참고 정보', ...said },
  { language: 'ko', singular: '본문', plural: '본문', ...said },
  { language: 'de', singular: 'textauszug', plural: 'textauszüge', ...said },
  { language: 'de', singular: 'ausschnitt', plural: 'ausschnitte', ...said },
  { language: 'de', singular: 'kontextabschnitt', plural: 'kontextabschnitte', ...said },
  { language: 'de', singular: 'fundstelle', plural: 'fundstellen', ...said },
  { language: 'fr', singular: 'passage pertinent', plural: 'passages pertinents', ...said },
  { language: 'fr', singular: 'référence', plural: 'références', ...said },
  { language: 'es', singular: 'extracto', plural: 'extractos', ...said },
  { language: 'es', singular: 'referencia', plural: 'referencias', ...said },
  { language: 'pt', singular: 'referência', plural: 'referências', ...said },
  { language: 'vi', singular: 'tài liệu', plural: 'tài liệu', ...said },
  { language: 'vi', singular: 'nguồn', plural: 'nguồn', ...said },
  { language: 'vi', singular: 'đoạn trích', plural: 'đoạn trích', ...said },
  { language: 'vi', singular: 'đoạn văn', plural: 'đoạn văn', ...said },
  { language: 'vi', singular: 'ngữ cảnh', plural: 'ngữ cảnh', ...said },
  { language: 'id', singular: 'dokumen', plural: 'dokumen', ...said },
  { language: 'id', singular: 'sumber', plural: 'sumber', ...said },
  { language: 'id', singular: 'kutipan', plural: 'kutipan', ...said },
  { language: 'id', singular: 'konteks', plural: 'konteks', ...said },
  { language: 'sv', singular: 'källa', plural: 'källor', ...said },
  { language: 'sv', singular: 'utdrag', plural: 'utdrag', ...said },
  { language: 'sv', singular: 'sökresultat', plural: 'sökresultat', ...said },
  { language: 'da', singular: 'kilde', plural: 'kilder', ...said },
  { language: 'da', singular: 'uddrag', plural: 'uddrag', ...said },
  { language: 'da', singular: 'kontekst', plural: 'kontekst', ...said },
  { language: 'da', singular: 'søgeresultat', plural: 'søgeresultater', ...said },
  { language: 'no', singular: 'søkeresultat', plural: 'søkeresultater', ...said },
  { language: 'no', singular: 'dokument', plural: 'dokumenter', ...said },
  { language: 'fi', singular: 'asiakirja', plural: 'asiakirjat', ...said },
  { language: 'fi', singular: 'dokumentti', plural: 'dokumentit', ...said },
  { language: 'fi', singular: 'lähde', plural: 'lähteet', ...said },
  { language: 'fi', singular: 'katkelma', plural: 'katkelmat', ...said },
  { language: 'fi', singular: 'konteksti', plural: 'konteksti', ...said },
  { language: 'cs', singular: 'zdroj', plural: 'zdroje', ...said },
  { language: 'cs', singular: 'úryvek', plural: 'úryvky', ...said },
  { language: 'hu', singular: 'dokumentum', plural: 'dokumentumok', ...said },
  { language: 'hu', singular: 'forrás', plural: 'források', ...said },
  { language: 'hu', singular: 'szövegrészlet', plural: 'szövegrészletek', ...said },
  { language: 'hu', singular: 'kontextus', plural: 'kontextus', ...said },
  { language: 'ro', singular: 'document', plural: 'documente', ...said },
  { language: 'ro', singular: 'sursă', plural: 'surse', ...said },
  { language: 'ro', singular: 'sursa', plural: 'sursele', ...said },
  { language: 'ro', singular: 'fragment', plural: 'fragmente', ...said },
  { language: 'el', singular: 'έγγραφο', plural: 'έγγραφα', ...said },
  { language: 'el', singular: 'πηγή', plural: 'πηγές', ...said },
  { language: 'el', singular: 'απόσπασμα', plural: 'αποσπάσματα', ...said },
  { language: 'ar', singular: 'المستند', plural: 'المستندات', ...said },
  { language: 'ar', singular: 'مستند', plural: 'مستندات', ...said },
  { language: 'ar', singular: 'المصدر', plural: 'المصادر', ...said },
  { language: 'ar', singular: 'مصدر', plural: 'مصادر', ...said },
  { language: 'ar', singular: 'وثيقة', plural: 'وثائق', ...said },
  { language: 'ar', singular: 'الوثيقة', plural: 'الوثائق', ...said },
  { language: 'ar', singular: 'مقطع', plural: 'مقاطع', ...said },
  { language: 'ar', singular: 'المقطع', plural: 'المقاطع', ...said },
  { language: 'ar', singular: 'السياق', plural: 'السياق', ...said },
  { language: 'he', singular: 'מסמך', plural: 'מסמכים', ...said },
  { language: 'he', singular: 'מקור', plural: 'מקורות', ...said },
  { language: 'he', singular: 'קטע', plural: 'קטעים', ...said },
  { language: 'hi', singular: 'दस्तावेज़', plural: 'दस्तावेज़', ...said },
  { language: 'hi', singular: 'दस्तावेज', plural: 'दस्तावेज', ...said },
  { language: 'hi', singular: 'स्रोत', plural: 'स्रोत', ...said },
  { language: 'hi', singular: 'अंश', plural: 'अंश', ...said },
  { language: 'hi', singular: 'संदर्भ', plural: 'संदर्भ', ...said },
  { language: 'th', singular: 'เอกสาร', plural: 'เอกสาร', ...said },
  { language: 'th', singular: 'แหล่งข้อมูล', plural: 'แหล่งข้อมูล', ...said },
  { language: 'th', singular: 'บริบท', plural: 'บริบท', ...said },
  { language: 'en', singular: 'web page', plural: 'web pages', ...said },
  { language: 'en', singular: 'webpage', plural: 'webpages', ...said },
  { language: 'en', singular: 'knowledge', plural: 'knowledge', label: 'weak' },
  { language: 'en', singular: 'abstract', plural: 'abstracts', label: 'weak', announces: 'strong' },
  { language: 'en', singular: 'note', plural: 'notes', label: 'weak' },
  { language: 'de', singular: 'treffer', plural: 'treffer', label: 'weak' },
  { language: 'de', singular: 'ergebnis', plural: 'ergebnisse', label: 'weak' },
  { language: 'fr', singular: 'résultat', plural: 'résultats', label: 'weak' },
  { language: 'es', singular: 'resultado', plural: 'resultados', label: 'weak' },
  { language: 'it', singular: 'risultato', plural: 'risultati', label: 'weak' },
  { language: 'nl', singular: 'resultaat', plural: 'resultaten', label: 'weak' },
  { language: 'pl', singular: 'wynik', plural: 'wyniki', label: 'weak' },
  { language: 'tr', singular: 'sonuç', plural: 'sonuçlar', label: 'weak' },
  { language: 'ru', singular: 'материал', plural: 'материалы', label: 'weak' },
  { language: 'ru', singular: 'результат', plural: 'результаты', label: 'weak' },
  { language: 'zh', singular: '结果', plural: '结果', label: 'weak' },
  { language: 'zh', singular: '文章', plural: '文章', label: 'weak' },
  { language: 'zh', singular: '文件', plural: '文件', label: 'weak' },
  { language: 'ja', singular: '記事', plural: '記事', label: 'weak' },
  { language: 'ja', singular: '結果', plural: '結果', label: 'weak' },
  { language: 'ko', singular: '결과', plural: '결과', label: 'weak' },
]
