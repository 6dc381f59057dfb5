/**
 * How freely a word cites: `citing` in every form, `spoken` as in `page 3` where the prompt calls its blocks pages,
 * `bracketed` only as in `[Item 3]`.
 */
export type NounUse = 'citing' | 'spoken' | 'bracketed'

const words: Readonly<Record<NounUse, string>> = {
  citing: `document documents doc docs source sources src passage passages snippet snippets excerpt excerpts extract
    extracts chunk chunks context contexts citation citations cite cites reference references ref refs webpage webpages
    evidence dokument dokumente dokumenten quelle quellen auszug auszüge textstelle textstellen extrait extraits référence
    références documento documentos documenti fuente fuentes fragmento fragmentos referencia referencias pasaje pasajes
    fonte fontes fonti trecho trechos brano brani documenten bron bronnen dokumenty źródło źródła belge kaynak doküman
    dokumen sumber källa källor kilde kilder lähde zdroj zdroje forrás документ документы источник источники фрагмент
    отрывок джерело джерела έγγραφο πηγή מסמך מקור المستند مستند المصدر مصدر وثيقة الوثيقة المقطع दस्तावेज़ दस्तावेज स्रोत
    文档 文件 资料 来源 文献 片段 网页 参考 参考文献 引用 出处 文書 資料 ドキュメント 出典 문서 출처 자료`,
  spoken: `article articles result results page pages paper papers artikel artículo artículos articolo ergebnis ergebnisse
    résultat résultats resultado resultados risultato статья статье статьи результат 文章 结果 結果 記事 기사 결과`,
  bracketed: `item items entry entries note notes fact facts file files text texts memory memories node nodes record
    records hit hits report reports data see co dok док`,
}

/** The end of a text in a script without spaces between words. */
export const NO_SPACES: RegExp = /[\u0e00-\u0e7f\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]$/

/** Its forms differ in their last letters. */
function stemOf(noun: string): string {
  return NO_SPACES.test(noun) || noun.length < 5 ? noun : noun.slice(0, -1)
}

const SPOKEN = new RegExp(
  `(${[...new Set(words.spoken.split(/\s+/).map((word) => stemOf(toFamily(word))))].join('|')})[\\p{L}\\p{M}]*(?![\\p{L}\\p{M}]|[ .:#№]{0,3}\\d)`,
  'giu',
)

/**
 * Reads which of the nouns that are spoken stand in a text without a number behind them: by these it may call its
 * blocks. `Artikel 3` in a question is one of a law.
 */
export function readSpokenNouns(text: string): string[] {
  return [...new Set([...text.matchAll(SPOKEN)].map(([, stem]) => stem!.toLowerCase()))]
}

/** Whether a noun, or another form of it, is one of those read. */
export function isSpokenNoun(noun: string, stems: ReadonlySet<string>): boolean {
  return stems.has(stemOf(noun))
}

const uses: ReadonlyMap<string, NounUse> = new Map(
  (Object.entries(words) as [NounUse, string][]).flatMap(([use, own]) => own.split(/\s+/).map((word) => [word, use])),
)
const plurals = new Set(
  'entries memories dokumente dokumenten quellen textstellen auszüge documenti fonti brani documenten bronnen dokumenty źródła källor документы источники джерела статьи ergebnisse'.split(
    ' ',
  ),
)

/** A word for what is cited, as it stands in a text. */
interface CitedNoun {
  /** lower case, `doc` for `document` */
  readonly noun: string
  readonly use: NounUse
  readonly isPlural: boolean
  readonly length: number
}

const LAST_WORD = /(?<![\p{L}\p{M}\p{N}_/\\.@$=&?%+-])[\p{L}\p{M}]{2,24}$/u
const LAST_LETTERS = /[\p{L}\p{M}]{1,30}$/u
/** with the character before it */
const longestWord = 25
const LONGEST_UNSPACED = 4
const MOST_ENDINGS = 2
const SHORTEST_STEM = 4
// `للمستند`, `במסמך`: the article and short words are written together with a noun
const JOINING = /^[\u0590-\u06ff]/
const MOST_JOINED = 3

/** Reads the noun that `text` ends with. Words of scripts without spaces may begin anywhere. */
export function readLastNoun(text: string): CitedNoun | undefined {
  if (NO_SPACES.test(text)) {
    const letters = LAST_LETTERS.exec(text.slice(-longestWord))![0]
    for (let length = Math.min(LONGEST_UNSPACED, letters.length); length > 0; length--) {
      const found = toNoun(letters.slice(-length))
      if (found) return found
    }
    return letters.endsWith('ドキュメント') ? toNoun('ドキュメント') : undefined
  }
  const word = LAST_WORD.exec(text.slice(-longestWord))?.[0].toLowerCase()
  const found = word && readInflected(word)
  return found ? { ...found, length: word.length } : undefined
}

/** Reads `документе` and `للمستند`: scripts other than Latin have no other words with these stems. */
function readInflected(word: string): CitedNoun | undefined {
  const joined = JOINING.test(word) ? MOST_JOINED : 0
  const endings = /^[a-z]+$/.test(word) ? 0 : MOST_ENDINGS
  for (let from = 0; from <= joined; from++) {
    for (let cut = 0; cut <= endings; cut++) {
      const found = toNoun(word.slice(from, word.length - cut))
      // `доки` is no form of `док.`
      if (found && (cut === 0 || found.length >= SHORTEST_STEM)) return found
    }
  }
  return undefined
}

function toNoun(word: string): CitedNoun | undefined {
  const use = uses.get(word)
  if (use === undefined) return undefined
  const isPlural = /[^s]s$/.test(word) || plurals.has(word) || NO_SPACES.test(word)
  return { noun: toFamily(word), use, isPlural, length: word.length }
}

/** Returns the key under which a noun is compared: `doc` for `Documents`. */
export function toFamily(word: string): string {
  const lower = word.toLowerCase()
  return lower.replace(/(?<=[^s])s$/, '').replace(/^document$/, 'doc')
}
