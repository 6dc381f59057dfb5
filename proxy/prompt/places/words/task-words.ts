import { WordPattern } from '../../scan/words/word-pattern.ts'
import { EACH_ONE } from './place-words.ts'
import { anyOf, mentionsTexts, TEXTS } from './text-words.ts'

/*
 * Tasks whose answer follows the order of the texts, without a word for a text: repeating them (`Proofread.`,
 * `Übersetze ins Englische.`), ranking them, or naming one by position (`the third?`, `swap 1 and 2`).
 */

// the beginning of a sentence or a request; not part of the match, because its sentence is judged
const BEGIN =
  '(?<=(?:^|[.!?:;\\n*>-]\\s{0,3})(?:please,? |now,? |then,? |first,? |and )?|(?:please|bitte|and then|can you|could you) )'
const VERBS =
  '(?:translate|proofread|spell-?check|copy|repeat|retype|rewrite|rephrase|paraphrase|reformat|format|renumber|rank|re-?rank|sort|order|reorder|rearrange|shuffle|swap|fix|correct|transcribe|redact|render|convert)'
const OBJECT =
  '(?:(?:all|both) )?(?:of )?(?:the|these|this|those|them|my|everything|it all|all|each|above|following|(?:in)?to \\p{L}+|typos|spelling|grammar|verbatim|\\d{1,2} and \\d{1,2})(?!\\p{L})'
// the answer is the model's own, and the question is a single text
const OWN =
  "(?! (?:the |your |my |this |its |any |user(?:['’]s)? ){0,3}(?:final |own |original )?(?:answers?|responses?|repl(?:y|ies)|questions?|query|queries|output|citations?|problem|issue|bug)(?!\\p{L}))"

const ENGLISH = [
  `${BEGIN}${VERBS}${OWN}(?: ${OBJECT}|(?=[ \\t]*[.!]?[ \\t]*(?:\\n|$)))`,
  '(?<!\\p{L})(?:first|second|third|fourth|fifth|last|next|top) (?:link|hit|row|column|url)(?!\\p{L})|(?<!\\p{L})top (?:two|three|four|five)(?!\\p{L})(?! (?:reasons|priorities|tips|things))',
  '(?<!\\p{L})(?:which|who|what)(?: (?:one|of \\p{L}+))? (?:comes|shows? up|follows?|plays?|speaks?|stands?|ranks?)(?: \\p{L}+)? (?:first|last|next|second|third|before|after|on top)(?!\\p{L})',
  '(?<!\\p{L})(?:one on top|on place \\d|to position \\d|is at the top|not on top|from one to the next|array of (?:labels|summaries|scores|titles))(?!\\p{L})|(?<!\\p{L})(?:one|a|two) (?:sentence|line|paragraph|bullet|word|summary)s? each(?!\\p{L})',
  '(?<!\\p{L})(?:is|does|about|with|open|explain|read|show|skip|after|before|than) the (?:first|second|third|fourth|fifth|last|next)(?= (?:about|say|says|said|mean|link|hit|and)(?!\\p{L})|[ \\t]{0,2}(?:[?.!]|\\n|$))',
  '(?<!\\p{L})(?:add|write|insert|append) (?:a|another|the) (?:next|third|fourth|fifth|sixth) one(?!\\p{L})|(?<!\\p{L})(?:better|right|correct|wrong) (?:order|ranking) (?:for|of) (?:these|them|the)(?!\\p{L})|(?<!\\p{L})is the (?:ranking|order|order of these) (?:right|correct|wrong|good)(?!\\p{L})',
  // continuing or transforming a single text
  `${BEGIN}(?:turn|make|convert|adapt|edit|revise|improve|tighten|polish|shorten|condense|expand|extend|merge|combine|join|finish|complete|continue|grade|mark|cut) (?:this|these|those|it|them|all of (?:it|them|this)|everything|my|our|each|every|the (?:whole|text|story|poem|draft|essay|letter|article|piece|last|first|second|third|next|two|three))(?!\\p{L})`,
  `(?<!\\p{L})(?:write|add|draft|suggest|invent|give)(?: \\p{L}+){0,4} (?:ending|sequel|continuation|epilogue|prologue|title|next (?:chapter|scene|verse|line|paragraph|part|step|entry|episode)|(?:last|final|closing|opening|first) (?:chapter|scene|verse|line|paragraph|part|sentence))(?!\\p{L})`,
  // parts of one text, candidates to compare, data to inspect as data, instructions to obey in turn
  '(?<!\\p{L})(?:each|every) (?:line|verse|stanza|row|sentence|paragraph|slide|chapter|letter|step|scene|comment|essay|draft|post|entry|turn)(?!\\p{L})|(?<!\\p{L})top to bottom(?!\\p{L})',
  '(?<!\\p{L})(?:which|what) (?:one|of \\p{L}+(?: two| three)?|answer|response|version|draft|output|translation|summary|candidate|completion) (?:(?:is|are|was|reads|sounds|looks) (?:the )?(?:better|best|worse|worst|most|least|strongest|weakest|clearest)|do you (?:prefer|like)|should i)(?!\\p{L})',
]

