/* Rules on how a text of a list is referred to by its place (`второй документ`, `المستند الثاني`), or each of its texts. */

export const placeRules = {
  /** a text of several that is called by its place or number, in English */
  called: `
    about|ignore|open|skip|show|use|using|does|do|did|only number|numbers? COUNT|SMALL $$
    about|ignore|open|skip|show|use|using|does|do|did|only number|numbers? COUNT|SMALL says|say|said|differ|agree|mean|alone
    about|ignore|open|skip|show|use|using|does|do|did|only number|numbers? COUNT|SMALL and|or|,? COUNT|SMALL $$
    about|ignore|open|skip|show|use|using|does|do|did|only number|numbers? COUNT|SMALL and|or|,? COUNT|SMALL says|say|said|differ|agree|mean|alone
    the next|previous|following|preceding|upper|lower|topmost|bottom|other one|ones|two|three|few; every other one|of; the topmost
    the one before|after|above|below; just|right|directly before|after|above|below the|that|this; follows|precedes the one
    at the very end|beginning; the first|second|third|last one|two|three? $; which|any|both|one|either of the first|last two|three|few
    do|does|did|are|is the first|last two|three|few say|agree|differ|disagree|contradict|mention|true|right
    ignore|skip|drop|remove|delete|summarise|summarize|compare|use the first|second|third|last two|three? and|or
    the first|second|third|last one? says|claims|contradicts|is_wrong|is_right; number|numbers NUMERAL; the ORDINAL|NTH|middle one
    top|bottom one|two|few|half of? the? KIN; listed|ranked|placed|rank|ranks first|last|highest|lowest|top|bottom|second|third
    at|in|on which|what position|rank|place; the top hit|match; at position|place|rank SMALL; the former|latter
    start|starts|begin|begins|starting|beginning with|from|at the first|last; the one at|on|in the top|bottom|middle|beginning|end
    KIN in the very? middle; the NTH one|say|says|is|and|or; the NTH $; the penultimate|next_to_last|second_to_last|third_to_last
    KIN before|after the? last; does|do|did|say the? NTH; odd|even numbered? KIN; odd|even numbers; every other|second|third KIN
    opening|closing|initial KIN; upper|lower half; first|second|last half of the|these|those|all|your? the|these|those? KIN
    document|doc|source|passage|chunk ii|iii|iv|vi|vii|viii|ix; does|do|did|in|of|from|see|with|and LETTERED; LETTERED about|say|says|mean
    answer|reply|respond with|by the|its number|index|position|rank of the|that _? document|source|passage|text|chunk|article|item|result
    1 , 2 ,? or|and|oder|und|ou|et|o|y|e|или|і|eller|of|lub|nebo|veya|hoặc|atau? SMALL; 1 , 2 , 3 ,? or|oder|ou|o|или|eller|of|lub|nebo|veya|hoặc|atau SMALL
    where in my|the|your|this|our list; the order i|we|you gave|sent|listed|have; the next|previous page|slide|chapter|section say|says|about
    what|which ..2 number|rank|position|place of the|that|this _? document|source|passage|text|chunk|article|one; how far down|up
    is|are|stand|stands|comes at the very? top|bottom|end|beginning|head|foot $$`,
  /** a text of several that is called by its place, in other languages than English */
  by_place: `
    PLACE|NTH _? _? TEXT; TEXT _? PLACE|BEHIND; PLACE SOME; SOME PLACE
    an|en|à|em|in|al|op|på|na|на|v la|de|der? PLACE|NTH stelle*|positi*|posiz*|posici*|posiç*|lieu*|place*|lugar*|posto*|plaats*|plats*|miejsc*|míst*|мест*|місц*
    an|en|à|em|in|al|op|på|na|на|v welcher|quelle|que|qué|quale|welke|vilken|hvilken|którym|kterém|каком|якому stelle*|positi*|posiz*|posici*|posiç*|lieu*|place*|lugar*|posto*|plaats*|plats*|miejsc*|míst*|мест*|місц*
    das|der|die|dem|den|im|beim|zum|le|la|les|au|el|los|las|al|il|lo|o|a|os|as|de|het|и|а|в|о|l|d PLACE|NTH|BESIDE_ABROAD $
    n SMALL; DOTTED _? dokument*|quelle*|abschnitt*|text|texte|textes|datei*|ergebnis*|auszug*|artikel*|passage*
    DOTTED _? belge*|doküman*|kayna*|metin*|parça*|dosya*|makale*|forrás*|szöveg*|cikk*|találat*
    an DOTTED stelle; n SMALL; nummer zwei|drei|vier|fünf|sechs; im|das|der|den|dem vorletzten|vorletzte; im ersten|zweiten|dritten|vierten|letzten _? $$; dok SMALL
    steht|kommt ganz? oben|unten|vorn|vorne|hinten|zuerst|zuletzt; steht|kommt am anfang|ende
    son iki|üç? TEXT; birinci|ikinci|son|kaçıncı sırada; l avant dernier|dernière; el|la|o|a penúltimo|penúltima
    hai|ba TEXT đầu|cuối; أول|آخر TEXT; 排在|位于|放在 第|最; 最初|最後 に ある|来る|載; 첫번째|마지막 에|으로 있|나오
    最后|最後|最前|最终|最初|首|末|冒頭|先頭|末尾 的|の? CHINESE_NUMBER|SMALL? PIECE? TEXT; 倒数|倒數 第? CHINESE_NUMBER|SMALL PIECE? TEXT
    前|后|後 面? 的? CHINESE_NUMBER|SMALL PIECE? TEXT; 前|后|後 面 的? TEXT; 最后|最後 一 PIECE? 的?
    第 CHINESE_NUMBER|SMALL CHINESE_NUMBER? PIECE; CHINESE_NUMBER|SMALL 番目|つ目|件目
    첫|두|세|네|다섯|여섯 번째; 첫째; 둘째; 셋째; 넷째; SMALL 번째? 문서|자료|출처|글|텍스트|파일|결과|기사; SMALL es|os|ös|as|eses számú TEXT; SMALL numaralı TEXT; SMALL й|я|е|го|м|му TEXT; 마지막|맨처음|맨끝|맨위|맨아래 의? TEXT
    เอกสาร ที่|ฉบับที่|ฉบับ|หมายเลข? หนึ่ง|สอง|สาม|สี่|แรก|สุดท้าย|SMALL; TEXT 一|二|三|四|五|六|七|八|九|十 的|说|說|讲|講|和|与|與; TEXT 一|二|三|四|五|六|七|八|九|十 $
    最初|最後|先頭 の 二|三|SMALL つ|件|点?; 처음|마지막 두|세|SMALL 개|건|TEXT; 下|上 一 PIECE; 那 篇|份 的 下|上`,

  /** each of several texts, or one after the other */
  each_one: `
    EACH_ABROAD|EACH_ALONE _? _? TEXT; PER TEXT; ONE_BY_ONE_ABROAD
    her TEXT; 为|為|对|對|给|給|就|将|將|把|请|請 每|各 一? PIECE? TEXT; 每|各 一? PIECE? TEXT !都|是|有|的|包|以|由|均|前|后|後|,|.
    分别|分別 总结|概括|翻译|分析|评分|说明|描述|列出; 各 文書|ドキュメント|資料|記事|テキスト; 각|각각의 TEXT; แต่ละ TEXT; TEXT แต่ละ`,
} as const
