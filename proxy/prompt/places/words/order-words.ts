import { WordPattern } from '../../scan/words/word-pattern.ts'
import { anyOf, mentionsTexts, refersToTexts, TEXTS } from './text-words.ts'

/* Words that give the places of texts a meaning. Lower case; all languages together, most of them by stems. */

// an order in any sentence: of time, or one after the other
const ORDERED = anyOf([
  '(?<!\\p{L})chronolog|chronolog|consecutive|successive|in succession|time-?line order|in (?:time|date|temporal) order|one (?:\\p{L}+ )?to the next|zum nächsten|zur nächsten|au suivant|à la suivante|al siguiente|a la siguiente|al successivo|alla successiva|ao seguinte|naar het volgende|till nästa|til det næste|do następnego|bir sonrakine|one after (?:the other|another)|in alphabetical order|in reverse order|(?:mentioned|listed|stated) (?:\\p{L}+ )?(?:before|after|next|last|first|earlier|later|higher|lower)(?!\\p{L})|list is (?:sorted|ordered|ranked|arranged)',
  '(?<!\\p{L})(?:oldest|newest|latest|earliest|most recent)(?: (?:to|through) (?:newest|oldest|latest|earliest|most recent)| (?:ones? |documents? |entries |messages? |results? )?(?:is |are )?(?:come |comes |listed )?(?:first|last|on top|at the (?:top|bottom|end|beginning|start)))(?!\\p{L})',
  '(?<!\\p{L})(?:sorted|ordered|arranged|listed|given) (?:by|from) (?:date|time|age|oldest|newest|latest|most recent|earliest)(?!\\p{L})',
  'aufeinander ?folgend|nacheinander|(?:dies|derselb|der (?:gegeben|angegeben|gleich|richtig|selb))e[rn] reihenfolge|zeitlich(?:er|en)? (?:geordnet|sortiert|reihenfolge|abfolge)|nach \\p{L}+ (?:geordnet|sortiert|gereiht)|(?:älteste|neueste|jüngste)[nrs]? (?:zuerst|zuletzt)|vom ältesten|vom neuesten|von (?:alt nach neu|neu nach alt)',
  "successi(?:f|ve)s?(?!\\p{L})|consécuti|même ordre|ordre (?:chronologique|donné|indiqué)|(?:triés?|classés?|rangés?) par date|du plus (?:ancien|récent) au plus|l['’]un(?:e)? après l['’]autre",
  'sucesiv|sucessiv|successiv|consecutiv|mism[oa] orden|mesma ordem|stesso ordine|(?:ordenad[oa]s|clasificad[oa]s) por fecha|del? más (?:antiguo|reciente)|do mais (?:antigo|recente)|dal più (?:vecchio|recente)',
  'opeenvolg|achtereenvolg|zelfde volgorde|van (?:oud naar nieuw|nieuw naar oud)|på varandra följande|samma ordning|på hinanden|efter hinanden|samme rækkefølge|samme rekkefølge|från (?:äldst|nyast) till|fra (?:ældst|eldst|nyest) til',
  'kolejn[eyoa]|po sobie|od (?:najstarsz|najnowsz|nejstarší|nejnovější)|ardışık|art arda|aynı sıra|eskiden yeniye|yeniden eskiye|kronologi|cronol|aikajärjestyk|peräkkäi|vanhimmasta|uusimmasta|időrend|egymást követő|legrégebbi|legújabb|berurutan|urutan yang sama|dari yang (?:terlama|terbaru)|de la cel mai (?:vechi|nou)',
  'liên tiếp|theo (?:thứ tự )?thời gian|từ (?:cũ|mới)(?: nhất)? đến',
  'хронологи|последовательн|подряд|послідовн|том же порядке|от (?:старых|новых|старого|нового) к|від (?:найстаріш|найновіш)|χρονολογικ|διαδοχικ|από το(?:ν)? (?:παλαιότερο|νεότερο|παλιότερο)',
  'к следующему|до наступного|到下一[个個篇份]|次の文書へ|다음 문서로',
  '[连連][续續]的?|先后|先後|以[^。\\n]{0,12}(?:[后後新]|(?<![当當目])前)[^。\\n]{0,8}[为為]准|时间顺序|時間順|相同的?[顺順]序|同样的?顺序|[按依以]照?(?:上述|以上|下列|给定|原来?|发布|发生)?的?(?:时间|日期)?(?:先后)?的?[顺順]序|(?:按|依)照?(?:时间|日期)(?:排|升|降)|(?:由|从)(?:旧|新|早|晚|远|近)(?:到|至)(?:新|旧|晚|早|近|远)|時系列|日付順|年代順|連続|同じ順|この順|順番(?:に|通り)|(?:古|新し)い(?:もの)?(?:から)?順',
  '연속|시간\\s?순|연대순|날짜\\s?순|최신\\s?순|같은 순서|متتالي|على التوالي|من (?:الأقدم|الأحدث) إلى|ترتيب(?:ا|ًا)? زمني|بنفس الترتيب|מהישן|מהחדש לישן|סדר כרונולוגי|ברצף|पुराने से नए|नए से पुराने|कालानुक्रम|समय के क्रम|क्रमागत|लगातार|เรียงตาม(?:ลำดับ)?เวลา|เก่า(?:ที่สุด)?ไป|ต่อเนื่อง',
])