// requests in other languages to repeat texts, but not the answer
const OTHER_ANSWER =
  '(?! (?:die |deine |ihre |seine )?antwort| (?:ta |la |votre )?réponse| (?:tu |la |su )?respuesta| (?:la |tua )?risposta| (?:a |sua )?resposta)'
const OTHERS = [
  `${BEGIN}(?:übersetz\\p{L}{0,3}|korrigier\\p{L}{0,3}|sortier\\p{L}{0,3}|ordne|formatier\\p{L}{0,3}|formulier\\p{L}{0,3}|traduis(?:ez)?|corrige[zr]?|reformule[zr]?|class(?:e|ez)(?:-les)?|trie[zr]?(?:-les)?|recopie[zr]?|traduce|traduzca|orden[ae](?:l[oa]s)?|ordénal[oa]s|reescrib[ae]|copi[ae]|traduci|traducete|corregg[ie]|riscriv[ie]|traduza|corrija|reescreva)(?!\\p{L})${OTHER_ANSWER}`,
  '(?<!\\p{L})(?:was steht|fasse|erklär\\p{L}{0,2}|öffne|zeig\\p{L}{0,2})(?!\\p{L})[^.\\n?]{0,20}(?<!\\p{L})(?:erste|zweite|dritte|vierte|letzte|nächste|oberste)[nrsm]?(?!\\p{L})|(?<!\\p{L})was (?:kommt|folgt|ist) (?:nach|vor|als nächstes)(?!\\p{L})',
  '(?<!\\p{L})(?:le|la|les|ouvre|ouvrez)(?: le| la)? (?:deux |trois )?(?:premi|deuxi|second|troisi|derni)\\p{L}*(?: lien| résultat)?(?=[ \\t]{0,2}(?:[?.!]|\\n|$))',
  '(?<!\\p{L})(?:el|la|los|las|il|lo|o|a|os|as)(?: dos| due| dois| primi)? (?:primer|segund|tercer|últim|second|terz|ultim|primeir|terceir)\\p{L}*(?=[ \\t]{0,2}(?:[?.!]|\\n|$))',
  '(?:^|[.!?:\\n]\\s{0,3})(?:переведи|исправь|отсортируй|перепиши|отредактируй)(?:те)?(?!\\p{L})(?! (?:свой )?ответ)|(?<!\\p{L})во? (?:первом|втором|третьем|последнем)(?!\\p{L})',
  '翻译成|译成|翻譯成|校对|校對|润色|潤色|续写|續寫|重新排序|(?:[们們])?排序[。！]|前[两二三四五]个|第[一二三四五]个|最[后後]一?个',
  '訳して|校正して|並べ替え|書き直し|(?:最初|最後)の(?:もの|リンク|結果)|[一二三四五\\d]番目',
  '번역해|교정해|정렬해|다시 써',
]

const REPEATING = anyOf([...ENGLISH, ...OTHERS])

const JUDGE =
  '(?:rate|score|grade|rank|re-?rank|label|classify|tag|judge|assess|evaluate|annotate|translate|summari[sz]e|describe|explain|review|paraphrase|rewrite|shorten|title|name|number|proofread|categori[sz]e|extract|convert|merge|concatenate|join|stitch|sort|order|reorder|rearrange)'
const ALL = '(?:(?:the|these|those|all|of|my|both|following|given|above|provided|retrieved|every|single) ){0,4}'
// what the model must state in its own words
const INTO_ONE =
  ' (?:together )?(?:in)?to (?:a|an|one|your|the) (?:\\p{L}+ ){0,3}(?:answers?|response|reply|summary|explanation)'
const DATA = '(?:json|csv|xml|yaml|sql|table|spreadsheet)'
// `who finished first` asks about an event that the texts describe
const RACING =
  '(?:finish(?:ed|es)|wins?|won|arrive[ds]?|died|scored?|land(?:ed|s)|reach(?:ed|es)|discovered|invented|climbed|flew)'
// what texts are, said of each of them: `each document has a title`
const BEING =
  '(?:is|are|was|were|has|have|had|contains?|includes?|starts?|begins?|comes?|consists?|may|might|can|could|belongs?|represents?|corresponds?|carries|bears|stands?|will be (?:given|provided|enclosed|marked|separated|followed))'
