/* Rules on which words mean the texts of a list, one by its place (`второй документ`, `المستند الثاني`), or each of them. */

export const placeRules = {
  text: 'TEXT',
  they: 'THEY',
  /** asks which of the texts it is, as `which document`: without a name, a text is named by its place */
  which: `
    pick|choose|select|identify|find the|an|a|that !NOT_OF_TEXTS _? !NOT_OF_TEXTS _? !NOT_OF_TEXTS TEXT_EN
    point out|to the|an|a|that _? _? TEXT_EN; if_so|if_yes|and_so ,? which ones|one? $
    which|what one? of the|these|those _? TEXT_EN; which|what one? of them $
    which|what document|source|passage|text|chunk|file|snippet|excerpt|article|one|paper|item|entry
    which documents|sources|passages|texts|chunks|files|snippets|articles|ones|papers SAY
    WHICH der|des|de_ces|de_los|de_las|dei|dos|das|из|van_de|av|af|od|z? _? _? TEXT_ABROAD`,
  /** a text of several that is called by its place or number, in English */
  called: `
    CALLING number|numbers? COUNT|SMALL and|or|,? COUNT|SMALL? $$
    CALLING number|numbers? COUNT|SMALL and|or|,? COUNT|SMALL? says|say|said|differ|agree|mean|alone
    the next|previous|following|preceding|upper|lower|topmost|bottom|other one|ones|two|three|few
    the one before|after|above|below; just|right|directly before|after|above|below the|that|this
    the ORDINAL|NTH|next one|two|three? $; which|any|both|one|either of the first|last two|three|few
    do|does|did|are|is the first|last two|three|few say|agree|differ|disagree|contradict|mention|true|right
    ignore|skip|drop|remove|delete|summarise|summarize|compare|use the first|second|third|last two|three? and|or
    the ORDINAL|next one? about|say|says|said|mean|claims|contradicts|is_wrong|is_right; number|numbers NUMERAL; the ORDINAL|NTH|middle one
    top|bottom one|two|few|half of? the? KIN; listed|ranked|placed|rank|ranks first|last|highest|lowest|top|bottom|second|third
    at which|what position|rank|place; in|on which|what position|rank; the top hit|match; at|on|to position|place|rank SMALL; the former|latter
    the one at|on|in the top|bottom|middle|beginning|end
    KIN in the very? middle; the NTH one|say|says|is|and|or; the penultimate|next_to_last|second_to_last|third_to_last
    KIN before|after the? last; does|do|did|say the? NTH; odd|even numbered? KIN; every other|second|third KIN
    opening|closing|initial KIN; first|second|last half of the|these|those|all|your? the|these|those? KIN
    only the? first|last|top COUNT|few matter|count|are|apply? $$; first|second|last half of the|this list; document|doc|source|passage|chunk b|ii|iii|iv|vi|vii|viii|ix; does|do|did|in|of|from|see|with|and LETTERED; LETTERED about|say|says|mean
    answer|reply|respond with|by the|its number|index|position|rank of the|that _? document|source|passage|text|chunk|article|item|result
    1 , 2 ,? 3? ,? OR SMALL; where in my|the|your|this|our list; in the order i|we|you gave|sent|listed|have; the next|previous _ say|says
    what|which ..2 number|rank|position|place of the|that|this _? document|source|passage|text|chunk|article|one`,
  /** a text of several that is called by its place, in other languages than English */
  by_place: `
    PLACE|NTH _? _? TEXT_ABROAD; TEXT_ABROAD _? PLACE|BEHIND; PLACE SOME; SOME PLACE
    an|en|à|em|in|al|op|på|na|на|v la|de|der? PLACE|NTH|DOTTED|WHICH|que stelle*|positi*|posiz*|posici*|posiç*|lieu*|place*|lugar*|posto*|plaats*|plats*|miejsc*|míst*|мест*|місц*
    das|der|die|dem|den|im|beim|zum|le|la|les|au|el|los|las|al|il|lo|o|a|os|as|de|het|и|а|в|о|l|d PLACE|NTH|BESIDE_ABROAD $
    n SMALL; DOTTED _? dokument*|quelle*|abschnitt*|text|texte|textes|datei*|ergebnis*|auszug*|artikel*|passage*
    DOTTED _? belge*|doküman*|kayna*|metin*|parça*|dosya*|makale*|forrás*|szöveg*|cikk*|találat*
    nummer zwei|drei|vier|fünf|sechs; steht|kommt ganz? oben|unten|vorn|vorne|hinten|zuerst|zuletzt; steht|kommt am anfang|ende
    son iki|üç? TEXT; birinci|ikinci|son|kaçıncı sırada; l avant dernier|dernière; el|la|o|a penúltimo|penúltima
    hai|ba TEXT đầu|cuối; أول|آخر TEXT|اثنين|ثلاثة; 排在|位于|放在 第|最; 最初|最後 に ある|来る|載; 첫번째|마지막 에|으로 있|나오
    最后|最後|最前|最终|最初|首|末|冒頭|先頭|末尾 的|の? CHINESE_NUMBER|SMALL? PIECE? TEXT; 倒数|倒數 第? CHINESE_NUMBER|SMALL PIECE? TEXT
    前|后|後 面? 的? CHINESE_NUMBER|SMALL PIECE? TEXT; 前|后|後 面 的? TEXT; 最后|最後 一 PIECE
    第 CHINESE_NUMBER|SMALL CHINESE_NUMBER? PIECE; CHINESE_NUMBER|SMALL 番目|つ目|件目
    첫|두|세|네|다섯|여섯 번째; 첫째; 둘째; 셋째; 넷째; SMALL 번째? 문서|자료|출처|글|텍스트|파일|결과|기사; SMALL es|os|ös|as|eses számú TEXT; SMALL numaralı TEXT; SMALL й|я|е|го|м|му TEXT; 마지막|맨처음|맨끝|맨위|맨아래 의? TEXT
    เอกสาร ที่|ฉบับที่|ฉบับ|หมายเลข? หนึ่ง|สอง|สาม|สี่|แรก|สุดท้าย|SMALL; TEXT 一|二|三|四|五|六|七|八|九|十 的|说|說|讲|講|和|与|與; TEXT 一|二|三|四|五|六|七|八|九|十 $
    最初|最後|先頭 の 二|三|SMALL つ|件|点?; 처음|마지막 두|세|SMALL 개|건|TEXT; 下|上 一 PIECE; 那 篇|份 的 下|上
    ^ _? BEHIND $; ماذا|ما يقول|تقول BEHIND $; предпоследн*|передостанн* $; 上|下 から CHINESE_NUMBER|SMALL; عن BEHIND $; ^ PLACE $$; ^ PLACE ne diyor|söylüyor|anlatıyor|der; το|τη|την|τον|ο|η PLACE|NTH $; ข้อหนึ่ง|ข้อสอง|ข้อสาม|ข้อที่; 마지막|이전|처음 것; 最後|最初|次 の は|を|も`,

  /** numbers in such a sentence show how to cite, unless it asks something */
  showing: 'SHOWING; citation+ !NUMBER',
  /** asks to quote or cite a text by its number */
  asked: '^ quote|cite from|what? the? TEXT? [? NUMBER',
  example: 'for example|instance; e . g; z . b; zum beispiel; 例如; example+ ..6 :',

  /** each of several texts, or one after the other */
  each_one: `
    bewert*|benot*|schulnoten|évalue*|puntú*|puntuación|calific*|voto|voti|valuta*|avali*|pontu*|оцени*|beoordeel*|oceń*|puan ..4 alle*|sämtliche*|tou*|tod*|tutt*|все*|wszystk*|EACH_ALONE
    notez !que|qu|bien ..4 tou*
    TEXT_ABROAD ..8 打分|採点|채점; 打分|採点|채점 ..8 TEXT_ABROAD; 모든 TEXT_ABROAD ..3 점수; 输出|輸出|给出|給出 所有 TEXT_ABROAD ..8 分数|分數; 所有 TEXT_ABROAD ..8 输出|輸出 ..4 分数|分數
    EACH_ABROAD _? _? TEXT_ABROAD; per|pro|je|par|por|co|joka|για_κάθε TEXT_ABROAD; ONE_BY_ONE
    her TEXT; 为|為|对|對|给|給|就|将|將|把|请|請 每|各 一? PIECE? TEXT; 每|各 一? PIECE? TEXT !都|是|有|的|包|以|由|均|前|后|後|,|.
    分别|分別 总结|概括|翻译|分析|评分|说明|描述|列出; 각|각각의 TEXT; แต่ละ TEXT; TEXT แต่ละ`,
} as const