// what gives an order a meaning in sentences about the texts
const LATER =
  '(?:later|latter|subsequent|newer|newest|latest|more recent|most recent|earlier|earliest|older|oldest|preceding|previous|first|last|lower|higher|bottom|top)'
const WINNING =
  '(?:wins?|overrid\\p{L}*|overrules?|supersed\\p{L}*|takes? (?:precedence|priority)|ha(?:s|ve) (?:precedence|priority)|prevails?|trumps?|outranks?|amends?|replaces?|counts? more|is (?:right|correct|authoritative)|are (?:right|correct|authoritative))'
const OF_TEXTS = anyOf([
  '(?<!\\p{L})(?:sequence|sequential(?:ly)?|succeed(?:s|ing)?|adjacent|contiguous|in a row|positions?|place in the list)(?!\\p{L})',
  // an order, but no `in order to`
  "(?<!\\p{L})(?:(?<!in )(?:the|their|this|that|same|reading|original|given|input|listed|document|logical|right|correct)(?:['’]s?)? order|order (?:matters|counts|is|of (?:the )?(?:list|input|documents?|sources?|passages?|events))|in (?:this|that|the \\p{L}+|their|its|documents?['’]s?) order|in order(?=[.,;!?]|$))(?!\\p{L}| to | of relevance)",
  '(?<!\\p{L})rank(?:s|ed|ing)?(?!\\p{L})[^.\\n]{0,40}(?<!\\p{L})(?:positions?|place|order|first|last|top|means|by (?!relevan|simil|score))(?!\\p{L})|(?<!\\p{L})rank is(?!\\p{L})',
  `(?<!\\p{L})(?:(?:sorted|ordered|ranked|arranged) (?:by|in|according to)|(?:listed|given) (?:by|in order of|according to)) (?!(?:the order|their |the |your )?(?:relevan|simil|score|rank|how|match|vector|distance|context|following|json|xml|markdown|tags?))`,
  `(?<!\\p{L})(?:comes?|came|appear(?:s|ed)?|stands?|stood|occur(?:s|red)?|(?:is|are|was|were) (?:listed|placed|given|mentioned|shown|stated|described)) (?:\\p{L}+ )?(?:later|earlier|first|last|before|after|next|further|lower|higher|on top)(?!\\p{L})`,
  `(?<!\\p{L})${LATER}(?: ones?)? ${WINNING}(?!\\p{L})|(?<!\\p{L})(?:later|latter|earlier|former|preceding|subsequent) (?:${TEXTS}|ones?)(?!\\p{L})`,
  '(?<!\\p{L})(?:near(?:er)?|closer to|close to|towards?) the (?:top|bottom|beginning|end|start|front)(?!\\p{L})|(?<!\\p{L})(?:is|are|stands?|comes?|appears?|listed|placed|put) (?:at|on) (?:the )?(?:very )?(?:top|bottom|beginning|end|start|front)(?!\\p{L})|(?<!\\p{L})(?:listed|sorted|ordered|ranked|arranged|given|goes?|run|range)[^.\\n]{0,20} from (?:the )?\\p{L}+ to (?:the )?\\p{L}+',
  `(?<!\\p{L})${WINNING}(?: over)?(?: the| all| any)? ${LATER}(?: ${TEXTS}| ones?)(?!\\p{L})|(?<!\\p{L})${LATER} (?:${TEXTS}|ones?)(?!\\p{L})[^.\\n]{0,60}(?<!\\p{L})${WINNING}(?!\\p{L})`,
  `(?<!\\p{L})(?:priority|precedence|preference) to (?:the )?(?:${LATER} ${TEXTS}|${TEXTS} that)|(?<!\\p{L})(?:trust|prefer|believe|use|follow|take) the (?:last|latter|later|latest|newest|most recent|first|earliest)(?: one| of them)?(?=[.,;!?]|\\s{0,4}$)`,
  `(?<!\\p{L})the (?:later|earlier|further|higher|lower) (?:it|they|an? ${TEXTS}|the ${TEXTS})(?!\\p{L})|(?<!\\p{L})(?:before|after|above|below) the (?:\\p{L}+ ){0,2}one(?!\\p{L})|(?<!\\p{L})further (?:down|up)(?!\\p{L})|(?<!\\p{L})(?:each|every) (?:${TEXTS} )?(?:overrid|supersed|amend|replac|continu|follow|build|extend|updat)\\p{L}* `,
  `(?<!\\p{L})(?:build|follow)s? (?:on |up on |from )?(?:each other|one another|the (?:previous|preceding|last) one)(?!\\p{L})|(?<!\\p{L})(?:form|tell|make up|add up to) (?:a|one)(?: single| continuous| coherent)? (?:story|narrative|text|sequence|report|whole)(?!\\p{L})`,
  // where they stand among themselves, but no sources to list at the end
  `(?<!\\p{L})${TEXTS} (?:at|on|near|towards?|nearer|closer|closest|lower|higher|further) (?:(?:to |the |very ){0,3}(?:top|bottom|beginning|start|end)|down|up) (?:are|is|were|was|have|has|come|count|should|may|must|win|supersede|override|take)(?!\\p{L})`,
  '(?<!\\p{L})in (?:the )?order of (?!relevan|simil|score|importan|match)|in (?:reading|original|document|natural) order(?!\\p{L})|(?<!\\p{L})(?:none|anything|something|those|one|ones|any) (?:above|below) (?:it|them)(?!\\p{L})|(?<!\\p{L})form (?:a|an) (?:queue|series|chain)(?!\\p{L})|(?<!\\p{L})(?:prefer|trust|favou?r|weight to|attention to) (?:the )?(?:earlier|later|first|last|upper|lower) (?:ones?|matche?s?)(?!\\p{L})',
  // what comes in a row by its nature
  '(?<!\\p{L})(?:are|is|were|form)(?: the| all| some| \\p{L}+){0,2} (?:versions|revisions|drafts|editions|chapters|instal?ments|episodes|scenes|stages|steps|turns|snapshots|pages)(?: (?:of|from|in)(?!\\p{L})| \\d)',
  '(?<!\\p{L})(?:one|a single|the same) (?:long )?(?:text|document|book|page|story|report|conversation)(?!\\p{L})[^.\\n]{0,30}(?:cut|split|divided|broken|in (?:pieces|parts|order))(?!\\p{L})|(?:rest|others|following) are (?:amendments|updates|revisions|corrections)|is the original(?!\\p{L})',
  '(?<!\\p{L})(?:least|most|lowest|highest) (?:important|relevant|recent|reliable|trusted|likely|\\p{L}+ )?(?:[^.\\n]{0,20})(?:first|last|to (?:the )?(?:most|least|highest|lowest))(?!\\p{L})|(?<!\\p{L})(?:descending|ascending|decreasing|increasing)(?!\\p{L})(?![^.\\n]{0,20}relevance)',
  // reading that ends early depends on what comes first
  '(?<!\\p{L})(?:stop|halt|quit|cease|finish|end|read|look|search|go)(?: \\p{L}+){0,4} (?:as soon as|once|when|until|at the first)(?!\\p{L})|(?<!\\p{L})as soon as (?:a|an|one|any|you|the)(?!\\p{L})',
  '(?:hör|brich|stopp|lies|lese)\\p{L}*(?: \\p{L}+){0,4},? (?:auf|ab|sobald|wenn|bis)(?!\\p{L})|(?<!\\p{L})(?:sobald|dès qu|jusqu|en cuanto|hasta que|assim que|até que|appena|finché|zodra|totdat|så snart|jakmile|gdy tylko|segera setelah|olur olmaz)',
  'как только|пока не|щойно',
  '一旦|直到|就停止|即停止|看到.{0,8}就|見つけ(?:たら|次第)|わかり次第|まで読|하자마자|찾으면|멈추|بمجرد|حتى تجد|ברגע ש|जैसे ही|ทันทีที่',
  // what is right depends on the place
  '(?:später|neuer|früher|älter|nachfolgend|vorhergehend|letzt|erst|ober|unter)e[nrsm]? (?:\\p{L}+ ){0,2}[^.\\n]{0,50}(?:vorrang|überschreib|ersetz|maßgeblich|gehen vor|geht vor|gewinn|gilt|gelten)|(?:das|dem|die|der) (?:spätere|frühere|letztere|erstere|nachfolgende|vorhergehende|letzte|erste)[nrsm]?(?!\\p{L})|reihenfolge|abfolge|versionen|fassungen|seiten (?:eine[srn]|aus|des)|kapitel|später (?:kommt|steht)|weiter (?:unten|oben)',
  "(?<!\\p{L})(?:l['’]ordre|ordre|séquence|des versions|pages d|chapitres|vient (?:après|plus tard)|plus (?:bas|haut))(?!\\p{L})(?! (?:de|du) pertinence)|(?:document|texte|passage|source|extrait) (?:suivant|précédent|ultérieur|postérieur|antérieur)e?(?!\\p{L})|(?:suivant|précédent|ultérieur|postérieur|antérieur|dernier|premier|plus récent)\\p{L}*(?!\\p{L})[^.\\n]{0,50}(?:remplace|préva|priorité|annule|prime|l['’]emporte)",
  "(?<!\\p{L})(?:el orden|orden de|secuencia|sequência|sequenza|a ordem|ordem d|l['’]ordine|ordine d|versiones|versões|versioni|páginas|pagine|capítulos|capitoli|más (?:abajo|arriba)|viene después|(?:documento|texto|pasaje|fonte|fuente|testo|brano) (?:posterior|anterior|siguiente|seguinte|successiv[oa]|precedente))(?!\\p{L})(?! relevan)|(?:posterior|anterior|siguiente|seguinte|últim|primer|primeir|successiv|precedent|ultim|più recent|más reciente|mais recente)\\p{L}*[^.\\n]{0,50}(?:prevalec|prevalg|reemplaza|sustituye|sostitui|substitu|anula|annulla|prioridad|priorità|prioridade|precedenc|precedenza)",
  '(?<!\\p{L})(?:volgorde|latere|nieuwere|eerdere|laatste|eerste|volgende|senare|nyare|tidigare|sista|senere|nyere|tidligere|siste|sidste)(?!\\p{L})[^.\\n]{0,50}(?:voorrang|vervang|overschrij|prioriteit|företräde|ersätt|forrang|erstatte|overskriv|skriver över|gäller före|belang)|(?<!\\p{L})(?:ordningen|rækkefølgen|rekkefølgen|versies|versioner|versjoner)',
  '(?<!\\p{L})(?:последнему|последний|первому|позднему|более поздн\\p{L}+)(?=[.,;!]|$| из)|(?<!\\p{L})(?:порядок|порядке|очередност|верси[йия]|страниц|глав[ыа]|следу(?:ет|ют) друг за другом|порядк)|(?:поздн|последующ|предыдущ|нов(?:ы|ее)|последн|перв|ранн|пізн|наступн|останн)\\p{L}*(?!\\p{L})[^.\\n]{0,50}(?:приоритет|пріоритет|заменя|замінює|отменя|важнее|преоблада|переважа)',
  '(?<!\\p{L})(?:kolejność|kolejności|pořadí|sırası|sıralama|urutan|järjestys|sorrend|ordinea|wersj|verze)|(?:późniejsz|nowsz|wcześniejsz|ostatni|następn|sonraki|daha yeni|önceki)\\p{L}*[^.\\n]{0,50}(?:pierwszeństw|zastępuj|nadpisuj|priorytet|geçersiz kıl|önceli|yerine geçer|üzerine yaz)',
  'thứ tự|ngay khi|(?:sau|mới hơn|trước|cuối)(?!\\p{L})[^.\\n]{0,50}(?:được ưu tiên|thay thế|ghi đè)',
  '[顺順]序|次序|排名|版本|[页頁]|章[节節]|(?:后面|後面|靠[后後]|[较較][新晚早]|最新|前面|靠前|最[后後]|先前|[后後]出[现現])[^。\\n]{0,20}(?:[优優]先|[为為]准|覆[盖蓋]|取代)|順序|並び|(?:後|前|最後|最初|次)の(?:文書|資料|ドキュメント|テキスト|もの)|(?:後の|新しい|最後の|前の|最新の|あとの|下の|上の)[^。\\n]{0,20}(?:優先|上書き|置き換え)|순서|차례|(?:나중|이후|뒤|앞|최신|마지막)[^.\\n]{0,20}(?:우선|덮어|대체)',
  '(?:ترتيب|تسلسل)(?!\\p{L})|σειρά|सही क्रम|क्रम(?!\\p{L})|ลำดับ|סדר ה|(?:اللاحق|الأحدث|السابق|الأخير)\\p{L}*[^.\\n]{0,50}(?:الأولوية|يلغي|تلغي|يحل محل|تحل محل)|बाद (?:के|वाले)[^।\\n]{0,50}(?:प्राथमिकता|बदल|स्थान लेत)',
])