const EACH = `(?:each|every)(?: (?:single|one|individual))?(?: of)?(?: the| these| those)?(?: (?!(?:document|source|passage)s? )\\p{L}+)? ${TEXTS}`
// one output for each text, in their order
const ALIGNED = anyOf([
  `(?<!\\p{L})(?:how|whether|if|what|where|why|that) ${EACH}(?!\\p{L})|(?<!\\p{L})${EACH}(?!\\p{L})(?! (?:(?:above|below|given|provided|retrieved|in the \\p{L}+) )?${BEING}(?!\\p{L}))`,
  `(?<!\\p{L})for all (?:of )?(?:the |these |those )?(?:given |retrieved |following )?${TEXTS}(?!\\p{L})|(?<!\\p{L})(?:for|${JUDGE}|about|of|per) (?:each|every|all of them|them all|them each)(?: one)?(?: of (?:the above|the following|them|these|those))?(?=[.,;!?\\n]|$| (?:separately|individually|in turn|one by one))`,
  `(?<!\\p{L})(?:one|an?|the)(?: \\p{L}+){0,4} (?:per|for each|for every|from each|from every|of each|of every|to each) ${TEXTS}(?!\\p{L})|(?<!\\p{L})per (?:document|passage|source|text|chunk|item|snippet|article|review|entry|record|paper|file|e-?mail|ticket|message)(?!\\p{L})`,
  `(?<!\\p{L})(?:translate|combine|merge|concatenate|join|stitch|proofread|rank|re-?rank|sort|order|reorder|re-order|rearrange|convert|classify|label|number|rate|score|grade|tag) (?!of )(?:${ALL}(?:search )?${TEXTS}|them)(?!\\p{L})(?!${INTO_ONE})`,
  `(?<!\\p{L})(?:rate|score|grade|rank|label|classify) (?:how|whether|the (?:relevance|quality|sentiment|usefulness|fit|topic)) (?:\\p{L}+ ){0,3}${TEXTS}(?!\\p{L})`,
  `(?<!\\p{L})(?:convert|transform|reformat|turn|export|parse)(?!\\p{L})[^.\\n]{0,60}(?<!\\p{L})${DATA}(?!\\p{L})`,
  '(?<!\\p{L})(?:line by line|one by one|document by document|page by page|step by step through|item by item|side by side)(?!\\p{L})',
  `(?<!\\p{L})who (?!${RACING} )\\p{L}+ (?:first|last)(?!\\p{L})|(?<!\\p{L})(?:walk|go|run|work)(?: me| us)? through (?:the ${TEXTS}|these|all|them|each)(?!\\p{L})`,
  // a question about one text concerns its parts in order
  '(?<!\\p{L})summari[sz]e (?:the|this) (?:whole |entire |full )?(?:text|video|talk|story|book|novel|chapter|lecture|meeting|conversation|transcript|episode|speech|interview)(?!\\p{L})|(?<!\\p{L})(?:continue|go on with) (?:the|this) (?:summary|story|text)(?!\\p{L})',
  '(?<!\\p{L})(?:comma|semicolon|tab|newline|space|pipe)[- ]separated(?!\\p{L})|(?<!\\p{L})(?:separated|delimited|divided|joined) by (?:a )?(?:single )?(?:commas?|semicolons?|tabs?|spaces?|pipes?|newlines?|line breaks?)(?!\\p{L})|(?<!\\p{L})(?:label|score|line|number|answer|title|rating|keyword|verdict|word|value|grade|summary|heading)s? (?:per|on each|on every|in each) line|one (?:per|on each) line(?!\\p{L})|(?<!\\p{L})(?:to|of) each(?=[.,;!?\\n]|$)',
  // in a list of news, the order shows what is new
  `(?<!\\p{L})(?:latest|newest|most recent) (?:news|headlines?|posts?|articles?|documents?|entry|entries|items?|stories|updates?|messages?|tweets?|events?|one)(?!\\p{L})|(?<!\\p{L})what(?:['’]s| is) (?:new|trending)(?!\\p{L})`,
])

