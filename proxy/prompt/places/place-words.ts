/*
 * How languages refer to a text of a list by position (`the second document`, `второй документ`, `المستند الثاني`) or
 * to each of its texts. One row per language. Stems may be followed by endings.
 */

interface PlaceWords {
  /** the script of its words; other scripts are read only if the text uses them */
  readonly script: 'latin' | 'cyrillic' | 'arabic' | 'other'
  /** stems of first, second, …, last, before or after the noun */
  readonly ordinals: string
  /** stems of words for a retrieved text */
  readonly nouns: string
  readonly side: 'before' | 'behind' | 'both'
  /** words for each one, before the noun */
  readonly each?: string
  /** words for one after the other */
  readonly inTurn?: string
}

const DIGITS = '\\d{1,2}'

const languages: readonly PlaceWords[] = [
  {
    script: 'latin',
    ordinals: `erste|zweite|dritte|vierte|fünfte|sechste|letzte|vorletzte|oberste|unterste|${DIGITS}\\.`,
    nouns: 'dokument|quelle|abschnitt|text|datei|ergebnis|auszug|auszüge|artikel|passage|fundstelle',
    side: 'before',
    each: 'jede[nmrs]?|pro|je',
    inTurn: 'der reihe nach|nacheinander|(?:eins|eines|einen) nach dem ander',
  },
  {
    script: 'latin',
    ordinals: `premi(?:er|ère)|deuxième|secondes?(?!\\p{L})|second(?!\\p{L})|troisième|quatrième|cinquième|derni(?:er|ère)|avant-derni|${DIGITS}(?:e|ème|er|ère|nde?)`,
    nouns: 'document|source|passage|texte|extrait|fichier|résultat|article',
    side: 'before',
    each: 'chaque|par',
    inTurn: "dans l['’]ordre(?! de pertinence)|l['’]une? après l['’]autre|une? par une?",
  },
  {
    script: 'latin',
    ordinals: `primer|segund|tercer|cuart|quint|últim|penúltim|${DIGITS}\\.?[ºª°]`,
    nouns: 'documento|fuente|texto|pasaje|archivo|fragmento|resultado|artículo|extracto',
    side: 'both',
    each: 'cada|por',
    inTurn: 'por orden|en orden(?! de relevancia)|un[oa] por un[oa]',
  },
  {
    script: 'latin',
    ordinals: `primeir|segund|terceir|quart|quint|últim|penúltim|${DIGITS}\\.?[ºª°]`,
    nouns: 'documento|fonte|texto|trecho|passagem|arquivo|ficheiro|resultado|artigo',
    side: 'both',
    each: 'cada|por',
    inTurn: 'por ordem|em ordem|um por um|uma por uma',
  },
  {
    script: 'latin',
    ordinals: `prim[oaie](?!\\p{L})|second[oaie](?!\\p{L})|terz[oaie]|quart[oaie]|quint[oa](?!\\p{L})|ultim[oaie](?!\\p{L})|penultim[oa](?!\\p{L})|${DIGITS}[°º]`,
    nouns: 'document|fonte|fonti|testo|testi|brano|brani|passagg|risultat|articol|estratt|frammento',
    side: 'both',
    each: 'ogni|ciascun[ao]?|per',
    inTurn: "in ordine(?! di rilevanza)|un[oa] per un[oa]|nell['’]ordine",
  },
  {
    script: 'latin',
    ordinals: `eerste|tweede|derde|vierde|vijfde|laatste|voorlaatste|${DIGITS}(?:e|de|ste)`,
    nouns: 'document|bron|tekst|passage|bestand|resulta|artikel|fragment',
    side: 'before',
    each: 'elke?|iedere?|per',
    inTurn: 'op volgorde|op de volgorde|een voor een|één voor één',
  },
  {
    script: 'latin',
    ordinals: 'första|andra|tredje|fjärde|femte|sista|første|anden|andet|andre|fjerde|femte|sidste|siste',
    nouns: 'dokument|käll|kilde|text|tekst|resultat|artik|utdrag|avsnitt',
    side: 'before',
    each: 'varje|hvert|hver',
    inTurn: 'i tur och ordning|i rækkefølge|i rekkefølge|en i taget|en ad gangen|en om gangen',
  },
  {
    script: 'latin',
    ordinals: 'pierwsz|drug(?:i|a|ą|ie|iego|im|iej)(?!\\p{L})|trzeci|czwart|piąt|ostatni|przedostatni',
    nouns: 'dokument|źród|fragment|tekst|plik|wynik|artykuł',
    side: 'both',
    each: 'każd\\p{L}+|co',
    inTurn: 'po kolei|kolejno|w kolejności(?! trafności)|jeden po drugim',
  },
  {
    script: 'latin',
    ordinals: 'první|druh|třetí|čtvrt|poslední|prvý|tretí|posledn',
    nouns: 'dokument|zdroj|text|úryv|soubor|výsled|článe',
    side: 'before',
    each: 'každ\\p{L}+',
    inTurn: 'postupně|po pořadí|jeden po druhém',
  },
  {
    script: 'latin',
    ordinals: `birinci|i\u0307?kinci|üçüncü|dördüncü|beşinci|i\u0307?lk|son|sonuncu|${DIGITS}\\.`,
    nouns: 'belge|doküman|kayna|meti|metn|parça|dosya|sonuc|sonuç|makale',
    side: 'before',
    each: 'her(?: bir)?',
    inTurn: 'sırayla|sırasıyla|tek tek',
  },
  {
    script: 'latin',
    ordinals: 'thứ (?:nhất|hai|ba|tư|năm|sáu|\\d)|đầu tiên|cuối',
    nouns: 'tài liệu|nguồn|đoạn|văn bản|tệp|kết quả|bài',
    side: 'behind',
    each: 'mỗi|từng',
    inTurn: 'lần lượt|theo thứ tự',
  },
  {
    script: 'latin',
    ordinals: 'pertama|kedua|ketiga|keempat|kelima|terakhir',
    nouns: 'dokumen|sumber|teks|berkas|artikel|hasil',
    side: 'behind',
    each: 'setiap|tiap|per',
    inTurn: 'secara berurutan|satu per satu|sesuai urutan',
  },
  {
    script: 'latin',
    ordinals: 'ensimmäi|toinen|toise|kolma|neljä|viimei',
    nouns: 'asiakirj|dokument|lähde|lähte|teksti',
    side: 'before',
    each: 'jokais\\p{L}+|kustakin|joka',
  },
  {
    script: 'latin',
    ordinals:
      'prim(?:ul|a|ele|ii|ei)(?!\\p{L})|al doilea|a doua|al treilea|a treia|al patrulea|ultim(?:ul|a|ele|ii)(?!\\p{L})',
    nouns: 'document|surs|text|fișier|articol',
    side: 'both',
    each: 'fiecare',
    inTurn: 'pe rând|în ordine',
  },
  {
    script: 'latin',
    ordinals: 'első|második|harmadik|negyedik|utolsó',
    nouns: 'dokumentum|forrás|szöveg|cikk|találat',
    side: 'before',
    each: 'minden(?: egyes)?|mindegyik',
    inTurn: 'sorban|egyenként|sorrendben',
  },
  {
    script: 'cyrillic',
    ordinals: `перв|втор|трет|четв[её]рт|пят(?:ый|ая|ое|ого|ому|ой|ом|ым)|последн|предпоследн|перш|друг(?:ий|а|е|ого|ому|ій|им)|останн|${DIGITS}-?(?:й|я|е|го|м|му)`,
    nouns: 'документ|источник|фрагмент|отрыв|текст|файл|материал|результат|стать|статт|абзац|джерел|уривок|уривк',
    side: 'both',
    each: 'кажд\\p{L}+|кожн\\p{L}+',
    inTurn: 'по порядку|по очереди|по одному|по черзі|за порядком|один за другим',
  },
  {
    script: 'other',
    ordinals: 'πρώτ|δεύτερ|τρίτ|τέταρτ|τελευταί',
    nouns: 'έγγραφ|εγγράφ|πηγ|κείμεν|κειμέν|αρχεί|άρθρ',
    side: 'before',
    each: 'κάθε|καθένα',
    inTurn: 'με τη σειρά|ένα προς ένα',
  },
  {
    script: 'arabic',
    ordinals: 'ال?[أا]ول|الأولى|الثان|الثالث|الرابع|الخامس|الأخير|اول|دوم|سوم|چهارم|آخر',
    nouns: 'مستند|وثيقة|مصدر|نص|ملف|مقال|نتيجة|فقرة|سند|منبع|متن',
    side: 'behind',
    each: 'ل?كل|هر',
    inTurn: 'بالترتيب|على حدة|به ترتیب',
  },
  {
    script: 'other',
    ordinals: 'הראשו|השני|השליש|הרביע|האחרו',
    nouns: 'מסמך|מקור|טקסט|קטע|קובץ|מאמר',
    side: 'behind',
    each: 'כל|לכל',
    inTurn: 'לפי הסדר|אחד אחד',
  },
  {
    script: 'other',
    ordinals: 'पहल|दूसर|तीसर|चौथ|पाँचव|अंतिम|आखिरी|आख़िरी',
    nouns: 'दस्तावेज|स्रोत|पाठ|अंश|फ़ाइल|लेख|परिणाम',
    side: 'before',
    each: 'प्रत्येक|हर(?: एक)?',
    inTurn: 'क्रम से|एक-एक',
  },
]