// values listed for texts that are named by their places
const IN_TURN = new WordPattern(
  /(?<!\p{L})(?:respectively|in turn(?! \d)|in that order|jeweils|der reihe nach|respectivement|tour à tour|respectivamente|rispettivamente|respectievelijk|respektive|odpowiednio|sırasıyla|соответственно|відповідно|lần lượt|masing-masing)(?!\p{L})|依次|分[别別](?:是|为|為)|それぞれ|각각|على التوالي|בהתאמה|क्रमशः|ตามลำดับ|αντίστοιχα/u,
)
// a relevance that a search engine found is no order of the texts' own
const RELEVANCE = new WordPattern(
  /(?<!\p{L})(?:by|of|in|nach|der|par|de|por|per|di|по|w|efter|av)(?: \p{L}+){0,3} (?:relevan|relévan|rilevan|pertinen|similar|simil|ähnlich|score|релевант|trafn)|[相関關关][关關連连性似]|관련/u,
)

// an order in what somebody says about what is in sight; rules for a model speak of its steps like this
const IN_THIS_ORDER = new WordPattern(
  /(?<!\p{L})in (?:(?:this|that|the (?:given|same|above|listed|following|right|correct|original|stated)) order(?!\p{L})|the order (?:given|listed|shown|above|in which|they|of the)|order(?!\p{L}| to | of relevance| that | for ))/u,
)

