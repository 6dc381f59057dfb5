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
  `${BEGIN}(?:judge|rate|grade|assess|classify|score|label) (?:the )?(?:relevance|sentiment|quality|topics?|language|toxicity|stance|category|categories) of(?!\\p{L})`,
  '(?<!\\p{L})(?:first|second|third|fourth|fifth|last|next|top) (?:link|hit|row|column|url)(?!\\p{L})|(?<!\\p{L})top (?:two|three|four|five)(?!\\p{L})(?! (?:reasons|priorities|tips|things))',
  '(?<!\\p{L})(?:is|does|about|with|open|explain|read|show|skip|after|before|than) the (?:first|second|third|fourth|fifth|last|next)(?= (?:about|say|says|said|mean|link|hit|and)(?!\\p{L})|[ \\t]{0,2}(?:[?.!]|\\n|$))',
  '(?<!\\p{L})(?:which|who|what)(?: (?:one|of \\p{L}+))? (?:comes|shows? up|follows?|plays?|speaks?|stands?|ranks?)(?: \\p{L}+)? (?:first|last|next|second|third|before|after|on top)(?!\\p{L})',
  '(?<!\\p{L})(?:one on top|on place \\d|to position \\d|is at the top|not on top|from one to the next|array of (?:labels|summaries|scores|titles))(?!\\p{L})|(?<!\\p{L})(?:one|a|two) (?:sentence|line|paragraph|bullet|word|summary)s? each(?!\\p{L})',
  '(?<!\\p{L})(?:add|write|insert|append) (?:a|another|the) (?:next|third|fourth|fifth|sixth) one(?!\\p{L})|(?<!\\p{L})(?:better|right|correct|wrong) (?:order|ranking) (?:for|of) (?:these|them|the)(?!\\p{L})|(?<!\\p{L})is the (?:ranking|order|order of these) (?:right|correct|wrong|good)(?!\\p{L})',
  // continuing or transforming a single text
  `${BEGIN}(?:turn|make|convert|adapt|edit|revise|improve|tighten|polish|shorten|condense|expand|extend|merge|combine|join|finish|complete|continue|grade|mark|cut) (?:this|these|those|it|them|all of (?:it|them|this)|everything|my|our|each|every|the (?:whole|text|story|poem|draft|essay|letter|article|piece|last|first|second|third|next|two|three))(?!\\p{L})`,
  `(?<!\\p{L})(?:write|add|draft|suggest|invent|give)(?: \\p{L}+){0,4} (?:ending|sequel|continuation|epilogue|prologue|title|next (?:chapter|scene|verse|line|paragraph|part|step|entry|episode)|(?:last|final|closing|opening|first) (?:chapter|scene|verse|line|paragraph|part|sentence))(?!\\p{L})`,
  '(?<!\\p{L})(?:the story|what (?:has )?happened) so far(?!\\p{L})|(?<!\\p{L})what (?:happens|should happen) (?:next|now|then)(?!\\p{L})',
  // parts of one text, candidates to compare, data to inspect as data, instructions to obey in turn
  '(?<!\\p{L})(?:each|every) (?:line|verse|stanza|row|sentence|paragraph|slide|chapter|letter|step|scene|comment|essay|draft|post|entry|turn)(?!\\p{L})|(?<!\\p{L})top to bottom(?!\\p{L})',
  '(?<!\\p{L})(?:which|what) (?:one|of \\p{L}+(?: two| three)?|answer|response|version|draft|output|translation|summary|candidate|completion) (?:(?:is|are|was|reads|sounds|looks) (?:the )?(?:better|best|worse|worst|most|least|strongest|weakest|clearest)|do you (?:prefer|like)|should i)(?!\\p{L})',
  `${BEGIN}(?:validate|lint|parse|minify|pretty-?print|plot|clean up|tidy up|check) (?:this|the|my|our) (?:json|yaml|xml|csv|data|dataset|file|array|object|payload|table|schema|markup|html|config)(?!\\p{L})`,
  `${BEGIN}(?:put|tidy|clean|sum) (?:this|these|it|them|those)(?!\\p{L})(?! in(?:to)? an? (?:comma|semicolon))`,
  '(?<!\\p{L})(?:follow|obey|execute|carry out) (?:these|the following|all) (?:documents|passages|sources|chunks|files|texts)(?!\\p{L})',
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
  '(?<!\\p{L})(?:schreib\\p{L}{0,2}|erfinde)(?: \\p{L}+){0,3} (?:ende|schluss|fortsetzung|nächste\\p{L}{0,2} (?:kapitel|strophe|szene|absatz))(?!\\p{L})|(?<!\\p{L})setz\\p{L}{0,2} (?:die|das|den) \\p{L}+ fort(?!\\p{L})',
  '(?<!\\p{L})(?:écri(?:s|vez|re)|invente[zr]?)(?: \\p{L}+){0,3} (?:fin|suite|épilogue|conclusion)(?!\\p{L})|(?<!\\p{L})(?:continue[zr]?|termine[zr]?) (?:le|la|ce|cette|mon|ma) (?:texte|récit|histoire|conte|poème|lettre)(?!\\p{L})',
  '(?<!\\p{L})(?:escrib[ae]|inventa|scrivi|escrev[ae])(?: \\p{L}+){0,3} (?:final|finale|fim|continuación|continuazione|continuação)(?!\\p{L})|(?<!\\p{L})(?:continúa|continua|continue) (?:el|la|il|o|a) (?:texto|cuento|historia|testo|racconto|storia|conto|história)(?!\\p{L})',
  '(?:напиши|придумай)(?:те)? (?:\\p{L}+ ){0,2}(?:продолжение|конец|концовку|окончание|продовження|кінець|кінцівку|закінчення)|продолжи(?:те)? (?:рассказ|историю|текст|сказку)|продовж(?:и|іть)? (?:оповідання|історію|текст|казку)',
  '(?:写|寫)(?:一个|一個|出)?(?:结局|結局|结尾|結尾|续集|續集|下一[章节節段])|[继繼][续續](?:写|寫|[这這]个?故事)',
  '続きを(?:書|考)|結末を|(?:이어서|다음 (?:장|장면)을?) ?(?:써|쓰)|결말을?',
]

/** Sources of patterns for lower-case texts. */
export const TASK_WORDS: readonly string[] = [...ENGLISH, ...OTHERS]
