/* Rules on words that give the places of texts a meaning. */

export const orderRules = {
  /** an order in any sentence: of time, or one after the other */
  ordered: `
    BY_TIME; TO_NEXT; in what|which order ..5 raised|mentioned|discussed|listed|presented|covered|named; one _? to the next; in time|date|temporal|alphabetical|reverse order; one after|following the? other|another
    mentioned|listed|stated _? before|after|next|last|first|earlier|later|higher|lower; list is ORDERING
    NEWEST to|through NEWEST; vom NEWEST; von alt nach neu; von neu nach alt; du plus ancien|récent au
    NEWEST _? is|are? come|comes|listed? first|last|zuerst|zuletzt|AT_END
    sorted|ordered|arranged|listed|given by|from date|time|age|NEWEST
    dieser|derselben reihenfolge; der gegebenen|angegebenen|gleichen|richtigen|selben reihenfolge
    zeitlich|zeitlicher|zeitlichen geordnet|sortiert|reihenfolge|abfolge; nach _ geordnet|sortiert|gereiht
    même ordre; ordre chronologique|donné|indiqué; dans l ordre $; en|por orden $; trié|triés|classés|rangés par date; l un|une après l autre
    mismo|misma orden; mesma ordem; stesso ordine; ordenados|ordenadas|clasificados|clasificadas por fecha
    de|del más antiguo|reciente; do mais antigo|recente; dal più vecchio|recente
    zelfde volgorde; van oud naar nieuw; van nieuw naar oud; samma ordning; samme rækkefølge|rekkefølge
    från äldst*|nyast* till; fra ældst*|eldst*|nyest* til; aynı sıra*; eskiden yeniye; yeniden eskiye
    od najstarsz*|najnowsz*|nejstarší*|nejnovější*; dari yang terlama|terbaru; de la cel mai vechi|nou
    từ cũ|mới nhất? đến; от старых|новых|старого|нового к; від найстаріш*|найновіш*; από το|τον παλαιότερο|νεότερο|παλιότερο
    以 ..12 后|後|新 ..8 为准|為准; 以 前 ..8 为准|為准; 以 ..12 !当|當|目 _ 前 ..8 为准|為准
    相同|同样 的? 顺序|順序; 按|依|以|按照|依照 ..8 顺序|順序; 按|依|按照|依照 时间|日期 排|升|降
    由|从 旧|新|早|晚|远|近 到|至 新|旧|晚|早|近|远; من الأقدم|الأحدث إلى`,

  /** the same whatever else is said of texts: what counts by its place, and what the texts are, as an older and a newer one */
  stated: `
    ADDED ..200 REMOVED; REMOVED ..200 ADDED; ORIGINAL ..200 REVISED; REVISED ..200 ORIGINAL; DOCUMENT a ..200 DOCUMENT b; DOCUMENT b ..200 DOCUMENT a
    LATER TEXT|one|ones|THEY? WINS; WINS|trust|believe ..3 LATER one|ones; WINS|trust|believe ..3 LATER $; LATER ..4 为准|為准|优先|優先
    LATER ..2 geht|gehen ..4 vor; first|last|top|bottom TEXT|one is|are the? NEWEST|LATER|best|worst
    TEXT|THEY ..3 are|is|form|sind|sont|son|sono|são ..2 PARTS of|from|in|NUMBER|de|des|eines|einer
    order of appearance|occurrence; in the order in_which|that? they|it appear|occur|come|stand|are
    whichever|whatever|what|one !the ..4 saw|see|read|given|said|got|encounter|encountered|found|find ..2 first|last $
    are|is|were ..2 pieces|parts|excerpts|fragments|sections of|from one|a_single|the_same|a_larger|a_longer _? document|text|file|article|report|paper|page|story; cut|taken|split from one|the_same|a_single
    widerspr*|contradic*|contraddi*|conflit*|conflict*|konflikt*|tegenspra*|sprzeczn*|çeliş*|противореч*|bertentang*|تعارض*|التعارض|विरोध* ..8 WINS|zählt|zählen|compte|comptent|vale|valen|cuenta|cuentan|conta|contam|contano|telt|считается ..8 PLACE|BEHIND|zuletzt|zuerst|unten|antes|después|depois|dopo
    widerspr*|contradic*|contraddi*|conflit*|conflict*|konflikt*|tegenspra*|sprzeczn*|çeliş*|противореч*|bertentang*|تعارض*|التعارض|विरोध* ..8 PLACE|BEHIND|zuletzt|zuerst|unten|antes|después|depois|dopo ..8 WINS|zählt|zählen|compte|comptent|vale|valen|cuenta|cuentan|conta|contam|contano|telt|считается
    mâu_thuẫn ..4 tin|theo|ưu_tiên|dùng ..4 LATER; 모순 ..6 LATER ..4 WINS|믿*|따르*
    ^ EST|most_recent first|last $; from left|right|top|bottom|first|last to left|right|top|bottom|first|last
    WINS|trust|prefer|believe|use ..4 furthest|further|nearest|nearer|closest|closer the? very? down|up|top|bottom|end|start|beginning
    as they|it|things happened|occurred|arrived|came|unfolded|went; le|la plus récent|récente ..3 bas|haut|fin|début|dernier|premier`,

  /** what gives an order a meaning in sentences about texts */
  of_texts: `
    BEFORE ..200 AFTER; AFTER ..200 BEFORE
    sequence|sequential|sequentially|succeed|succeeds|succeeding|adjacent|contiguous|position|positions; in a row
    their|this|that|same|reading|original|given|input|listed|document|documents|natural|logical|right|correct order !to|of
    !in the order !to|of; in the order of !relevan*|simil*|score*|importan*|match*; the order of the? list|input|events|document+|sources|passages
    order matters|counts|is; in the? _ order !to|of; in order $; rank|ranks|ranked|ranking ..6 position|positions|place|order|first|last|top|means
    ORDERING by|in !the|their|your|relevan*|simil*|score*|rank|how|match*|vector*|distance|context|following|json|xml|markdown|tag*
    ORDERING according to !relevan*|simil*|score*|the|how; listed|given by !the|relevan*|simil*|score*|rank|how
    come|comes|came|appear|appears|appeared|stand|stands|stood|occur|occurs|occurred _? later|earlier|first|last|before|after|next|further|lower|higher
    is|are|was|were listed|placed|given|mentioned|shown|stated|described ..2 later|earlier|first|last|before|after|next|further|lower|higher
    OUTER|LATER ones|one? WINS; later|latter|earlier|former|preceding|subsequent TEXT|ones|one; LATER ..6 WINS
    TEXT_EN appear|appears|stand|come|are|listed|given as in the; near|nearer|nearest|close|closer|closest|towards|toward to? the very? top|bottom|beginning|end|start|front
    is|are|stand|stands|come|comes|appear|appears|listed|placed|put _? AT_END; LATER ..3 AT_END
    listed|ORDERING|given|go|goes|run|range ..4 from the? _ to the? _
    WINS over? the|all|any? LATER|OUTER TEXT|ones; WINS ..2 LATER TEXT; LATER|OUTER TEXT|ones|one ..8 WINS
    priority|precedence|preference|weight|attention to the? LATER|OUTER TEXT|ones|one|match|matches
    trust|prefer|favour|favor|believe|use|follow|take the LATER|OUTER one|of_them? $
    the later|earlier|further|higher|lower it|they|a|an|the TEXT?; before|after|above|below the _? _? one; further down|up
    each|every TEXT? overrid*|supersed*|amend*|replac*|continu*|follow*|build*|extend*|updat*
    build|builds|follow|follows on|upon|from? each_other|one_another|the_previous|the_preceding|the_last
    form|tell|make_up|makes_up|add_up_to a|one single|continuous|coherent? story|narrative|text|sequence|series|chain|queue|report|whole
    TEXT at|on|near|towards|nearer|closer|closest to? the? very? top|bottom|beginning|start|end are|is|were|was|have|has|come|count|should|may|must|WINS
    TEXT lower|higher|further down|up? are|is|were|was|have|has|come|count|should|may|must|WINS|take
    in order of !relevan*|simil*|score*|importan*|match*; none|anything|something|those|one|ones|any above|below it|them
    trust|prefer|favour|favor the? LATER|OUTER|upper ones|one|match|matches
    are|is|were|form _? _? PARTS of|from|in|NUMBER; is|are a|one|single|the long? story|transcript|log
    a|one|same|single long? text|document|book|page|story|report|conversation ..4 cut|split|divided|broken|pieces|parts|order
    least|most|lowest|highest ..3 first|last; least|most|lowest|highest ..3 to the? most|least|highest|lowest
    descending|ascending|decreasing|increasing|falling|rising ..3 !relevance _? $
    STOP ..4 as_soon_as|once|when|until; STOP ..4 at the first; AS_SOON_AS
    hör*|brich*|stopp*|lies*|lese* ..4 auf|ab|sobald|wenn|bis; 看到 ..8 就
    das|dem|die|der spätere*|frühere*|letztere*|erstere*|nachfolgende*|vorhergehende*|letzte|letzten|erste|ersten
    später kommt|steht; vient après; vient plus tard; viene después; weiter unten|oben; plus bas|haut; más abajo|arriba
    ORDER; PARTS_ABROAD
    TEXT suivant* qui? WINS; TEXT précédent*|ultérieur*|postérieur*|antérieur*|posterior|anterior|siguiente|seguinte|successivo|successiva|precedente
    последнему|последний|первому|позднему $; последнему|первому из; более поздн* $; следует|следуют друг за другом
    越 LATER; ほど LATER; 갈수록 LATER; WINS ..3 LATER 的 TEXT; WINS das zuletzt genannt*
    後|前|最後|最初|次 の 文書|資料|ドキュメント|テキスト|もの; LATER ..20 优先|優先|为准|為准|覆盖|覆蓋|取代|上書き|置き換え|우선|덮어|대체`,

  /** values listed for texts that are named by their places */
  in_turn: 'IN_TURN; in turn !NUMBER',
  /** a relevance that a search engine found is no order of the texts' own */
  relevance: `
    by|of|in|nach|der|par|de|por|per|di|по|w|efter|av ..3 relevan*|relévan*|rilevan*|pertinen*|similar*|simil*|ähnlich*|score*|релевант*|trafn*
    相关|相關|関連|相似|相性|关连|關連|관련`,
  /** an order in what somebody says about what is in sight; rules for a model speak of its steps like this */
  this_order: `
    in this|that order; in the given|same|above|listed|following|right|correct|original|stated order
    in the order given|listed|shown|above|they|i|you; in the order in which; in the order of the; in order !to|of|that|for`,
  /** the end of a line right above texts, or how they are sorted */
  head: `
    first $; on top $; last $; ROW $; ORDER|order $; ROW|PARTS ..2 of|from|de|des|der|della|do|da ..4 $; sortiert|geordnet nach; nach _ sortiert|geordnet
    trié|triés|triées|triée|classé|classés|classées par; ordenados|ordenadas por; ordinati|ordinate per
    отсортирован*; упорядочен*; 按|依|以 ..12 排序|排列; 順 $; from EST to`,
  /** `Best matches first:`, `Use these documents first:` */
  no_head: 'NO_ORDER; ^ please? use|read|consider|see|check|study',
  premise: 'PREMISE',
  hypothesis: 'HYPOTHESIS',
  /** what became of one text in another */
  change: `
    what|which|how|anything|something ..4 change|changed|changes|new|updated; change|changes between|from|made|in
    was hat? sich ..4 geändert|verändert; was wurde ..4 geändert|verändert; qué ha cambi*; WHAT_CHANGED`,
  /** texts of which two are held against each other, which names them by place */
  comparing: 'COMPARING',
  /** texts that are the subject themselves: nothing of them may be left out */
  subject: 'SUBJECT; how many COUNTED',
} as const