/** Whether a lower-case sentence gives the places of texts a meaning. In rules for a model, only if it is about texts. */
export function isAboutOrder(sentence: string, isRule: boolean): boolean {
  if (IN_TURN.test(sentence) && (!isRule || refersToTexts(sentence))) return true
  if (RELEVANCE.test(sentence)) return false
  if (isRule)
    return refersToTexts(sentence) && (ORDERED.test(sentence) || (mentionsTexts(sentence) && OF_TEXTS.test(sentence)))
  return ORDERED.test(sentence) || IN_THIS_ORDER.test(sentence) || (refersToTexts(sentence) && OF_TEXTS.test(sentence))
}

// what comes in a row by its nature, or an order that says nothing else: `Waiting list:`, `Oldest entry first:`
const IN_A_ROW =
  'time-?line|agenda|itinerary|steps|procedure|thread|leader ?board|ranking|queue|waiting list|(?:chat|conversation|message) history|stack trace(?: frames)?|schedule|play ?list'
const HEADING = anyOf([
  `(?:first|on top|last|${IN_A_ROW})[^\\p{L}\\d]{0,4}$`,
  '(?:sortiert|geordnet) nach|nach \\p{L}+ (?:sortiert|geordnet)|tri[ée]+s? par|classée?s par|ordenad[oa]s por|ordinat[ie] per',
  'отсортирован|упорядочен|[按依以][^。]{1,12}排[序列]|順[^\\p{L}\\d]{0,4}$',
])