/** Ordinals in languages without spaces between words. */
const unspaced = [
  // `最后的文档`, `前两个文档`, `第一份和最后一份`
  '(?:最[后後前初終]|首|末|冒頭|先頭|末尾|倒[数數]第?[一二三四五\\d]|[前后後][一二两兩三四五几幾\\d])面?[的の]?[一二两兩三\\d]?(?:个|個|篇|份|条|條|段|則|则)?(?:文[档檔件章献獻書]|[资資]料|[来來]源|段落|[结結]果|片段|ドキュメント|出典|記事|テキスト)',
  '最[后後]一(?:个|個|篇|份|条|條|段)|第 ?[一二三四五六七八九十\\d]{1,3} ?(?:个|個|篇|份|条|條|段)',
  '[一二三四五六七八九十\\d０-９]{1,3} ?(?:番目|つ目|件目)',
  '(?:첫|두|세|네|다섯|여섯)\\s?번째|첫째|둘째|셋째|넷째|\\d{1,2}\\s?번째?\\s?(?:문서|자료|출처|글|텍스트|파일|결과|기사)|(?:마지막|맨\\s?(?:처음|끝|위|아래)(?:의)?)\\s?(?:문서|자료|출처|글|텍스트|파일|결과|기사)',
  'เอกสาร(?:ที่|ฉบับที่|ฉบับ)?(?:หนึ่ง|สอง|สาม|สี่|แรก|สุดท้าย)',
]
const unspacedEach = [
  '(?:[为為对對给給就将將把请請])[每各]一?(?:个|個|篇|份|条|條|段)?(?:文[档檔件章献獻]|[资資]料|[来來]源|段落|[结結]果|片段)|逐(?:一|个|個|篇|条|條|段|份)|依次|分[别別](?:总结|概括|翻译|分析|评分|说明|描述|列出)',
  '各(?:文書|ドキュメント|資料|記事|テキスト)|(?:文書|ドキュメント|資料|記事)ごと|順番に|順に|[一１1]つずつ',
  '각(?:각의)?\\s?(?:문서|자료|출처|글|기사)|(?:문서|자료|기사)(?:별로|마다)|순서대로|차례(?:대로|로)|하나씩',
  'แต่ละเอกสาร|เอกสารแต่ละ|ตามลำดับ',
]

