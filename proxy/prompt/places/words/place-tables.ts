/*
 * How languages refer to a text of a list by position (`the second document`, `второй документ`, `المستند الثاني`) or
 * to each of its texts. Stems may be followed by endings.
 */

export interface PlaceWords {
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
  /** words that call a text by its place without a noun, such as `die ersten beiden` */
  readonly alone?: string
}

const DIGITS = '\\d{1,2}'

/** One row per language. */
export const languages: readonly PlaceWords[] = [
  {
    script: 'latin',
    ordinals: `erste|zweite|dritte|vierte|fünfte|sechste|letzte|vorletzte|oberste|unterste|${DIGITS}\\.`,
    nouns: 'dokument|quelle|abschnitt|text|datei|ergebnis|auszug|auszüge|artikel|passage|fundstelle',
    side: 'before',
    each: 'jede[nmrs]?|pro|je',
    inTurn: 'der reihe nach|nacheinander|(?:eins|eines|einen) nach dem ander',
    alone: '(?:ersten|letzten) (?:beiden|zwei|drei)|(?:im|das|der|den|dem) vorletzten?|dok\\. ?\\d',
  },
  {
    script: 'latin',
    ordinals: `premi(?:er|ère)|deuxième|secondes?(?!\\p{L})|second(?!\\p{L})|troisième|quatrième|cinquième|derni(?:er|ère)|avant-derni|${DIGITS}(?:e|ème|er|ère|nde?)`,
    nouns: 'document|source|passage|texte|extrait|fichier|résultat|article',
    side: 'before',
    each: 'chaque|par',
    inTurn: "dans l['’]ordre(?! de pertinence)|l['’]une? après l['’]autre|une? par une?",
    alone: "les (?:deux|trois) (?:premi|derni)[eè]r|les (?:premi|derni)[eè]re?s (?:deux|trois)|l['’]avant-derni",
  },
  {
    script: 'latin',
    ordinals: `primer|segund|tercer|cuart|quint|últim|penúltim|${DIGITS}\\.?[ºª°]`,
    nouns: 'documento|fuente|texto|pasaje|archivo|fragmento|resultado|artículo|extracto',
    side: 'both',
    each: 'cada|por',
    inTurn: 'por orden|en orden(?! de relevancia)|un[oa] por un[oa]',
    alone: 'l[oa]s (?:dos|tres) (?:primer|últim)[oa]s|l[oa]s (?:primer|últim)[oa]s (?:dos|tres)|(?:el|la) penúltim[oa]',
  },
  {
    script: 'latin',
    ordinals: `primeir|segund|terceir|quart|quint|últim|penúltim|${DIGITS}\\.?[ºª°]`,
    nouns: 'documento|fonte|texto|trecho|passagem|arquivo|ficheiro|resultado|artigo',
    side: 'both',
    each: 'cada|por',
    inTurn: 'por ordem|em ordem|um por um|uma por uma',
    alone:
      '[oa]s (?:dois|duas|três) (?:primeir|últim)[oa]s|[oa]s (?:primeir|últim)[oa]s (?:dois|duas|três)|[oa] penúltim[oa]|[oa] (?:segund|terceir|quart)[oa](?=[?.!]|$)',
  },
  {
    script: 'latin',
    ordinals: `prim[oaie](?!\\p{L})|second[oaie](?!\\p{L})|terz[oaie]|quart[oaie]|quint[oa](?!\\p{L})|ultim[oaie](?!\\p{L})|penultim[oa](?!\\p{L})|${DIGITS}[°º]`,
    nouns: 'document|fonte|fonti|testo|testi|brano|brani|passagg|risultat|articol|estratt|frammento',
    side: 'both',
    each: 'ogni|ciascun[ao]?|per',
    inTurn: "in ordine(?! di rilevanza)|un[oa] per un[oa]|nell['’]ordine",
    alone: '(?:prim|ultim)[ie] (?:due|tre)|penultim[oa]',
  },
  {
    script: 'latin',
    ordinals: `eerste|tweede|derde|vierde|vijfde|laatste|voorlaatste|${DIGITS}(?:e|de|ste)`,
    nouns: 'document|bron|tekst|passage|bestand|resulta|artikel|fragment',
    side: 'before',
    each: 'elke?|iedere?|per',
    inTurn: 'op volgorde|op de volgorde|een voor een|één voor één',
    alone: 'de (?:eerste|laatste) (?:twee|drie)|(?:het|de) voorlaatste',
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
    ordinals: `birinci|i\u0307?kinci|üçüncü|dördüncü|beşinci|i\u0307?lk|son|sonuncu|${DIGITS}\\.|${DIGITS} numaralı`,
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
    alone: '(?:hai|ba) (?:tài liệu|nguồn|đoạn|văn bản) (?:đầu|cuối)',
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
    ordinals: `első|második|harmadik|negyedik|utolsó|${DIGITS}\\.|${DIGITS}-?[eöoa]s(?: számú)?`,
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
    alone: '(?:первы|последни)е (?:два|две|три)|предпоследн|передостанн',
  },
  {
    script: 'other',
    ordinals: `πρώτ|δεύτερ|τρίτ|τέταρτ|τελευταί|${DIGITS}[οηό]`,
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
    alone: '(?:أول|آخر) (?:مستند|وثيقت|مصدر|نص|ملف)ين',
  },
  {
    script: 'arabic',
    ordinals: 'نخستین|اولین|دومین|سومین|آخرین',
    nouns: 'سند|منبع|متن|مدرک',
    side: 'before',
  },
  {
    script: 'other',
    ordinals: 'প্রথম|দ্বিতীয়|দ্বিতীয়|তৃতীয়|তৃতীয়|চতুর্থ|শেষ',
    nouns: 'নথি|উৎস|পাঠ্য',
    side: 'before',
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
export const unspaced: readonly string[] = [
  // `最后的文档`, `前两个文档`, `第一份和最后一份`
  '(?:最[后後前初終]|首|末|冒頭|先頭|末尾|倒[数數]第?[一二三四五\\d]|[前后後][一二两兩三四五几幾\\d])面?[的の]?[一二两兩三\\d]?(?:个|個|篇|份|条|條|段|則|则)?(?:文[档檔件章献獻書]|[资資]料|[来來]源|段落|[结結]果|片段|ドキュメント|出典|記事|テキスト)',
  '最[后後]一(?:个|個|篇|份|条|條|段)|第 ?[一二三四五六七八九十\\d]{1,3} ?(?:个|個|篇|份|条|條|段)',
  '[一二三四五六七八九十\\d０-９]{1,3} ?(?:番目|つ目|件目)',
  '(?:첫|두|세|네|다섯|여섯)\\s?번째|첫째|둘째|셋째|넷째|\\d{1,2}\\s?번째?\\s?(?:문서|자료|출처|글|텍스트|파일|결과|기사)|(?:마지막|맨\\s?(?:처음|끝|위|아래)(?:의)?)\\s?(?:문서|자료|출처|글|텍스트|파일|결과|기사)',
  'เอกสาร(?:ที่|ฉบับที่|ฉบับ|หมายเลข)? ?(?:หนึ่ง|สอง|สาม|สี่|แรก|สุดท้าย|\\d)',
  '(?:文[档檔件章献獻]|[资資]料|[来來]源|段落|片段)[一二三四五六七八九十](?![^\\s，。？！的说說讲講和与與])',
  '(?:最初|最後|先頭)の(?:二|三|[23２３])(?:つ|件|点)?|(?:처음|마지막)\\s?(?:두|세|[23])\\s?(?:개|건|문서|자료|글)?',
]

/** Words for each text in such languages. */
export const unspacedEach: readonly string[] = [
  '(?:[为為对對给給就将將把请請])[每各]一?(?:个|個|篇|份|条|條|段)?(?:文[档檔件章献獻]|[资資]料|[来來]源|段落|[结結]果|片段)|[每各]一?(?:个|個|篇|份|条|條|段)?(?:文[档檔件章献獻]|[资資]料|段落|片段)[^都是有的包以由均前后，。]|逐(?:一|个|個|篇|条|條|段|份)|依次|分[别別](?:总结|概括|翻译|分析|评分|说明|描述|列出)',
  '各(?:文書|ドキュメント|資料|記事|テキスト)|(?:文書|ドキュメント|資料|記事)ごと|順番に|順に|[一１1]つずつ',
  '각(?:각의)?\\s?(?:문서|자료|출처|글|기사)|(?:문서|자료|기사)(?:별로|마다)|순서대로|차례(?:대로|로)|하나씩',
  'แต่ละเอกสาร|เอกสารแต่ละ|ตามลำดับ',
]