// instructions on naming sources, in sentences that mention each of them
const OF_SOURCES =
  /\b(?:cit|quot|zit|referenc|you use|attribut)|\bbrackets\b|\b(?:prefix\w*|label\w*|begin\w*|start\w*|headed|titled|called|named)(?: with| by)? ["'`*]{0,2}(?:sources?|references)\b|引用|标注|ссыл|цит|인용|出典|alıntı|kaynak göster|استشه|trích|उद्धृ/iu

/**
 * Whether a lower-case sentence asks for something that follows the texts one by one, repeats or continues them. In
 * rules for a model, only if it is about texts.
 */
export function isAligned(sentence: string, isRule: boolean): boolean {
  if (isRule && !mentionsTexts(sentence)) return false
  const isSaid = ALIGNED.test(sentence) || EACH_ONE.test(sentence) || REPEATING.test(sentence)
  return isSaid && !OF_SOURCES.test(sentence)
}

/** A text that the person asking has written, whose parts are in order. */
export const OF_OWN_TEXT: WordPattern = new WordPattern(
  [
    '(?:my|our)(?: (?!question|query|documents?)\\p{L}+){0,2} (?:posts?|essays?|stor(?:y|ies)|novel|novella|drafts?|letters?|articles?|diary|journal|thesis|dissertation|poems?|lyrics|songs?|scripts?|screenplay|manuscript|chapters?|speech|cv|résumé|resume|memoirs?|blog|newsletter|homework|translation|outline|slides|talk|cover letter|text)',
    '(?:this|these|those)(?: is| are)?(?: the| a| an)?(?: \\p{L}+)? (?:poems?|stor(?:y|ies)|tales?|speech|letters?|essays?|lyrics|songs?|verses?|stanzas?|drafts?|slides|chapters?|scenes?|paragraphs|novel|screenplay|manuscript)',
    "(?:i(?:['’]m| am)|we(?:['’]re| are)) (?:writing|drafting|working on) (?:an?|the|my|our|this)",
    'here (?:is|are) (?:my|our) (?!question|query|documents?|sources?|contexts?|data|results?|files?)\\p{L}+|(?:my|our) (?:playlist|setlist|assignment|presentation|syllabus|itinerary)|homework i|(?:i|we|(?:my|our) team) (?:prepared|composed|drafted) (?:this|these|the following)',
    'dies(?:e[rsnm]?|ist (?:ein|eine|der|die|das))(?: \\p{L}+)? (?:brief|märchen|aufsatz|gedicht|geschichte|rede|strophen|folien)',
    '(?:ce|cet|cette|ces)(?: \\p{L}+)? (?:lettre|récit|poèmes?|conte|discours|strophes|nouvelle)',
    '(?:est[eao]s?|quest[oaie]|ess[ea]s?)(?: \\p{L}+)? (?:cartas?|lettera|cuentos?|racconto|conto|poemas?|poesia|discurso|discorso|estrofas?|strofe)',
    'эт[оиау]\\p{L}*(?: \\p{L}+)? (?:письм|рассказ|стих|сказк|речь)\\p{L}*',
    'i (?:(?:wrote|have written|drafted) (?:it|this|these|them|all|both|every|the|here|above|below)|am writing|am drafting|am about to (?:submit|send|publish|post)|want to (?:submit|send|publish|post))',
    '(?:mein|unser)(?:e[nrms]?)?(?: \\p{L}+)? (?:text|brief|märchen|aufsatz|roman|gedicht|geschichte|tagebuch|entwurf|bewerbung|artikel|beitrag|rede|arbeit|kapitel)',
    '(?:mon|ma|mes|notre|nos)(?: \\p{L}+)? (?:textes?|lettres?|roman|nouvelle|récit|poèmes?|journal|brouillon|article|discours|mémoire|conte)',
    '(?:mis?|nuestr[oa]s?|mi[oae]i?|il mio|la mia|nostr[oa]|meu|minha|noss[oa])(?: \\p{L}+)? (?:textos?|testo|cartas?|lettera|novela|romanzo|romance|cuentos?|racconto|conto|poemas?|poesia|diario|diário|borrador|bozza|rascunho|artículo|articolo|artigo|discurso|discorso|ensayo)',
    'мо[йеяюёї]\\p{L}*(?: \\p{L}+)? (?:текст|письмо|лист|рассказ|роман|стих|сказк|казк|оповідан|дневник|щоденник|чернов|статт|стать)\\p{L}*',
  ]
    .map((source) => `(?<!\\p{L})(?:${source})(?!\\p{L})`)
    .concat(
      '我(?:们)?(?:的|写的)(?:文章|小说|作文|故事|日记|信|草稿|稿子|诗|论文)|[这這](?:个|個|篇|首|封)(?:故事|小说|小說|作文|诗|詩|信)|(?:合成|写成|寫成|编成)一?[个個篇首](?:故事|文章|诗|詩)',
      '(?:私|僕|自分)の(?:小説|文章|物語|日記|手紙|作文|原稿|詩)|この(?:話|物語|小説|詩|手紙)の?',
      '(?:내|제)(?:가 쓴)? (?:글|소설|일기|편지|시|원고)',
    ),
  'iu',
)
