import { findEachOne } from './place-words.ts'
import { TASK_WORDS } from './task-words.ts'
import { holdsWords, toWordPatterns } from './word-patterns.ts'

/* Words about the order of a list's texts: it is by time or precedence, or the answer must follow it. */

const TEXTS =
  '(?:documents?|docs?|sources?|passages?|contexts?|chunks?|files?|results?|snippets?|excerpts?|articles?|texts?|items?|entry|entries|memory|memories|notes?|records?|versions?|amendments?|ones?)'

// words for time order that are used only of texts
const BY_TIME = [
  '(?<!\\p{L})chronological(?:ly)?(?!\\p{L})|(?<!\\p{L})in (?:time|date|temporal) order(?!\\p{L})',
  '(?<!\\p{L})(?:sorted|ordered|arranged|listed|given) (?:by|from) (?:date|time|age|oldest|newest|latest|most recent|earliest)(?!\\p{L})',
  '(?<!\\p{L})(?:oldest|newest|latest|earliest|most recent)(?: (?:to|through) (?:newest|oldest|latest|earliest|most recent)| (?:ones? |documents? |entries |messages? |results? )?(?:is |are )?(?:come |comes |listed )?(?:first|last|on top|at the (?:top|bottom|end|beginning|start)))(?!\\p{L})',
  'chronologisch|zeitlich(?:er|en)? (?:geordnet|sortiert|reihenfolge|abfolge)|nach (?:datum|zeit) (?:geordnet|sortiert)|(?:älteste|neueste|jüngste)[nrs]? (?:zuerst|zuletzt)',
  'ordre chronologique|chronologiquement|(?:triés?|classés?|rangés?) par date|du plus (?:ancien|récent) au plus (?:récent|ancien)',
  'orden cronológico|cronológicamente|(?:ordenad[oa]s|clasificad[oa]s) por fecha|del? más (?:antiguo|reciente) al? más (?:reciente|antiguo)',
  '(?:按|依)照?(?:发布|发生)?(?:时间|日期|先后)(?:的)?(?:先后)?(?:顺序|次序|排序|排列|升序|降序)|时间顺序|先后顺序|(?:由|从)(?:旧|新|早|晚|远|近)(?:到|至)(?:新|旧|晚|早|近|远)',
  '時系列|時間順|日付順|年代順|(?:古|新し)い(?:もの)?(?:から)?順',
  // rows of Latin letters stand apart, since the others are tried only where a text has such letters
  'chronologick|chronologiczn|cronol[oó]gic|kronologisk|kronologik|kronologis(?!\\p{L})|aikajärjestyk|időrend',
  'vom ältesten zum neuesten|vom neuesten zum ältesten|von (?:alt nach neu|neu nach alt)|do mais (?:antigo|recente) (?:ao|para o) mais|dal più (?:vecchio|recente) al più|van (?:oud naar nieuw|nieuw naar oud)|från (?:äldst|nyast) till|fra (?:ældst|eldst|nyest) til|od (?:najstarsz|najnowsz|nejstarší|nejnovější)|de la cel mai (?:vechi|nou)|vanhimmasta|uusimmasta|legrégebbitől|legújabbtól|eskiden yeniye|yeniden eskiye|dari yang (?:terlama|terbaru)',
  'theo (?:thứ tự )?thời gian|từ (?:cũ|mới)(?: nhất)? đến',
  'хронологическ|хронологічн|от (?:старых|новых|старого|нового) к|від (?:найстаріш|найновіш)|χρονολογικ|από το(?:ν)? (?:παλαιότερο|νεότερο|παλιότερο)',
  'من (?:الأقدم|الأحدث) إلى|ترتيب(?:ا|ًا)? زمني|מהישן (?:לחדש|ביותר)|מהחדש לישן|סדר כרונולוגי|पुराने से नए|नए से पुराने|कालानुक्रम|समय के क्रम|เรียงตาม(?:ลำดับ)?เวลา|เก่า(?:ที่สุด)?ไป|시간\\s?순|연대순|날짜\\s?순|최신\\s?순',
]

const LATER =
  '(?:later|latter|subsequent|newer|newest|latest|more recent|most recent|earlier|earliest|older|oldest|preceding|previous|first|last|lower|higher|bottom|top)'
const WINNING =
  '(?:wins?|overrid\\p{L}*|overrules?|supersed\\p{L}*|takes? (?:precedence|priority)|ha(?:s|ve) (?:precedence|priority)|prevails?|trumps?|outranks?|amends?|replaces?|counts? more|is (?:right|correct|authoritative)|are (?:right|correct|authoritative))'
