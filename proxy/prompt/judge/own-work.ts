import { WordPattern } from '../scan/words/word-pattern.ts'

// a text that the person asking has written
const OF_OWN_TEXT = new WordPattern(
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

/** Returns whether words mention a text that the person asking has written, whose parts are in order. */
export function isOfOwnText(words: string): boolean {
  return OF_OWN_TEXT.test(words)
}