/** A noun found in a text, with the languages it belongs to. */
interface FoundNoun {
  readonly index: number
  readonly languages: readonly CompiledWords[]
}

interface CompiledWords {
  /** matched against the text before a noun */
  readonly before: RegExp | undefined
  /** matched from the noun on */
  readonly behind: RegExp | undefined
  readonly each: RegExp | undefined
}

// Hindi vowels are marks
const LETTERS = '[\\p{L}\\p{M}]'
const START = '(?<![\\p{L}\\p{N}])'
// articles that are joined to the noun
const ARTICLE = '(?:ال|ה)?'

const compiled = languages.map(({ ordinals, side, each }): CompiledWords => {
  const before = new RegExp(`${START}(?:${ordinals})${LETTERS}*(?:[ \\t-]+${LETTERS}+){0,2}[ \\t-]+$`, 'u')
  const behind = new RegExp(`^${LETTERS}+(?: ${LETTERS}+)?[ \\t]+(?:${ordinals})`, 'u')
  return {
    before: side === 'behind' ? undefined : before,
    behind: side === 'before' ? undefined : behind,
    each: each === undefined ? undefined : new RegExp(`${START}(?:${each})[ \\t]+${ARTICLE}$`, 'u'),
  }
})

const stems = [...new Set(languages.flatMap(({ nouns }) => nouns.split('|')))]
// the longest stem matches, and it may begin with shorter stems of other languages
const languagesOf: ReadonlyMap<string, readonly CompiledWords[]> = new Map(
  stems.map((stem) => [
    stem,
    compiled.filter((_, i) => languages[i]!.nouns.split('|').some((noun) => stem.startsWith(noun))),
  ]),
)

