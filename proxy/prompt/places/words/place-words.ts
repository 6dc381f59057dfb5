import { WordPattern } from '../../scan/words/word-pattern.ts'
import { STEMS } from './text-words.ts'

/*
 * How languages other than English refer to a text of a list by position (`второй документ`, `المستند الثاني`) or to each
 * of its texts. Lower case. Stems may be followed by endings. Languages are not told apart; a word that means something
 * else beside the nouns of another one is given with its own nouns.
 */

const DIGITS = '\\d{1,2}'
const END = '(?!\\p{L})'
// Hindi vowels are marks
const LETTERS = '[\\p{L}\\p{M}]'
const START = '(?<![\\p{L}\\p{N}])'
const BETWEEN = `(?:[ \\t-]+${LETTERS}+){0,2}[ \\t-]+`

const SOME = '(?:beiden|zwei|drei|deux|trois|dos|tres|dois|duas|três|due|tre|twee|drie|два|две|три)'

/** Stems of first, second, …, last, in front of a noun or behind it. */
const BOTH_SIDES = [
  `primer(?:[oa]s?)?${END}|segund|tercer|cuart|últim|penúltim|primeir|terceir|quint[oa]s?${END}|quart[oaie]s?${END}|${DIGITS}\\.?[ºª°]`,
  `prim(?:[oaie]|ul|ele|ii|ei)${END}|second[oaie]${END}|terz[oaie]|ultim(?:[oaie]|ul|ele|ii)${END}|penultim[oa]${END}|al doilea|a doua|al treilea|a treia|al patrulea`,
  `pierwsz|drug(?:i|a|ą|ie|iego|im|iej)${END}|trzeci|czwart|piąt|ostatni|przedostatni`,
  `перв|втор|трет|четв[её]рт|пят(?:ый|ая|ое|ого|ому|ой|ом|ым)|последн|предпоследн|перш|друг(?:ий|а|е|ого|ому|ій|им)|останн|${DIGITS}-?(?:й|я|е|го|м|му)`,
].join('|')
const IN_FRONT = [
  'erste|zweite|dritte|vierte|fünfte|sechste|letzte|vorletzte|oberste|unterste|eerste|tweede|derde|vierde|vijfde|laatste|voorlaatste',
  `premi(?:er|ère)|deuxième|secondes?${END}|troisième|quatrième|cinquième|derni(?:er|ère)|avant-derni|${DIGITS}(?:e|ème|er|ère|nde?|de|ste)${END}`,
  `första|tredje|fjärde|femte|första|første|and(?:ra|en|et|re)${END}|fjerde|sist[ae]${END}|sidste|první|druh|třetí|čtvrt|poslední|prvý|tretí|posledn`,
  `birinci|i\u0307?kinci|üçüncü|dördüncü|beşinci|i\u0307?lk${END}|sonuncu|${DIGITS} numaralı|ensimmäi|toinen|toise|kolma|neljä|viimei`,
  `első|második|harmadik|negyedik|utolsó|${DIGITS}-?[eöoa]s számú|πρώτ|δεύτερ|τρίτ|τέταρτ|τελευταί|${DIGITS}[οηό]|نخستین|اولین|دومین|سومین|آخرین`,
  'প্রথম|দ্বিতীয়|দ্বিতীয়|তৃতীয়|তৃতীয়|চতুর্থ|শেষ|पहल|दूसर|तीसर|चौथ|पाँचव|अंतिम|आखिरी|आख़िरी',
].join('|')
/** Stems of next, previous, upper and lower. */
const BESIDE =
  'nächste|vorige|folgende|obere|untere|suivant|précédent|siguiente|anterior|seguente|precedente|seguinte|volgende|следующ|предыдущ'
const BEHIND = [
  'thứ (?:nhất|hai|ba|tư|năm|sáu|\\d)|đầu tiên|cuối|pertama|kedua|ketiga|keempat|kelima|terakhir',
  'ال?[أا]ول|الأولى|الثان|الثالث|الرابع|الخامس|الأخير|اول|دوم|سوم|چهارم|آخر|הראשו|השני|השליש|הרביע|האחרו',
].join('|')

