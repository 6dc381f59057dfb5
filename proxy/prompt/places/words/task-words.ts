/*
 * Rules on tasks whose answer follows the order of the texts: one output for each, repeating them (`Proofread.`,
 * `Übersetze ins Englische.`), ranking them, or going on with them; and on what a person says to have written.
 */

export const taskRules = {
  /** one output for each text, in their order */
  aligned: `
    how|whether|if|what|where|why|that each|every single|one|individual? of? the|these|those? _? TEXT_EN
    each|every single|one|individual? of? the|these|those? _? TEXT_EN !BEING|GIVEN
    each|every single|one|individual? of? the|these|those? _? TEXT_EN GIVEN !BEING
    for all of? the|these|those? given|retrieved|following? TEXT_EN
    for|about|of|on|per|to|JUDGE each|every|all_of_them|them_all|them_each one? separately|individually|in_turn|one_by_one? $
    for|about|of|on|per|to|JUDGE each|every|all one? of the|them|these|those above|following? $
    each|every one? of them|these|those BEING|have|to|in|from|by; one _ to|for a|an TEXT_EN
    per review|ticket|message; JUDGE ..4 of|for each|every TEXT_EN $; rate|score|grade|rank|label|evaluate ..4 of|for all of? the? TEXT_EN; work|read your way down|through the|this? list|TEXT_EN
    rate|score|grade|rank|label|classify how|whether|the relevance|quality|sentiment|usefulness|fit|topic|stance ..4 TEXT_EN
    convert|transform|reformat|turn|export|parse ..8 FORMAT_NAME; walk|go|run|work me|us? through the TEXT_EN
    walk|go|run|work me|us? through these|all|them|each; go_on_with|continue the|this summary|story|text|list
    return|give_back|hand_back the|these|all TEXT_EN with ..3 corrected|fixed|removed|replaced|highlighted|marked|changed
    summarize|summarise the|this whole|entire|full? text|video|talk|story|book|novel|chapter|lecture|meeting|conversation|transcript|episode|speech|interview
    one|label*|score*|line*|number*|answer*|title*|rating*|keyword*|verdict*|word*|value*|grade*|summary|heading* per|on_each|on_every|in_each line
    comma|semicolon|tab|newline|space|pipe separated; aligned with the? TEXT_EN; who|what|which ..3 wrote|said|spoke|posted|replied|answered|pasted|retrieved|listed first|last
    NEWEST news|headline+|post+|update+
    put|say them|these|those|everything in|into; put|say the|these|those? TEXT_EN in|into _ $; titles|headings|captions for the|these|those TEXT_EN`,
  /** the same, unless one answer is made of all */
  rearranging: `
    REARRANGE !of ALL? ALL? ALL? search? TEXT_EN|them`,
  into_one: 'into|to a|an|one|your|the ..3 answer|answers|response|reply|summary|explanation',

  /** texts are repeated in another form, ranked, or one is named by its place */
  repeating: `
    ^ HANDLE $$; ^ HANDLE all|both? of? the|these|this|those|them|my|everything|it_all|all|each|above|following|typos|spelling|grammar|verbatim
    ^ HANDLE into|to _; ^ HANDLE NUMBER and NUMBER
    first|last word|sentence|line|paragraph|character|letter above; first|last word|sentence|line|paragraph|character|letter of|in the context|text|list|prompt|documents
    first|second|third|fourth|fifth|last|next|top link|hit|row|column|url; top COUNT TEXT_EN; top COUNT $
    which|who|what one|OF_THESE? COMES _? first|last|next|second|third|on_top; which one|OF_THESE COMES before|after
    one|a|two sentence+|line+|paragraph+|bullet+|word+|summary|summaries each
    better|right|correct|wrong order|ranking for|of these|them|TEXT_EN; is the ranking|order OF_THESE? right|correct|wrong|good
    ^ CHANGE_TEXT this|these|those|it|them|everything|my|our|each|every|all_of_it|all_of_them|all_of_this
    ^ CHANGE_TEXT the whole|text|story|poem|draft|essay|letter|article|piece|last|first|second|third|next|two|three
    write|add|draft|suggest|invent ..4 ending|sequel|continuation|epilogue|prologue
    write|add|draft|suggest|invent ..4 next|last|final|closing|opening|first chapter|scene|verse|line|paragraph|part|sentence|entry|episode
    each|every PART; top to bottom; which|what CHOICE_OF|OF_THESE two|three? is|are|was|reads|sounds|looks the? better|best|worse|worst|most|least|strongest|weakest|clearest
    which|what CHOICE_OF|OF_THESE do you prefer|like; what happens next; how does|do the text|story|it go on`,
  /** the same in other languages */
  repeating_abroad: `
    ^ HANDLE_ABROAD !OWN_ANSWER|свой; HANDLE_ABROAD tod*|tutt*|tous|toutes|alle|sie; EACH_ALONE $
    was_steht|fasse|erklär*|öffne|zeig* ..3 erste*|zweite*|dritte*|vierte*|letzte*|nächste*|oberste*; was kommt|folgt|ist nach|vor; was kommt|folgt|ist als nächstes
    le|la|les|ouvre|ouvrez le|la? deux|trois? premi*|deuxi*|second*|troisi*|derni* lien|résultat? $
    el|la|los|las|il|lo|o|a|os|as dos|due|dois|primi? primer*|segund*|tercer*|últim*|second*|terz*|ultim*|primeir*|terceir* $
    в|во первом|втором|третьем|последнем; celui|celle|ceux qui suit|suivent|précède|vient; la|el|lo que sigue
    译成; 翻譯成; 校对; 润色; 潤色; 续写; 續寫; 重新排序; 们|們? 排序 $$; 前 两|二|三|四|五 个; 第 一|二|三|四|五 个; 最后|最後 一? 个|個
    訳して; 校正して; 並べ替え; 書き直し; 最初の|最後の もの|リンク|結果; 一|二|三|四|五|NUMBER 番目; 번역해; 교정해; 정렬해; 다시써`,
  /** the model's own answer is meant */
  of_answer: `
    HANDLE the|your|my|this|its|any|user? s? the|your|final|own|original? final|own|original? OWN_ANSWER
    HANDLE_ABROAD die|deine|ihre|seine|ta|la|votre|tu|su|tua|a|sua? OWN_ANSWER`,

  /** one list says in other words what another one says */
  in_other_words: 'IN_OTHER_WORDS',

  /** instructions on naming sources, in sentences that mention each of them */
  of_sources: `
    cit*|quot*|zit*|referenc*|attribut*|brackets|ссыл*|цит*; you use; prefix*|label*|begin*|start*|headed|titled|called|named with|by? sources|source|references
    引用; 标注; 인용; 出典; alıntı*; kaynak göster*; استشه*; trích*; उद्धृ*`,

  /** a text that the person asking has written, whose parts are in order */
  own_work: `
    my|our !question|query|document|documents _? _? OWN_WORK; this|these|those is|are? the|a|an? _? OWN_KIND
    i_m|i_am|we_re|we_are writing|drafting|working_on an|a|the|my|our|this
    here is|are my|our !question|query|document+|source+|context+|data|result+|file+
    i|we|team prepared|composed|drafted this|these|the_following
    i wrote|have_written|drafted it|this|these|them|all|both|every|the|here|above|below
    i_am_about|i_m_about|i_want to submit|send|publish|post this|these|it|them|the
    dies* ist? ein*|der|die|das? _? brief|märchen|aufsatz|gedicht|geschichte|rede|strophen|folien
    ce|cet|cette|ces _? lettre|récit|poème+|conte|discours|strophes|nouvelle
    esta|este|estas|estos|essa|esse|questa|questo|queste|questi _? OWN_ROMANCE; эт* _? письм*|рассказ*|стих*|сказк*|речь*
    mein*|unser* _? text|brief|märchen|aufsatz|roman|gedicht|geschichte|tagebuch|entwurf|bewerbung|artikel|beitrag|rede|arbeit|kapitel
    mon|ma|mes|notre|nos _? texte+|lettre+|roman|nouvelle|récit|poème+|journal|brouillon|article|discours|mémoire|conte
    mi|mis|nuestro|nuestra|nuestros|nuestras|mio|mia|miei|nostro|nostra|meu|minha|nosso|nossa _? OWN_ROMANCE
    мо* _? текст*|письмо*|лист|рассказ*|роман*|стих*|сказк*|казк*|оповідан*|дневник*|щоденник*|чернов*|статт*|стать*
    我 们? 的|写的 文章|小说|作文|故事|日记|信|草稿|稿子|诗|论文; 这|這 个|個|篇|首|封 故事|小说|小說|作文|诗|詩|信; 合成|写成|寫成|编成 一? 个|個|篇|首 故事|文章|诗|詩
    私|僕|自分 の 小説|文章|物語|日記|手紙|作文|原稿|詩; この 話|物語|小説|詩|手紙; 내|제 가쓴? 글|소설|일기|편지|시|원고`,
} as const
