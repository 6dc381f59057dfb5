/** Fields (by `toFieldName`) of things in a sequence: what was said, what is to be done, what happened. */
export const orderedField: RegExp =
  /^(?:role|speaker|user|username|sender|from|to|step|stepnumber|turn|line|lines|linenumber|lineno|linestart|lineend|startline|endline|startindex|endindex|startchar|endchar|startbyte|endbyte|linerange|fromline|toline|timestampms|time|start|end|starttime|endtime|offset|startoffset|charstart|begin|duration|question|input|target|sha|commit|version|tagname|number|chapter|sectionnumber|seq|sequence|order|positionms|event|level|eventtype|method|parameters|inputschema|arguments|function|inreplyto|parentid|replyto|messageid|threadid|frame|round|verse|session|layer|totalparts|totalchunks|totalpages|schritt|étape|etape|paso|步骤|手順)$/

/** Fields that also suggest an order, but that search results may have too. */
export const datedField: RegExp =
  /^(?:timestamp|date|datetime|pubdate|created|createdat|updated|updatedat|lastupdated|published|publishedat|publisheddate|modified|modifiedat|lastmodified|day|month|year|hour|when|age|ts|rev|revision|v|author|authors|page|pagenumber|pagelabel|paragraph|part|section|status|state|priority|assignee|assignees|duedate|due|milestone|indexindocument|chunkindex|chunkid|sequencenumber|datum|uhrzeit|fecha|hora|heure|日期|时间|日付|日時|時刻)$/

const RANKING = [
  '(?:relevance|relevancy|rerank|reranker|reranking|retrieval|search|similarity|vector|bm25|hybrid|semantic|fusion|rrf|dense|sparse|cosine|match|@search\\.|@search\\.reranker)?scores?',
  'similarity|distance|relevance|relevancy|certainty|rank|ranking',
  '(?:相关(?:性|度)?|匹配|检索|召回|重排)?(?:分数|得分|评分)|相关度|相似度|匹配度',
  '(?:関連度)?スコア|類似度|関連度|유사도|점수|관련도',
  'relevanz(?:wert)?|ähnlichkeit(?:swert)?|pertinence|similarité|relevancia|puntuación|similitud|relevância|pontuação|similaridade',
  'rilevanza|punteggio|relevantie|релевантность|оценка|сходство',
].join('|')

/** Fields that only rank results. Their values change with every question. */
export const rankingField: RegExp = new RegExp(`^(?:${RANKING})$`)

/** Returns a field's name without case and separators: `publishedAt` and `published_at` become `publishedat`. */
export function toFieldName(name: string): string {
  return name.replaceAll(/[_-]/g, '').toLowerCase()
}

/** Returns whether the word before a number says that it only ranks, as in `Score: 0.9`. */
export function endsInRank(prefix: string): boolean {
  const word = /([\p{L}_-]+)[^\p{L}]*$/u.exec(prefix)?.[1]
  return word !== undefined && rankingField.test(toFieldName(word))
}