/** A text of several that is called by its place. */
export const CALLED_BY_PLACE: WordPattern = new WordPattern(
  [
    `${START}(?:${BOTH_SIDES}|${IN_FRONT})${LETTERS}*${BETWEEN}(?:${STEMS})`,
    `(?:${STEMS})${LETTERS}*(?: ${LETTERS}+)?[ \\t]+(?:${BOTH_SIDES}|${BEHIND})`,
    // without a noun beside the place: `die ersten beiden`, `les deux premiers`, `an erster Stelle`, `en qué posición`
    `${START}(?:(?:${BOTH_SIDES}|${IN_FRONT})${LETTERS}* ${SOME}|${SOME} (?:${BOTH_SIDES}|${IN_FRONT}))`,
    `${START}(?:an|en|à|em|in|al|op|på|na|на|v) (?:la |de |der )?(?:(?:${BOTH_SIDES}|${IN_FRONT})${LETTERS}*|\\d{1,2}\\.|welcher|quelle|qu[eé]|quale|welke|vilken|hvilken|którym|kterém|каком|якому) (?:stelle|positi|posiz|posici|posiç|lieu|place|lugar|posto|plaats|plats|miejsc|míst|мест|місц)`,
    // `Und das dritte?`, `celui qui suit`, `le n° 3`
    `(?:${START}(?:das|der|die|dem|den|im|beim|zum|le|la|les|au|el|los|las|al|il|lo|o|a|os|as|de|het|и|а|в|о) |(?<!\\p{L})[ld]['’])(?:${BOTH_SIDES}|${IN_FRONT}|${BESIDE})${LETTERS}*(?= ?[?!.,;]|\\s{0,4}$)`,
    `(?<!\\p{L})n[°º] ?\\d{1,2}(?!\\d)|${START}nummer (?:zwei|drei|vier|fünf|sechs)${END}`,
    ...[
      '(?:im|das|der|den|dem) vorletzten?|dok\\. ?\\d|(?:steht|kommt) (?:ganz )?(?:oben|unten|vorne?|hinten|zuerst|zuletzt|am (?:anfang|ende))',
      `${DIGITS}\\.(?: \\p{L}+)? (?:dokument|quelle|abschnitt|text(?:e[ns]?)?${END}|datei|ergebnis|auszug|artikel|passage|belge|doküman|kayna|metin|parça|dosya|makale|forrás|szöveg|cikk|találat)`,
      'son (?:iki |üç )?(?:belge|doküman|kayna|meti|metn|parça|dosya|sonuc|sonuç|makale)|(?:birinci|i\u0307?kinci|son|kaçıncı) sırada',
      `l['’]avant-derni|(?:el|la|[oa]) penúltim[oa]|[oa] (?:segund|terceir|quart)[oa](?=[?.!]|$)|penultim[oa]|(?:het|de) voorlaatste|предпоследн|передостанн|en (?:premi(?:er|ère)|deuxième|seconde?|troisième|derni(?:er|ère))${END}`,
      '(?:hai|ba) (?:tài liệu|nguồn|đoạn|văn bản) (?:đầu|cuối)|(?:أول|آخر) (?:مستند|وثيقت|مصدر|نص|ملف)ين|(?:排在|位于|放在)(?:第|最)|(?:最初|最後)に(?:ある|来る|載)|(?:첫 번째|마지막)(?:에|으로) (?:있|나오)',
    ].map((words) => `${START}(?:${words})`),
    // `最后的文档`, `前两个文档`, `第一份和最后一份`
    '(?:最[后後前初終]|首|末|冒頭|先頭|末尾|倒[数數]第?[一二三四五\\d]|[前后後][一二两兩三四五几幾\\d])面?[的の]?[一二两兩三\\d]?(?:个|個|篇|份|条|條|段|則|则)?(?:文[档檔件章献獻書]|[资資]料|[来來]源|段落|[结結]果|片段|ドキュメント|出典|記事|テキスト)',
    '最[后後]一(?:个|個|篇|份|条|條|段)|第 ?[一二三四五六七八九十\\d]{1,3} ?(?:个|個|篇|份|条|條|段)',
    '[一二三四五六七八九十\\d０-９]{1,3} ?(?:番目|つ目|件目)',
    '(?:첫|두|세|네|다섯|여섯)\\s?번째|첫째|둘째|셋째|넷째|\\d{1,2}\\s?번째?\\s?(?:문서|자료|출처|글|텍스트|파일|결과|기사)|(?:마지막|맨\\s?(?:처음|끝|위|아래)(?:의)?)\\s?(?:문서|자료|출처|글|텍스트|파일|결과|기사)',
    'เอกสาร(?:ที่|ฉบับที่|ฉบับ|หมายเลข)? ?(?:หนึ่ง|สอง|สาม|สี่|แรก|สุดท้าย|\\d)',
    '(?:文[档檔件章献獻]|[资資]料|[来來]源|段落|片段)[一二三四五六七八九十](?![^\\s，。？！的说說讲講和与與])',
    '(?:最初|最後|先頭)の(?:二|三|[23２３])(?:つ|件|点)?|(?:처음|마지막)\\s?(?:두|세|[23])\\s?(?:개|건|문서|자료|글)?',
  ],
  'u',
)

