import { WordPattern } from '../../scan/words/word-pattern.ts'

/** English words for retrieved texts, as a source of patterns. */
export const TEXTS =
  '(?:documents?|docs?|sources?|passages?|contexts?|chunks?|files?|results?|snippets?|excerpts?|extracts?|articles?|texts?|items?|entry|entries|memory|memories|notes?|records?|papers?|pages?|contracts?|polic(?:y|ies)|reviews?|paragraphs?|links?|hits?|e-?mails?|tickets?|messages?|versions?|amendments?|candidates?)'

/** Stems of such words in other languages, which endings may follow. */
export const STEMS: string = [
  'dokument|quelle|abschnitt|absatz|absätz|text|datei|ergebnis|auszug|auszüge|artikel|passage|fundstelle|document|source|extrait|fichier|résultat|article',
  'documento|fuente|texto|pasaje|archivo|fragmento|resultado|artículo|extracto|fonte|trecho|passagem|arquivo|ficheiro|artigo',
  'fonti|testo|testi|brano|brani|passagg|risultat|articol|estratt|frammento|bron|tekst|bestand|resulta|fragment|käll|kilde|artik|utdrag|avsnitt',
  'źród|plik|wynik|artykuł|zdroj|úryv|soubor|výsled|článe|belge|doküman|kayna|meti|metn|parça|dosya|sonuc|sonuç|makale',
  'tài liệu|nguồn|đoạn|văn bản|tệp|kết quả|bài|dokumen|sumber|teks|berkas|hasil|asiakirj|lähde|lähte|surs|fișier|forrás|szöveg|cikk|találat',
  'документ|источник|фрагмент|отрыв|текст|файл|материал|результат|стать|статт|абзац|джерел|уривок|уривк',
  'έγγραφ|εγγράφ|πηγ|κείμεν|κειμέν|αρχεί|άρθρ|مستند|وثيقة|مصدر|نص|ملف|مقال|نتيجة|فقرة|سند|منبع|متن|مدرک',
  'নথি|উৎস|পাঠ্য|מסמך|מקור|טקסט|קטע|קובץ|מאמר|दस्तावेज|स्रोत|पाठ|अंश|फ़ाइल|लेख|परिणाम',
].join('|')

/** Words for retrieved texts in languages without spaces. */
const UNSPACED =
  '文[档檔件章献獻書本]|[资資]料|[来來]源|段落|片段|[结結]果|ドキュメント|出典|記事|テキスト|문서|자료|출처|글|기사|텍스트|เอกสาร'
const ANY_TEXT = new WordPattern([`(?<!\\p{L})(?:${TEXTS}(?!\\p{L})|(?:ال|ה)?(?:${STEMS}))|${UNSPACED}`], 'u')
/** Asks which of the texts it is, as `which document`: without a name, a text is named by its place. */
export const WHICH: WordPattern = new WordPattern(
  [
    `(?<!\\p{L})(?:(?:pick|choose|select|identify|find|point (?:out|to)) (?:the|an?|that) (?:(?!(?:from|in|of|based|using|by|with|to|for|on|that) )\\p{L}+ ){0,3}${TEXTS}(?!\\p{L})|(?:if (?:so|yes)|and|so),? which(?: ones?)?(?=[ \\t]{0,2}[?.!]?[ \\t]*$)|(?:which|what)(?: one)? of (?:the|these|those) (?:\\p{L}+ )?${TEXTS}|(?:which|what) (?:document|source|passage|text|chunk|file|snippet|excerpt|article|one|paper|record|item|entry)(?!\\p{L})(?! (?:label|compan|deal))|which (?:documents|sources|passages|texts|chunks|files|snippets|articles|ones|papers) (?:mention|say|contain|describe|support|state|answer|discuss|talk|cover|are|speak|agree|contradict)|(?:welche[rsnm]?|quel(?:le)?s?|lequel|laquelle|qué|cuál(?:es)?|qual(?:e|i|is)?|welke?|vilket|vilken|vilka|hvilke[tn]?|hvilken|któr\\p{L}+|kter\\p{L}+|hangi|mana|как(?:ой|ая|ом|ие|их|ому)|в каком|який|яка|якому|ποιο|أي|איזה|כאיזה|कौन|किस)(?: (?:der|des|de ces|de los|de las|dei|dos|das|из|van de|av|af|od|z))?(?: [\\p{L}\\p{M}]+){0,2}? (?:ال|ה)?(?:${STEMS}))|[哪那何][一个個篇份条條些]{0,2}(?:${UNSPACED})|どの(?:${UNSPACED})|(?:어느|어떤) ?(?:${UNSPACED})`,
  ],
  'u',
)
// words that stand for texts that are in sight
const THEY = new WordPattern(
  /(?<!\p{L})(?:they|them|their|these|those|above|below|sie|diese[rnm]?|ihre?[rnms]?|ils|elles|ces|leurs?|ellos|estos|sus?|essi|questi|loro|eles|estes|они|их|эти|zij|deze|de|oni|te|ich|bunlar|chúng|mereka)(?!\p{L})|它们|他们|这些|這些|以下|以上|これら|それら|이들|그들/u,
)

/** Whether lower-case words mention retrieved texts, in any language. */
export function mentionsTexts(words: string): boolean {
  return ANY_TEXT.test(words)
}

/** Whether lower-case words mention retrieved texts, or stand for them. */
export function refersToTexts(words: string): boolean {
  return ANY_TEXT.test(words) || THEY.test(words)
}

const BOUNDARY = '(?<!\\p{L})'
const OTHER_LETTERS = /[\u0370-\u1fff\u3040-\uffff]/

/** Joins patterns for lower-case words. Latin words stand at the beginning of a word, whether they say so or not. */
export function anyOf(sources: readonly string[]): WordPattern {
  const alternatives = sources.map((source) => source.replaceAll(`|${BOUNDARY}`, '|').replace(BOUNDARY, ''))
  const latin = alternatives.filter((source) => !OTHER_LETTERS.test(source))
  const others = alternatives.filter((source) => OTHER_LETTERS.test(source))
  return new WordPattern([`(?<![a-zà-ÿ])(?:${latin.join('|')})`, ...others], 'u')
}

const LONGEST_END = 10_000
const BETWEEN = /(?<=[.!?](?<!(?:e\.g|i\.e|z\.b|u\.a|vs|no|nr|p|etc|cf)\.))[ \t]+|(?<=[。！？])|\n+/u
const MOST = 1_000

/** Returns the two ends of a text, because a question comes before or after what it is about. */
export function readEnds(text: string): string {
  return text.length <= 2 * LONGEST_END ? text : `${text.slice(0, LONGEST_END)}\n${text.slice(-LONGEST_END)}`
}

/** Returns the sentences of a text; a line is one, too. */
export function sentencesOf(text: string): string[] {
  return text.split(BETWEEN, MOST).filter((sentence) => sentence.trim() !== '')
}