function toNounPattern(scripts: readonly PlaceWords['script'][]): RegExp {
  const own = languages.filter(({ script }) => scripts.includes(script)).flatMap(({ nouns }) => nouns.split('|'))
  return new RegExp([...new Set(own)].sort((a, b) => b.length - a.length).join('|'), 'g')
}

const latinNouns = toNounPattern(['latin'])
const allNouns = toNounPattern(['latin', 'cyrillic', 'arabic', 'other'])
const OTHER_SCRIPTS = /[\u0370-\u052f\u0590-\u06ff\u0900-\u097f]/
const UNSPACED = /[\u0e00-\u0e7f\u3040-\u30ff\u4e00-\u9fff\uac00-\ud7a3]/
const unspacedCounted = new RegExp(unspaced.join('|'), 'u')
const unspacedEachOne = new RegExp(unspacedEach.join('|'), 'gu')
const inTurns = new RegExp(`${START}(?:${languages.flatMap(({ inTurn }) => inTurn ?? []).join('|')})(?!\\p{L})`, 'gu')
const NUMBER_BEHIND = new RegExp(
  `^${LETTERS}+(?: ${LETTERS}+)?[ \\t]?(?:[_#.:([-]|n\\.?[º°o]\\.?|nr\\.?|№|номер|numara|numéro|número|numero|nummer|numer|số|رقم)?[ \\t]?(\\d{1,4})(?![\\d%]|[.,]\\d)`,
  'u',
)

const WIDEST = 48
const MOST_NOUNS = 500

/** Yields the nouns of all languages in a lower-case text, for checks of the words around them. */
function* findNouns(text: string): Generator<FoundNoun> {
  let count = 0
  for (const { 0: noun, index } of text.matchAll(OTHER_SCRIPTS.test(text) ? allNouns : latinNouns)) {
    if (++count > MOST_NOUNS) return
    yield { index, languages: languagesOf.get(noun)! }
  }
}

/** Returns whether a lower-case text refers to one of several texts by position, in any language but English. */
export function callsByPlace(text: string): boolean {
  if (UNSPACED.test(text) && unspacedCounted.test(text)) return true
  for (const { index, languages: own } of findNouns(text)) {
    const front = text.slice(Math.max(index - WIDEST, 0), index)
    const on = text.slice(index, index + WIDEST)
    if (own.some(({ before, behind }) => before?.test(front) || behind?.test(on))) return true
  }
  return false
}

/** Yields where a lower-case text refers to each of several texts or to one after the other, except in English. */
export function* findEachOne(text: string): Generator<number> {
  if (UNSPACED.test(text)) for (const { index } of text.matchAll(unspacedEachOne)) yield index
  for (const { index } of text.matchAll(inTurns)) yield index
  for (const { index, languages: own } of findNouns(text)) {
    const front = text.slice(Math.max(index - WIDEST, 0), index)
    if (own.some(({ each }) => each?.test(front))) yield index
  }
}

/** Yields the numbers after words for a text, as in `документ 2`, in a lower-case text. */
export function* findNumbered(
  text: string,
): Generator<{ readonly number: string; readonly start: number; readonly end: number }> {
  for (const { index } of findNouns(text)) {
    const match = NUMBER_BEHIND.exec(text.slice(index, index + WIDEST))
    if (match !== null) yield { number: match[1]!, start: index, end: index + match[0].length }
  }
}