// which of two texts is right, by position
const BY_PLACE = [
  `(?<!\\p{L})${LATER} ${TEXTS}(?!\\p{L})[^.\\n]{0,60}(?<!\\p{L})${WINNING}(?!\\p{L})`,
  `(?<!\\p{L})(?:the )?${LATER}(?: one)? ${WINNING}(?!\\p{L})`,
  `(?<!\\p{L})${WINNING}(?: over)?(?: the| all| any)? ${LATER} ${TEXTS}(?!\\p{L})`,
  `(?<!\\p{L})${TEXTS} (?:that (?:appear|come|stand)s? )?(?:further (?:down|up)|lower|higher|earlier|later|below|at the (?:top|bottom|end))(?! (?:than|to))(?!\\p{L})[^.\\n]{0,40}${WINNING}(?!\\p{L})`,
  `(?<!\\p{L})(?:priority|precedence|preference) to (?:the )?(?:${LATER} ${TEXTS}|${TEXTS} that (?:appear|come|stand)s? (?:first|last|earlier|later))(?!\\p{L})`,
  `(?<!\\p{L})(?:trust|prefer|believe|use|follow) the (?:last|latter|later|latest|newest|most recent|first|earliest)(?: one| of them)?(?=[.,;!?]|\\s{0,4}$)`,
  `(?<!\\p{L})(?:each|every) ${TEXTS}(?!\\p{L})[^.\\n]{0,24}(?:overrid|supersed|amend|replac|continu|follow|build)\\p{L}* (?:on )?(?:the|those|its|all|any) `,
  `(?<!\\p{L})${TEXTS}(?!\\p{L})[^.\\n]{0,24}(?:build|follow)s? (?:on |up on )?(?:each other|one another)`,
  `(?<!\\p{L})${TEXTS}(?!\\p{L})[^.\\n]{0,24}(?:form|tell|make up) (?:a|one) (?:single |continuous |coherent )?(?:story|narrative|text|sequence|report)`,
  `(?<!\\p{L})(?:least|most) (?:important|relevant|recent|reliable|trusted) (?:${TEXTS} )?(?:is |are |come |comes |listed |placed )?(?:first|last)(?!\\p{L})`,
  '(?<!\\p{L})from (?:the )?(?:least|most|lowest|highest) (?:\\p{L}+ ){0,2}to (?:the )?(?:most|least|highest|lowest)',
  '(?<!\\p{L})(?:in )?(?:descending|ascending|decreasing|increasing) (?:order of )?(?:priority|precedence|importance|authority|age|date)(?!\\p{L})|(?<!\\p{L})each (?:overriding|replacing|superseding|amending) (?:those|the ones?|all|any) (?:above|below|before|after)(?!\\p{L})|(?<!\\p{L})(?:one|a single) (?:long )?(?:text|document)(?!\\p{L})[^.\\n]{0,30}(?:cut|split|divided|broken|in (?:pieces|parts))(?!\\p{L})|(?<!\\p{L})(?:sequence|order|chronology) of (?:the )?events(?!\\p{L})',
  `(?<!\\p{L})(?:${TEXTS}|they|these)(?!\\p{L})[^.\\n]{0,40}(?:sorted|ordered|ranked|arranged|listed|given) (?:by|in order of|in the order of|according to) (?!(?:their |the )?(?:relevan|simil|score|rank|how|match|match|vector|distance))`,
  `(?<!\\p{L})(?:${TEXTS})(?!\\p{L})[^.\\n]{0,40}(?:in sequence|in succession|sequentially|consecutively)(?!\\p{L})`,
  '(?<!\\p{L})the first (?:one |document |text )?is the original(?!\\p{L})|(?:rest|others|following) are (?:amendments|updates|revisions|corrections)',
  '(?:später|neuer|früher|älter|nachfolgend|vorhergehend|letzt|erst|ober|unter)e[nrsm]? (?:\\p{L}+ ){0,2}[^.\\n]{0,50}(?:vorrang|überschreib|ersetz|maßgeblich|gehen vor|geht vor|gewinn)',
  "(?:suivant|précédent|ultérieur|postérieur|antérieur|dernier|premier|plus récent)\\p{L}*(?!\\p{L})[^.\\n]{0,50}(?:remplace|prévau|prévalen|prévale|ont priorité|a priorité|la priorité|annule|priment|prime sur|l['’]emporte)",
  '(?:posterior|anterior|siguiente|seguinte|últim|primer|primeir|más reciente|mais recente)\\p{L}*[^.\\n]{0,50}(?:prevalec|reemplaza|sustituye|substitu|anula|tienen? prioridad|têm prioridade|tem prioridade|precedenc)',
  '(?:successiv|precedent|ultim|prim|più recent)[oaie]?(?!\\p{L})[^.\\n]{0,50}(?:prevalg|preval|sostitui|(?:la |hanno |ha )priorità|precedenza|annulla)',
  '(?:latere|nieuwere|eerdere|laatste|eerste|volgende)(?!\\p{L})[^.\\n]{0,50}(?:voorrang|vervang|overschrij|prioriteit)',
  '(?:senare|nyare|tidigare|sista|senere|nyere|tidligere|siste|sidste)(?!\\p{L})[^.\\n]{0,50}(?:företräde|ersätt|forrang|erstatte|overskriv|skriver över|gäller före)',
  '(?:поздн|последующ|предыдущ|нов(?:ы|ее)|последн|перв|ранн|пізн|наступн|останн)\\p{L}*(?!\\p{L})[^.\\n]{0,50}(?:приоритет|пріоритет|заменя|замінює|отменя|важнее|преоблада|переважа)',
  '(?:późniejsz|nowsz|wcześniejsz|ostatni|kolejn|następn)\\p{L}*[^.\\n]{0,50}(?:pierwszeństw|zastępuj|nadpisuj|priorytet)',
  '(?:sonraki|daha yeni|önceki|son)(?!\\p{L})[^.\\n]{0,50}(?:geçersiz kıl|önceli|yerine geçer|üzerine yaz)',
  '(?:后面|後面|靠[后後]|[较較][新晚早]|最新|前面|靠前|最[后後]|先前|[后後]出[现現])[^。\\n]{0,20}(?:[优優]先|[为為]准|覆[盖蓋]|取代)|以[^。\\n]{0,12}(?:[后後新]|(?<![当當目])前)[^。\\n]{0,8}[为為]准',
  '(?:後の|新しい|最後の|前の|最新の|あとの|下の|上の)[^。\\n]{0,20}(?:優先|上書き|置き換え)',
  '(?:나중|이후|뒤|앞|최신|마지막)[^.\\n]{0,20}(?:우선|덮어|대체)',
  '(?:اللاحق|الأحدث|السابق|الأخير)\\p{L}*[^.\\n]{0,50}(?:الأولوية|يلغي|تلغي|يحل محل|تحل محل)',
  '(?:sau|mới hơn|trước|cuối)(?!\\p{L})[^.\\n]{0,50}(?:được ưu tiên|thay thế|ghi đè)',
  'बाद (?:के|वाले)[^।\\n]{0,50}(?:प्राथमिकता|बदल|स्थान लेत)',
]
const systematic = toWordPatterns([...BY_TIME, ...BY_PLACE], 'u')

