import { WordPattern } from '../../scan/words/word-pattern.ts'
import { mentionsTexts, refersToTexts } from './text-words.ts'

/* Roles that texts have by their places: the older and the newer one, premise and hypothesis. Lower case. */

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