/** Each of several texts, or one after the other. */
export const EACH_ONE: WordPattern = new WordPattern(
  [
    // articles may be joined to a noun
    ...[
      'jede[nmrs]?|pro|je|chaque|par|cada|por|ogni|ciascun[ao]?|per|elke?|iedere?|varje|hvert|hver|każd\\p{L}+|co|každ\\p{L}+|her bir|mỗi|từng',
      'setiap|tiap|jokais\\p{L}+|kustakin|joka|fiecare|minden(?: egyes)?|mindegyik|кажд\\p{L}+|кожн\\p{L}+|κάθε|καθένα|ل?كل|هر|כל|לכל|प्रत्येक|हर(?: एक)?',
      `(?:jede[nmrs]?|chacune?|cada un[oa]|cada uma?|ognun[oa]|ciascun[oa]|elk|ieder|vart och ett|var och en|hver|każd\\p{L}+|každ\\p{L}+|кажд\\p{L}+|кожн\\p{L}+|fiecare|καθένα|كل) ${LETTERS}{1,7}(?: ${LETTERS}{1,7})?`,
    ].map((words) => `${START}(?:${words})[ \\t]+(?:ال|ה)?(?:${STEMS})`),
    ...[
      "der reihe nach|nacheinander|(?:eins|eines|einen) nach dem ander|dans l['’]ordre(?! de pertinence)|l['’]une? après l['’]autre|une? par une?",
      "por orden|en orden(?! de relevancia)|un[oa] por un[oa]|por ordem|em ordem|um por um|uma por uma|in ordine(?! di rilevanza)|un[oa] per un[oa]|nell['’]ordine",
      'op volgorde|op de volgorde|een voor een|één voor één|i tur och ordning|i rækkefølge|i rekkefølge|en i taget|en ad gangen|en om gangen',
      'po kolei|kolejno|w kolejności(?! trafności)|jeden po drugim|postupně|po pořadí|jeden po druhém|sırayla|sırasıyla|tek tek|lần lượt|theo thứ tự',
      'secara berurutan|satu per satu|sesuai urutan|pe rând|în ordine|sorban|egyenként|sorrendben|по порядку|по очереди|по одному|по черзі|за порядком|один за другим',
      'her (?:belge|doküman|kayna|meti|metn|parça|dosya|sonuc|sonuç|makale)\\p{L}*|με τη σειρά|ένα προς ένα|بالترتيب|على حدة|به ترتیب|לפי הסדר|אחד אחד|क्रम से|एक-एक',
    ].map((words) => `${START}(?:${words})${END}`),
    '(?:[为為对對给給就将將把请請])[每各]一?(?:个|個|篇|份|条|條|段)?(?:文[档檔件章献獻]|[资資]料|[来來]源|段落|[结結]果|片段)|[每各]一?(?:个|個|篇|份|条|條|段)?(?:文[档檔件章献獻]|[资資]料|段落|片段)[^都是有的包以由均前后，。]|逐(?:一|个|個|篇|条|條|段|份)|依次|分[别別](?:总结|概括|翻译|分析|评分|说明|描述|列出)',
    '各(?:文書|ドキュメント|資料|記事|テキスト)|(?:文書|ドキュメント|資料|記事)ごと|順番に|順に|[一１1]つずつ',
    '각(?:각의)?\\s?(?:문서|자료|출처|글|기사)|(?:문서|자료|기사)(?:별로|마다)|순서대로|차례(?:대로|로)|하나씩',
    'แต่ละเอกสาร|เอกสารแต่ละ|ตามลำดับ',
  ],
  'u',
)