const VERBS =
  '(?:score|rate|translate|summari[sz]e|classify|label|judge|grade|rewrite|describe|explain|evaluate|review|paraphrase|annotate|tag|number|proofread)'
const DATA = '(?:json|csv|xml|yaml|sql|table|spreadsheet)'
const ALL = '(?:(?:the|these|those|all|of|my|both|following|given|above|provided|retrieved) ){0,4}'
// what the model must state in its own words
const INTO_ONE =
  ' (?:together )?(?:in)?to (?:a|an|one|your|the) (?:\\p{L}+ ){0,3}(?:answers?|response|reply|summary|explanation)'
// `who finished first` asks about an event that the texts describe
const RACING =
  '(?:finish(?:ed|es)|wins?|won|arrive[ds]?|died|scored?|land(?:ed|s)|reach(?:ed|es)|discovered|invented|climbed|flew)'
// output that is one per text, such as a table, or depends on time
const aligned = toWordPatterns(
  [
    `(?<!\\p{L})(?:for|${VERBS}|about|of|per) (?:each|every)(?: of the)? ${TEXTS}(?!\\p{L})`,
    `(?<!\\p{L})(?:${VERBS}|for) (?:each|every|all of them|them all|them each)(?: one)?(?=[.,;!?\\n]|$| (?:separately|individually|in turn|one by one))`,
    `(?<!\\p{L})combine (?!of )(?:${ALL}(?:documents?|docs?|files?|texts?|passages?|chunks?|items?|entries|records?|versions?)|them)(?!\\p{L})(?!${INTO_ONE})`,
    `(?<!\\p{L})(?:translate|merge|concatenate|join|stitch|proofread|rank|re-?rank|sort|order|reorder|re-order|rearrange|convert|classify|label|number) (?!of )(?:${ALL}(?:search )?${TEXTS}|them)(?!\\p{L})(?!${INTO_ONE})`,
    `(?<!\\p{L})(?:convert|transform|reformat|turn|export|parse)(?!\\p{L})[^.\\n]{0,60}(?<!\\p{L})${DATA}(?!\\p{L})`,
    '(?<!\\p{L})in (?:alphabetical|reverse) order(?!\\p{L})',
    '(?<!\\p{L})(?:line by line|one by one|document by document|one after (?:the other|another))(?!\\p{L})',
    `(?<!\\p{L})(?:one|an?)(?: \\p{L}+){0,2} (?:per|for each|for every) ${TEXTS}(?!\\p{L})`,
    `(?<!\\p{L})(?:page by page|step by step through)(?!\\p{L})|(?<!\\p{L})who (?!${RACING} )\\p{L}+ (?:first|last)(?!\\p{L})`,
    `(?<!\\p{L})(?:walk|go|run|work)(?: me| us)? through (?:the ${TEXTS}|these|all|them|each)(?!\\p{L})`,
    // a question about one text concerns its parts in order
    '(?<!\\p{L})summari[sz]e (?:the|this) (?:whole |entire |full )?(?:text|video|talk|story|book|novel|chapter|lecture|meeting|conversation|transcript|episode|speech|interview)(?!\\p{L})|(?<!\\p{L})(?:continue|go on with) (?:the|this) (?:summary|story|text)(?!\\p{L})',
    '(?<!\\p{L})(?:comma[- ]separated|separated by commas|(?:label|score|line|number|answer)s? per line)(?!\\p{L})|(?<!\\p{L})(?:to|of) each(?=[.,;!?\\n]|$)',
    `(?<!\\p{L})how does (?:the|this) (?:text|story|document) (?:go on|continue|end)(?!\\p{L})`,
    // in a list of news, the order shows what is new
    `(?<!\\p{L})(?:latest|newest|most recent) (?:news|headlines?|posts?|articles?|documents?|entry|entries|items?|stories|updates?|messages?|tweets?|events?|one)(?!\\p{L})|(?<!\\p{L})what(?:['’]s| is) (?:new|trending)(?!\\p{L})`,
  ],
  'gu',
)
const tasks = toWordPatterns(TASK_WORDS, 'gu')
const ORDERED =
  /(?<!\p{L})in (?:(?:this|that|the (?:given|same|above|listed|following|right|correct|original|stated)) order(?!\p{L})|the order (?:given|listed|shown|above|in which|they|of the)|order(?!\p{L}| to | of relevance| that | for ))|in (?:dieser|derselben|der (?:gegebenen|angegebenen|gleichen|richtigen)) reihenfolge|dans (?:cet ordre|le même ordre|l['’]ordre (?:donné|indiqué))|en (?:este|el mismo) orden|按顺序|(?:按照?|以)(?:上述|以上|下列|给定|原来?)的?顺序|(?:相同|同样)的?顺序|この順(?:番|序)|順番(?:に|通り)|同じ順/u

// instructions on naming sources, in sentences that mention each of them
const OF_SOURCES =
  /\b(?:cit|quot|zit|referenc|you use|attribut)|\b(?:prefix\w*|label\w*|begin\w*|start\w*|headed|titled|called|named)(?: with| by)? ["'`*]{0,2}(?:sources?|references)\b|引用|标注|ссыл|цит|인용|出典|alıntı|kaynak göster|استشه|trích|उद्धृ/iu

const RESPECTIVE = new RegExp(`(?:they|their|them|these|${TEXTS})(?!\\p{L})[^.\\n?]{0,80}(?<!\\p{L})respectively`, 'u')

const LONGEST_END = 10_000
const LONGEST_SENTENCE = 300
const MOST_MATCHES = 50

/**
 * Returns whether a text says that something is in time order, or that position decides which of two texts is right.
 */
export function saysInOrder(text: string): boolean {
  return holdsWords(systematic, readEnds(text).toLowerCase())
}

/** Returns whether a text asks for something in the order of its texts: one for each, or all in turn. */
export function asksInOrder(text: string): boolean {
  const words = readEnds(text).toLowerCase()
  if (ORDERED.test(words) || (words.includes('respectively') && RESPECTIVE.test(words))) return true
  if (isSaid(words, placesOf(words.matchAll(aligned.latin))) || isSaid(words, findEachOne(words))) return true
  return isSaid(words, placesOf(words.matchAll(tasks.latin))) || isSaid(words, placesOf(words.matchAll(tasks.others)))
}

function* placesOf(matches: Iterable<RegExpMatchArray>): Generator<number> {
  for (const { index = 0 } of matches) yield index
}

/** Returns whether one of these places is in a sentence other than an instruction on naming sources. */
function isSaid(text: string, places: Iterable<number>): boolean {
  let count = 0
  for (const index of places) {
    if (++count > MOST_MATCHES) return false
    const front = text.slice(Math.max(index - LONGEST_SENTENCE, 0), index)
    const behind = text.slice(index, index + LONGEST_SENTENCE)
    const sentence = front.slice(front.search(/[^.!?。\n]*$/)) + behind.slice(0, /[.!?。\n]|$/.exec(behind)!.index)
    if (!OF_SOURCES.test(sentence)) return true
  }
  return false
}

/** Returns the two ends of a text, because a question comes before or after what it is about. */
export function readEnds(text: string): string {
  return text.length <= 2 * LONGEST_END ? text : `${text.slice(0, LONGEST_END)}\n${text.slice(-LONGEST_END)}`
}