// `Best matches first:`, `Use these documents first:`
const NO_ORDER = new WordPattern(
  /relevan|relévan|rilevan|pertinen|simil|ähnlich|score|match|confidence|(?<!\p{L})best(?!\p{L})|匹配|[类類]似|相似|相[关關]|[関關]連|^[^\p{L}]*(?:please )?(?:use|read|consider|see|check|study)(?!\p{L})/u,
)

/** Whether a lower-case line right above texts gives their places a meaning. */
export function isHeadOfOrder(words: string): boolean {
  return !NO_ORDER.test(words) && (ORDERED.test(words) || OF_TEXTS.test(words) || HEADING.test(words))
}

// roles that texts have by their places: the older and the newer one, premise and hypothesis
type Pair = readonly [WordPattern, WordPattern]

// the members of a pair, each in many languages: who speaks of both, speaks of two texts by their roles
const APART = pair(
  /premise|prämisse|prémisse|premis|посылк|пересил|前提|전제/u,
  /hypothes|hypothèse|hipótesis|hipótese|ipotesi|hipotez|hypotéz|гипотез|假[设設]|仮説|가설/u,
)
const BEFORE_AFTER = pair(
  /(?<!\p{L})(?:before|vorher|zuvor|avant|antes|prima|voor|före|før|przed|öncesi|до|trước|sebelum)(?!\p{L})|之前|以前|変更前|이전/u,
  /(?<!\p{L})(?:after|nachher|danach|après|después|depois|dopo|na|efter|etter|po|sonrası|после|sau|sesudah)(?!\p{L})|之[后後]|以[后後]|変更後|이후/u,
)
const PAIRS: readonly Pair[] = [
  pair(
    /(?<!\p{L})(?:added|adds|additions?|inserted|new(?:er)?)(?!\p{L})|hinzugefügt|neu hinzu|hinzugekommen|ajouté|añadi|agrega|adiciona|acrescent|aggiunt|toegevoegd|tillagt|tilføjet|lagt til|lagts till|doda(?:no|ne)|přidá|eklen|добавл|додан|thêm|ditambah|新增|增加|添加|追加|추가|أضيف|נוסף|जोड़ा/u,
    /(?<!\p{L})(?:removed|removes|removals?|deleted|deletions?|dropped|old(?:er)?)(?!\p{L})|entfernt|gestrichen|weggefallen|entfallen|supprimé|retiré|enlevé|elimina|quitad|suprimid|removid|retirad|rimoss|tolto|verwijderd|borttag|tagits bort|fjernet|usuni|odstran|kaldırıl|çıkarıl|silin|удал|убра|исключ|вилуч|xoá|xóa|bỏ|dihapus|删除|刪除|移除|去掉|减少|削除|삭제|حذف|הוסר|हटाया/u,
  ),
  pair(
    /(?<!\p{L})(?:original|source text|draft|reference|gold|ground truth|ursprünglich\p{L}*|originaux|originale?s?|оригинал\p{L}*)(?!\p{L})|原文|원문/u,
    /(?<!\p{L})(?:translation|translated|revised|revision|rewritten|edited|candidate|prediction|generated|paraphrased?|summary|übersetzung|überarbeitet\p{L}*|traduction|révisée?|traducción|revisad[ao]|traduzione|перевод\p{L}*)(?!\p{L})|译文|譯文|翻訳|번역/u,
  ),
  pair(
    /(?<!\p{L})(?:text|document|passage|version|answer|response|dokument|texte|documento|testo|документ|текст) a(?!\p{L})/u,
    /(?<!\p{L})(?:text|document|passage|version|answer|response|dokument|texte|documento|testo|документ|текст) b(?!\p{L})/u,
  ),
]

