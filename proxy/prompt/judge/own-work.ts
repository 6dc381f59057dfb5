import type { ContextList } from '../context-list.ts'
import type { Marks } from '../scan/find-marks.ts'
import { giving } from './evidence/prompt-words.ts'
import type { Announcement } from './read-evidence.ts'

// words for what belongs to the person asking, except the question
const OF_OWN =
  /(?<!\p{L})(?:my|our|i (?:wrote|made|want|have written)|meine?[rnms]?|unsere?[rnms]?|mon|mes|notre|nos|mis?|nuestr[oa]s?|mo[ij]|наш\p{L}*|мо[йеия])(?!\p{L})(?! (?:question|query|frage|pregunta|вопрос))|我的|我们的|私の|내 /iu
// a text that the person asking has written
const OF_OWN_TEXT = new RegExp(
  [
    '(?:my|our)(?: (?!question|query|documents?)\\p{L}+){0,2} (?:posts?|essays?|stor(?:y|ies)|novel|novella|drafts?|letters?|articles?|diary|journal|thesis|dissertation|poems?|lyrics|songs?|scripts?|screenplay|manuscript|chapters?|speech|cv|résumé|resume|memoirs?|blog|newsletter|homework|translation|outline|slides|talk|cover letter|text)',
    '(?:this|these|those)(?: is| are)?(?: the| a| an)?(?: \\p{L}+)? (?:poems?|stor(?:y|ies)|tales?|speech|letters?|essays?|lyrics|songs?|verses?|stanzas?|drafts?|slides|chapters?|scenes?|paragraphs|novel|screenplay|manuscript)',
    "(?:i(?:['’]m| am)|we(?:['’]re| are)) (?:writing|drafting|working on) (?:an?|the|my|our|this)",
    'here (?:is|are) (?:my|our) (?!question|query|documents?|sources?|contexts?|data|results?|files?)\\p{L}+|(?:my|our) (?:playlist|setlist|assignment|presentation|syllabus|itinerary)|homework i|(?:i|we|(?:my|our) team) (?:prepared|composed|drafted) (?:this|these|the following)',
    '(?:mój|moj[aeąiu]|nasz\\p{L}{0,2})(?: \\p{L}+)? (?:szkic|esej|tekst|list|opowiadani|powieść|rozdział|wiersz|artykuł)\\p{L}*',
    '(?:min|mitt|mina|mit|mine|vår|vårt|vores)(?: \\p{L}+)? (?:utkast|udkast|uppsats|oppgave|text|tekst|berättelse|historie|roman|brev|dikt|digt|stil)\\p{L}*',
    '(?:můj|moje|má|mé|náš|naše)(?: \\p{L}+)? (?:koncept|návrh|esej|text|povídk|román|dopis|báse)\\p{L}*',
    '(?:mijn|ons|onze)(?: \\p{L}+)? (?:tekst|opstel|essay|verhaal|roman|brief|gedicht|concept|scriptie|schets)',
    '(?:luonno|essee|tarina|teksti|kirjee|romaani|runo)\\p{L}*ni|(?:vázlatom|fogalmazásom|esszém|szövegem|novellám|regényem|levelem|versem)',
    '(?:ciorna|eseul|textul|povestea|romanul|scrisoarea|poezia|schița) (?:mea|meu)|(?:κείμεν|σχέδι|δοκίμι|έκθεσ|ιστορί|μυθιστόρημ|γράμμα|ποίημ|προσχέδι)\\p{L}* μου',
    '(?:taslağım|denemem|hikayem|hikâyem|yazım|romanım|mektubum|şiirim|metnim)|(?:draf|esai|cerpen|tulisan|naskah|artikel|surat|cerita|karangan)(?: \\p{L}+)? (?:saya|kami)',
    '(?:bài|bản|truyện|đoạn|thư)(?: \\p{L}+){0,3} của (?:tôi|mình|chúng tôi)|(?:مسودتي|مقالتي|مقالي|قصتي|روايتي|رسالتي|نصي|قصيدتي)|(?:הטיוטה|החיבור|הסיפור|הטקסט|המכתב|הרומן|השיר) שלי',
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
      'मेर[ाीे] (?:मसौदा|मसौदे|निबंध|कहानी|लेख|पत्र|ड्राफ़्ट|ड्राफ्ट|कविता)|(?:ร่าง|เรียงความ|เรื่องสั้น|บทความ|จดหมาย|นิยาย)(?:ของ)?(?:ผม|ฉัน|ดิฉัน|เรา)',
    )
    .join('|'),
  'iu',
)
// something to be written, changed or done, in its order
const OF_WORK =
  /(?<!\p{L})(?:create|write|writing|change[sd]?|edit|modif(?:y|ied)|appl(?:y|ied)|add|updated?|delete|migrations?|patch|commits?|pull request|load order|run with|(?<!eas(?:y|ier) )to (?:read|create|do|build)|steps?|plan|actions?|agenda|schedule|programme|tutorial|recipe|playlist|bibliography|works cited|thesis|novel|poem|blog post|ablauf|schritte|roman|étapes|pasos)(?!\p{L})/iu
// `1. Install it`, but not `[1] …`
const LIKE_STEPS = /[ \t]*\(?\d{1,3}[.)][ \t]/y
// `Sources:`, `Search results:`
const SHORT = /^[^\p{L}]*\p{L}+(?:[ \p{L}-]{0,24})[^\p{L}]*$/u
/**
 * Returns whether a list is announced as something a person writes or does. It was not retrieved, and its order may be
 * the order of the work.
 */
export function isOfWork(heading: string): boolean {
  return OF_OWN.test(heading) || OF_WORK.test(heading)
}

/** Returns whether words mention a text that the person asking has written, whose parts are in order. */
export function isOfOwnText(words: string): boolean {
  return OF_OWN_TEXT.test(words)
}

/** Returns whether blocks are numbered like steps: `1. Install it (https://a.example)`. */
export function isLikeSteps(text: string, { form, blocks: [first] }: ContextList): boolean {
  LIKE_STEPS.lastIndex = first!.start
  return form === 'number' && LIKE_STEPS.test(text)
}

/** Returns whether a list comes from a search, or is announced by little more than a word for retrieved texts. */
export function isRetrieved(
  { source }: Marks,
  { inContainer }: ContextList,
  { heading, announcesSet }: Announcement,
): boolean {
  return source === 'search' || inContainer === true || (announcesSet && (SHORT.test(heading) || giving.test(heading)))
}