// what became of one text in another
const CHANGE = new WordPattern(
  /(?<!\p{L})(?:(?:what|which|how|anything|something)(?: \p{L}+){0,4} (?:chang(?:ed?|es)|new|updated)|changes? (?:between|from|made|in)|changelog|diff|evol(?:ve|ved|ution))(?!\p{L})|(?<!\p{L})(?:was (?:hat )?sich|was wurde)(?: \p{L}+){0,4} (?:geändert|verändert)|änderungen|qu['’]est-ce qui a changé|ce qui (?:a|ont) changé|qué (?:ha )?cambi|o que mudou|cosa è cambiat|что (?:изменилось|поменялось)|变化|變化|改变|变更|変更|変わ|달라|변경/u,
)

/** Texts of which two are held against each other, which names them by place. */
export const COMPARING: WordPattern = new WordPattern(
  /(?<!\p{L})(?:compar\p{L}+|contrast\p{L}*|contradict\p{L}*|entail\p{L}*|agree\p{L}*|conflict\p{L}*|paraphras\p{L}+|plagiar\p{L}+|duplicat\p{L}+|identical|the same|differ\p{L}*|in common|both|either|neither|versus|vs|better|vergleich\p{L}*|unters?cheid\p{L}*|unterschied\p{L}*|widersprech\p{L}*|identisch|gleich|différen\p{L}*|même|contredi\p{L}*|diferen\p{L}*|mism[oa]s?|mesm[oa]s?|confront\p{L}+|differenz\p{L}*|stess[oi]|vergelijk\p{L}*|verschil\p{L}*|jämför\p{L}*|skillnad\p{L}*|sammenlign\p{L}*|forskel\p{L}*|porówna\p{L}*|różni\p{L}*|porovn\p{L}*|karşılaştır\p{L}*|сравн\p{L}*|отлич\p{L}*|разниц\p{L}*|порівня\p{L}*|so sánh|khác|bandingkan|perbedaan)(?!\p{L})|比[较較]|[区區][别別]|不同|相同|矛盾|比べ|比較|違い|同じ|비교|차이|같은|قارن|الفرق|השווה|הבדל|तुलना|अंतर|เปรียบเทียบ|ต่างกัน/u,
)
// texts that are the subject themselves: nothing of them may be left out
const SUBJECT = new WordPattern(
  /(?<!\p{L})(?:compar\p{L}+|contrast|diff|quot(?:e|es|ing|ations?)|verbatim|word for word|literally|count|how often|how frequently|how many (?:words?|times|characters?|letters?|sentences?|lines?|paragraphs?|occurrences?|documents?|passages?|sources?|clauses?)|word count|copy|repeat(?:ed|s)?|identical|differ(?:s|ent|ences?)?|unique|(?:most|least) (?:often|frequent(?:ly)?|common)|duplicat\p{L}*|plagiar\p{L}+|overlap\p{L}*|in common|wörtlich|zähl\p{L}*|wie viele (?:wörter|dokumente)|wie oft|vergleich\p{L}*|mot à mot|compte[zr]?|combien de (?:mots|documents|fois)|textualmente|cuent[ae]|cuántas (?:palabras|veces)|quantas vezes|quante volte|conta|quante parole|quantas palavras|дословно|сосчитай|сколько (?:слов|документов|раз)|сравн\p{L}*)(?!\p{L})|逐字|原文引用|多少[个個]?[字词]|比[较較]|引用して|何文字|何回|多少次|几次|몇 번|数え|비교|글자 수/u,
)

/** in a request as short as this, what is compared or counted is the texts in sight */
const LONGEST_REQUEST = 80

function pair(one: RegExp, other: RegExp): Pair {
  return [new WordPattern(one), new WordPattern(other)]
}

/** Whether lower-case words name premise and hypothesis, which may stand in different sentences. */
export function namesRolesApart(words: string): boolean {
  return isBoth(APART, words)
}

/** Whether a lower-case sentence names the roles that texts have by their places. */
export function namesRoles(sentence: string): boolean {
  return (isBoth(BEFORE_AFTER, sentence) && refersToTexts(sentence)) || PAIRS.some((own) => isBoth(own, sentence))
}

function isBoth([one, other]: Pair, words: string): boolean {
  return one.test(words) && other.test(words)
}

/** Whether a lower-case sentence asks for a change from text to text. */
export function isOfChange(sentence: string): boolean {
  return CHANGE.test(sentence) && refersToTexts(sentence)
}

/** Whether nothing of the texts may be left out: they are compared, quoted or counted. */
export function isOfSubject(sentence: string, isRule: boolean): boolean {
  return SUBJECT.test(sentence) && (mentionsTexts(sentence) || (!isRule && sentence.length < LONGEST_REQUEST))
}
