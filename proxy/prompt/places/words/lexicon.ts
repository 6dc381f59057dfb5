/*
 * Classes of words, each in all languages together: languages are not told apart. `stem*` takes any ending, `noun+` a
 * plural with s, `two_words` stand in a row.
 */

const retrieved = `
  document+ doc+ source+ passage+ context+ chunk+ file+ result+ snippet+ excerpt+ extract+ article+ text+ item+ entry entries
  memory memories note+ memo+ record+ paper+ page+ paragraph+ email+ e_mail e_mails`

/** English words for retrieved texts. */
const english = `${retrieved} policy policies review+ link+ hit+ ticket+ message+ version+ amendment+ candidate+ input+ contract+`

/** Such words in other languages; some are stems. */
const abroad = `
  dokument* quelle* abschnitt* absatz* absätz* text* datei* ergebnis* auszug* auszüge* artikel* passage* fundstelle* document*
  source* extrait* fichier* résultat* article* documento* fuente* texto* pasaje* archivo* fragmento* resultado* artículo*
  extracto* fonte* trecho* passagem* arquivo* ficheiro* artigo* fonti* testo* testi* brano* brani* passagg* risultat* articol*
  estratt* frammento* bron* tekst* bestand* resulta* fragment* käll* kilde* artik* utdrag* avsnitt* źród* plik* wynik* artykuł*
  zdroj* úryv* soubor* výsled* článe* belge* doküman* kayna* meti* metn* parça* dosya* sonuc* sonuç* makale* tài_liệu nguồn*
  đoạn* văn_bản tệp* kết_quả bài* dokumen* sumber* teks* berkas* hasil* asiakirj* lähde* lähte* surs* fișier* forrás* szöveg*
  cikk* találat* документ* источник* фрагмент* отрыв* текст* файл* материал* результат* стать* статт* абзац* джерел* уривок*
  уривк* έγγραφ* εγγράφ* πηγ* κείμεν* κειμέν* αρχεί* άρθρ* مستند* وثيقة* وثيقت* مصدر* نص* ملف* مقال* نتيجة* فقرة* سند* منبع*
  متن* مدرک* নথি* উৎস* পাঠ্য* מסמך* מקור* טקסט* קטע* קובץ* מאמר* दस्तावेज* स्रोत* पाठ* अंश* फ़ाइल* लेख* परिणाम*
  文档 文檔 文件 文章 文献 文獻 文書 文本 资料 資料 来源 來源 段落 片段 结果 結果 ドキュメント 出典 記事 テキスト 문서 자료 출처 글 기사
  텍스트 เอกสาร`

export const classes: Readonly<Record<string, string>> = {
  TEXT_EN: english,
  /** Words for them in all languages, and stems that endings may follow. */
  TEXT: `${english} ${abroad}`,
  /** The same beside words of other languages; `ticket` and `version` are things there. */
  TEXT_ABROAD: `${retrieved} ${abroad}`,
  /** What counts texts in languages without spaces, and pieces. */
  PIECE: '个 個 篇 份 条 條 段 則 则 つ 件 点',
  /** Words that stand for texts in sight. */
  THEY: `
  they them their these those above below sie diese diesen dieser diesem ihre ihr ihren ihrer ihrem ihres ils elles ces leur
  leurs ellos estos su sus essi questi loro eles estes они их эти zij deze de oni te ich bunlar chúng mereka
  它们 他们 这些 這些 以下 以上 これら それら 이들 그들`,
  /** The same, and other words that are hardly said of anything else with a place. */
  KIN: `${english} reference+ pdf+ bullet+`,
  ORDINAL: `
  first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth last final penultimate next_to_last
  second_to_last second_last third_to_last third_last 2nd_to_last 2nd_last 3rd_to_last 3rd_last bottom topmost`,
  NUMERAL: 'one two three four five six seven eight nine ten',
  /** A number that counts nothing, as in `Ignore 3.` and `Does 1 or 2 say so?`; `one` is mostly a pronoun. */
  COUNT: 'two three four five six seven eight nine ten',
  /** First, second, …, last, in front of a noun or behind it, in other languages than English. */
  PLACE: `
  primer primero primera primeros primeras segund* tercer* cuart* últim* penúltim* primeir* terceir* quinto quinta quintos quintas
  quarto quarta quartos quartas quarti quarte primo prima primi prime primul primele primii primei secondo seconda secondi seconde
  terz* ultimo ultima ultimi ultime ultimul ultimele ultimii penultimo penultima al_doilea a_doua al_treilea a_treia al_patrulea
  pierwsz* drugi druga drugą drugie drugiego drugim drugiej trzeci* czwart* piąt* ostatni* przedostatni*
  перв* втор* трет* четверт* четвёрт* пятый пятая пятое пятого пятому пятой пятом пятым последн* предпоследн* перш* другий друга
  друге другого другому другій другим останн* передостанн*
  erste* zweite* dritte* vierte* fünfte* sechste* letzte* vorletzte* oberste* unterste* eerste* tweede* derde* vierde* vijfde*
  laatste* voorlaatste* premier* première* deuxième* secondes troisième* quatrième* cinquième* dernier* dernière* avant_dernier
  avant_dernière första* tredje* fjärde* femte* første* andra anden andet andre fjerde* sista siste sidste* první* druh* třetí*
  čtvrt* poslední* prvý* tretí* posledn* birinci* ikinci* üçüncü* dördüncü* beşinci* ilk sonuncu* ensimmäi* toinen* toise* kolma*
  neljä* viimei* első* második* harmadik* negyedik* utolsó* πρώτ* δεύτερ* τρίτ* τέταρτ* τελευταί* نخستین* اولین* دومین* سومین*
  آخرین* প্রথম* দ্বিতীয়* দ্বিতীয়* তৃতীয়* তৃতীয়* চতুর্থ* শেষ* पहल* दूसर* तीसर* चौथ* पाँचव* अंतिम* आखिरी* आख़िरी*`,
  /** Such words that stand behind a noun only. */
  BEHIND: `
  thứ_nhất thứ_hai thứ_ba thứ_tư thứ_năm thứ_sáu thứ_1 thứ_2 thứ_3 thứ_4 thứ_5 đầu_tiên cuối pertama kedua ketiga keempat kelima
  terakhir اول أول الأول الأولى الثان* الثالث* الرابع* الخامس* الأخير* دوم سوم چهارم آخر הראשו* השני* השליש* הרביע* האחרו*`,
  /** Next, previous, upper, lower. */
  BESIDE_ABROAD: `
  nächste* vorige* folgende* obere* untere* suivant* précédent* siguiente* anterior* seguente* precedente* seguinte* volgende*
  следующ* предыдущ*`,
  SOME: 'beiden zwei drei deux trois dos tres dois duas três due tre twee drie два две три primi',
  CHINESE_NUMBER: '一 二 两 兩 三 四 五 六 七 八 九 十 几 幾',
  /** Each of several. */
  EACH_ABROAD: `
  jede jeden jedem jeder jedes jegliche* chaque chacun* cada ogni ciascun* ognun* elk elke ieder* iedere varje hvert
  hver vart_och_ett var_och_en każd* každ* her_bir mỗi từng setiap tiap jokais* kustakin fiecare minden* mindegyik кажд* кожн* κάθε
  καθένα كل لكل هر כל לכל प्रत्येक हर`,
  EACH_ALONE: `
  chacun chacune cada_uno cada_una cada_um cada_uma ognuno ognuna ciascuno ciascuna jede jeden jedem jeder jedes ieder elk hver
  каждый каждое каждого каждую каждой каждом кожен кожного kazdy każdy każde každý`,
  /** One after the other. */
  ONE_BY_ONE: `
  line_by_line one_by_one document_by_document page_by_page step_by_step_through item_by_item side_by_side der_reihe_nach nacheinander eins_nach_dem_ander* l_une_après_l_autre l_un_après_l_autre un_par_un une_par_une un_à_un
  por_orden uno_por_uno una_por_una por_ordem em_ordem um_por_um uma_por_uma in_ordine uno_per_uno una_per_una nell_ordine
  op_volgorde op_de_volgorde een_voor_een één_voor_één i_tur_och_ordning i_rækkefølge i_rekkefølge en_i_taget en_ad_gangen
  en_om_gangen po_kolei kolejno jeden_po_drugim postupně po_pořadí jeden_po_druhém sırayla sırasıyla tek_tek lần_lượt theo_thứ_tự
  secara_berurutan satu_per_satu sesuai_urutan pe_rând în_ordine sorban egyenként sorrendben по_порядку по_очереди по_одному
  по_черзі за_порядком один_за_другим με_τη_σειρά ένα_προς_ένα بالترتيب على_حدة به_ترتیب לפי_הסדר אחד_אחד क्रम_से एक_एक
  逐一 逐个 逐個 逐篇 逐条 逐條 逐段 逐份 依次 順番に 順に 一つずつ 1つずつ 순서대로 차례대로 차례로 하나씩 문서별로 자료별로 기사별로 문서마다
  자료마다 기사마다 文書ごと ドキュメントごと 資料ごと 記事ごと ตามลำดับ`,
  /** What one gives for each text, or does with it. */
  JUDGE: `
  rate score grade rank rerank re_rank label classify tag judge assess evaluate annotate translate summarize summarise describe
  explain review paraphrase rewrite shorten title name number proofread categorize categorise extract convert merge concatenate
  join stitch sort order reorder re_order rearrange`,
  /** What is done with texts, or with what one has written. */
  HANDLE: `
  translate proofread spellcheck spell_check reverse number retell copy repeat retype rewrite rephrase paraphrase reformat format renumber rank rerank
  re_rank sort order reorder rearrange shuffle swap fix correct transcribe redact render convert`,
  HANDLE_ABROAD: `
  übersetz* korrigier* sortier* ordne formatier* formulier* traduis traduisez corrige corriger corrigez reformule reformuler
  reformulez classe classez trie triez recopie recopiez traduce traduzca traducir traduzir ordena ordene ordenalos ordenalas
  ordénalos ordénalas reescribe reescriba copia copie traduci traducete corregg* riscriv* traduza corrija reescreva переведи* исправь* отсортируй* перепиши*
  отредактируй*`,
  CHANGE_TEXT: `
  turn make convert adapt edit revise improve tighten polish shorten condense expand extend merge combine join finish complete
  continue grade mark cut`,
  /** The model's own words, and what it is asked. */
  OWN_ANSWER: `
  answer+ response+ reply replies question+ query queries output+ citation+ problem+ issue+ bug+ antwort réponse respuesta risposta
  resposta ответ`,
  FORMAT_NAME: 'json csv xml yaml sql table spreadsheet',
  PART: `
  line+ verse+ stanza+ row+ sentence+ paragraph+ slide+ chapter+ letter+ scene+ comment+ essay+ draft+ post+ entry turn+`,
  /** What a person says to have written. */
  OWN_WORK: `
  post+ essay+ story stories novel novella draft+ letter+ article+ diary journal thesis dissertation poem+ lyrics song+ script+
  screenplay manuscript chapter+ speech cv résumé resume memoir+ blog newsletter homework translation outline slides talk
  cover_letter text`,
  OWN_KIND: `
  poem+ story stories tale+ speech letter+ essay+ lyrics song+ verse+ stanza+ draft+ slides chapter+ scene+ paragraphs novel
  screenplay manuscript`,
  OWN_ROMANCE: `
  texto textos testo carta cartas lettera novela romanzo romance cuento cuentos racconto conto poema poemas poesia diario diário
  borrador bozza rascunho artículo articolo artigo discurso discorso ensayo estrofa estrofas strofe`,
  /** Says which comes later, or stands lower. */
  LATER: `
  later latter subsequent newer newest latest recent earlier earliest older oldest lower higher further_down further_up
  further_below spätere* neuere* frühere* ältere* nachfolgend* vorhergehend* letzte* erste* obere* untere* weiter_unten weiter_oben
  suivant* précédent* ultérieur* postérieur* antérieur* dernier* premier* plus_récent* plus_bas plus_haut posterior* anterior*
  siguiente* seguinte* últim* primer* primeir* successiv* precedent* ultim* reciente* recente* más_abajo más_arriba mais_abaixo
  mais_acima più_in_basso latere nieuwere eerdere laatste eerste volgende senare nyare tidigare sista senere nyere tidligere siste
  sidste поздн* последующ* предыдущ* новы* новее последн* перв* ранн* пізн* наступн* останн* późniejsz* nowsz* wcześniejsz*
  ostatni* następn* sonraki* daha_yeni önceki* sau mới_hơn trước cuối 后面 後面 靠后 靠後 较新 較新 较晚 較晚 最新 前面 靠前 最后 最後 先前
  后出现 後出現 後の 新しい 最後の 前の 最新の あとの 下の 上の 나중 이후 뒤 앞 최신 마지막 اللاحق* الأحدث* السابق* الأخير* बाद`,
  /** May say so, but mostly counts something else. */
  OUTER: 'first last top bottom previous preceding',
  /** What comes by its place in front of others. */
  WINS: `
  win wins override* overrid* overrule* supersed* takes_precedence take_precedence takes_priority take_priority has_precedence
  have_precedence has_priority have_priority prevail* trumps trump outranks outrank amends amend replaces replace counts_more
  count_more is_right is_correct is_authoritative are_right are_correct are_authoritative vorrang* überschreib* ersetz* maßgeblich*
  gehen_vor geht_vor gewinn* gilt gelten remplace* préva* priorité* annule* prime priment l_emporte l_emportent fait_foi font_foi prevalec* prevalg* reemplaza* sustituye*
  sostitui* substitu* anula* annulla* prioridad* priorità* prioridade* precedenc* precedenza* voorrang* vervang* overschrij*
  prioriteit* företräde* ersätt* forrang* erstatte* overskriv* skriver_över gäller_före belang* приоритет* пріоритет* заменя*
  замінює* отменя* важнее* преоблада* переважа* pierwszeństw* zastępuj* nadpisuj* priorytet* geçersiz_kıl önceli* yerine_geçer
  üzerine_yaz được_ưu_tiên thay_thế ghi_đè 优先 優先 为准 為准 覆盖 覆蓋 取代 上書き 置き換え 우선 덮어 대체 الأولوية يلغي تلغي يحل_محل تحل_محل
  प्राथमिकता बदल* स्थान_लेत`,
  EST: `
  cheapest dearest nearest closest farthest highest lowest largest smallest biggest shortest longest fastest slowest hardest easiest
  strongest weakest heaviest lightest youngest simplest oldest newest latest earliest`,
  /** The end of time that an order begins or ends with. */
  NEWEST: `
  oldest newest latest earliest most_recent älteste* neueste* jüngste* ältesten neuesten jüngsten`,
  ORDERING: 'sorted ordered ranked arranged',
  BY_TIME: `
  chronolog* kronologi* cronol* хронологи* χρονολογικ* aikajärjestyk* időrend* consecuti* consécuti* successive* sucesiv* sucessiv*
  successiv* successif* aufeinander_folgend aufeinanderfolgend* nacheinander opeenvolg* achtereenvolg* på_varandra_följande
  på_hinanden efter_hinanden kolejn* po_sobie ardışık* art_arda peräkkäi* vanhimmasta uusimmasta egymást_követő legrégebbi*
  legújabb* berurutan urutan_yang_sama liên_tiếp theo_thời_gian theo_thứ_tự_thời_gian последовательн* подряд послідовн*
  том_же_порядке διαδοχικ* in_succession time_line_order timeline_order 连续 連續 先后 先後 时间顺序 時間順 時系列 日付順 年代順 連続 同じ順
  この順 順番に 順番通り 古い順 新しい順 古いものから 新しいものから 연속 시간순 연대순 날짜순 최신순 같은순서 متتالي* على_التوالي ترتيبا_زمني ترتيب_زمني
  بنفس_الترتيب מהישן* מהחדש_לישן סדר_כרונולוגי* בסדר_כרונולוגי* ברצף पुराने_से_नए नए_से_पुराने कालानुक्रम* समय_के_क्रम क्रमागत* लगातार เรียงตามเวลา เรียงตามลำดับเวลา
  เก่าไป เก่าที่สุดไป ต่อเนื่อง`,
  /** A word for order itself; in English it has other uses. */
  ORDER: `
  reihenfolge* abfolge* ordre séquence orden secuencia* sequência* sequenza* ordem ordine volgorde* ordningen* rækkefølgen* rekkefølgen*
  kolejność* kolejności* pořadí* sırası* sıralama* urutan* järjestys* sorrend* ordinea* порядок порядке порядк* очередност* thứ_tự
  顺序 順序 次序 排名 並び 순서 차례 ترتيب تسلسل σειρά* सही_क्रम क्रम ลำดับ סדר_ה`,
  /** Parts of one whole, or states of one thing. */
  PARTS: `
  versions revisions drafts editions chapters instalments installments episodes scenes stages steps turns snapshots pages frames
  lessons slides verses stanzas rounds commits legs clues tabs`,
  PARTS_ABROAD: `
  versionen* fassungen* seiten_eine* seiten_aus seiten_des kapitel* des_versions pages_d chapitres versiones versões versioni páginas
  pagine capítulos capitoli versies versioner versjoner верси* страниц* глава главы wersj* verze* 版本 页 頁 章节 章節`,
  /** What is in a row by its nature. */
  ROW: `
  timeline+ time_line agenda+ itinerary steps procedure thread leaderboard+ leader_board ranking+ queue+ waiting_list chat_history
  conversation_history message_history stack_trace schedule+ playlist+ play_list changelog+ transcript+ log logs podium route
  story treasure_hunt relay hunt tour race call minutes slides poem dialogue dialog recipe function_results tool_results
  gesprächsverlauf chatverlauf protokoll historique historial cronologia storico протокол 聊天记录 对话记录 会议记录 議事録
  会話履歴 대화기록 회의록`,
  /** Reading ends. */
  ALL: 'the these those all of my both following given above provided retrieved every single',
  REARRANGE: `
  translate combine merge concatenate join stitch cluster group partition split dedupe deduplicate proofread rank rerank re_rank sort order reorder re_order rearrange convert classify
  label number rate score grade tag`,
  /** What texts are, said of each of them: `each document has a title`. */
  BEING: `
  is are was were has have had contain+ include+ start+ begin+ come+ consist+ may might can could belong+ represent+ correspond+
  carries bears stand+ will_be`,
  COMES: 'comes shows follows follow plays speaks stands ranks',
  CHOICE_OF: 'one answer response draft translation summary candidate completion',
  OF_THESE: 'of_these of_those of_them of_the',
  GIVEN: 'above below given provided retrieved in_the_list in_the_context in_this_list',
  /** Where a list ends or begins. */
  AT_END: `
  on_top at_top at_head at_the_top on_the_top at_the_very_top at_the_bottom at_the_very_bottom at_the_end at_the_very_end
  at_the_beginning at_the_start at_the_head at_the_front`,
  CALLING: 'about ignore open skip show use using does do did only',
  OR: 'or and oder und ou et o y e или і eller of lub nebo veya hoặc atau',
  NOT_OF_TEXTS: 'from in of based using by with to for on that',
  SAY: 'mention say contain describe support state answer discuss talk cover are speak agree contradict',
  STOP: 'stop halt quit cease finish end read look search go',
  AS_SOON_AS: `
  as_soon_as sobald dès_qu* jusqu* en_cuanto hasta_que assim_que até_que appena finché zodra totdat så_snart jakmile gdy_tylko
  segera_setelah olur_olmaz как_только пока_не щойно ngay_khi 一旦 直到 就停止 即停止 見つけたら 見つけ次第 わかり次第 まで読 하자마자 찾으면 멈추 بمجرد
  حتى_تجد ברגע_ש जैसे_ही ทันทีที่`,
  TO_NEXT: `
  zum_nächsten zur_nächsten au_suivant à_la_suivante al_siguiente a_la_siguiente al_successivo alla_successiva ao_seguinte
  naar_het_volgende till_nästa til_det_næste do_następnego bir_sonrakine к_следующему до_наступного 到下一 次の文書へ 다음문서로`,
  IN_TURN: `
  respectively in_that_order jeweils der_reihe_nach respectivement tour_à_tour respectivamente rispettivamente respectievelijk
  respektive odpowiednio sırasıyla соответственно відповідно lần_lượt masing_masing 依次 分别是 分别为 分別是 分別為 それぞれ 각각 على_التوالي בהתאמה
  क्रमशः ตามลำดับ αντίστοιχα*`,
  NO_ORDER: `relevan* relévan* rilevan* pertinen* simil* ähnlich* score* match* confidence* best 匹配 类似 類似 相似 相关 相關 関連`,
  WHAT_CHANGED: `
  changelog diff evolve evolved evolution änderungen* qu_est_ce_qui_a_changé ce_qui_a_changé ce_qui_ont_changé qué_cambi* o_que_mudou
  cosa_è_cambiat* что_изменилось что_поменялось 变化 變化 改变 变更 変更 変わ 달라 변경`,
  COMPARING: `
  compar* contrast* contradict* entail* agree* conflict* paraphras* plagiar* duplicat* identical the_same differ* in_common both
  either neither versus vs better vergleich* untersch* widersprech* identisch gleich différen* même contredi* diferen* mismo mismos
  misma mismas mesmo mesmos mesma mesmas confront* differenz* stesso stessi vergelijk* verschil* jämför* skillnad* sammenlign*
  forskel* porówna* różni* porovn* karşılaştır* сравн* отлич* разниц* порівня* so_sánh khác bandingkan perbedaan 比较 比較 区别 區別
  不同 相同 矛盾 比べ 比較 違い 同じ 비교 차이 같은 قارن الفرق השווה* הבדל* तुलना अंतर เปรียบเทียบ ต่างกัน`,
  /** The texts are the subject themselves: compared, quoted, counted. */
  SUBJECT: `
  compar* contrast diff quote quotes quoting quotation quotations verbatim word_for_word literally count how_often how_frequently
  word_count copy repeat repeats repeated identical the_same exact_wording exact_words differ differs different difference
  differences unique most_often least_often most_frequent least_frequent most_frequently most_common least_common duplicat* plagiar*
  overlap* in_common wörtlich zähl* wie_viele_wörter wie_viele_dokumente wie_oft vergleich* mot_à_mot compte compter comptez
  combien_de_mots combien_de_documents combien_de_fois textualmente cuenta cuente cuántas_palabras cuántas_veces quantas_vezes
  quante_volte conta quante_parole quantas_palavras дословно сосчитай сколько_слов сколько_документов сколько_раз сравн* 逐字 原文引用
  多少字 多少词 多少个字 多少个词 多少個字 比较 比較 引用して 何文字 何回 多少次 几次 몇번 数え 비교 글자수`,
  COUNTED: `
  word+ time+ character+ letter+ sentence+ line+ paragraph+ occurrence+ document+ passage+ source+ clause+`,
  PREMISE: 'premise* prämisse* prémisse* premis* посылк* пересил* 前提 전제',
  HYPOTHESIS: 'hypothes* hypothèse* hipótesis hipótese ipotesi* hipotez* hypotéz* гипотез* 假设 假設 仮説 가설',
  BEFORE: 'before vorher zuvor avant antes prima voor före før przed öncesi до trước sebelum 之前 以前 変更前 이전',
  AFTER: `
  after nachher danach après después depois dopo na efter etter po sonrası после sau sesudah 之后 之後 以后 以後 変更後 이후`,
  ADDED: `
  added adds addition+ inserted new newer hinzugefügt* neu_hinzu hinzugekommen* ajouté* añadi* agrega* adiciona* acrescent*
  aggiunt* toegevoegd* tillagt* tilføjet* lagt_til lagts_till doda* přidá* eklen* добавл* додан* thêm* ditambah* 新增 增加 添加
  追加 추가 أضيف* נוסף* जोड़ा`,
  REMOVED: `
  removed removes removal+ deleted deletion+ dropped old older entfernt* gestrichen* weggefallen* entfallen* supprimé* retiré*
  enlevé* elimina* quitad* suprimid* removid* retirad* rimoss* tolto* verwijderd* borttag* tagits_bort fjernet* usuni* odstran*
  kaldırıl* çıkarıl* silin* удал* убра* исключ* вилуч* xoá* xóa* bỏ* dihapus* 删除 刪除 移除 去掉 减少 削除 삭제 حذف* הוסר* हटाया`,
  ORIGINAL: `
  original source_text draft reference gold ground_truth ursprünglich* originaux originale originaux originales originals originalen
  оригинал* 原文 원문`,
  REVISED: `
  translation translated revised revision rewritten edited candidate prediction generated paraphrase paraphrased summary
  übersetzung überarbeitet* traduction révisé révisée traducción revisado revisada traduzione перевод* 译文 譯文 翻訳 번역`,
  DOCUMENT: 'text document passage version answer response dokument texte documento testo документ текст',
  WHICH: `
  welche welcher welches welchem welchen quel quels quelle quelles lequel laquelle qué cuál cuáles qual quale quali quais welk welke
  vilket vilken vilka hvilket hvilken hvilke któr* kter* hangi mana какой какая каком какие каких какому якому який яка ποιο* أي
  איזה* כאיזה* कौन किस 哪 那 何 どの 어느 어떤`,
  DATA_FORMAT: `
  json json5 jsonl python_list python_dict* yaml yml toml csv tsv xml protobuf array+ dict dictionary dictionaries tuple+ 数组 數組 配列 배열 مصفوفة массив* масив*`,
  TABLE: 'tabelle* tableau* tabla tabela* tabell* таблиц* 表格 表形式 جدول טבלה* सारणी',
  REPLY: 'answer reply respond return output print give say choose pick select end finish',
  ONE: 'one a an the its their',
  UNIT: 'digit digits numeral integer letter index indices indexes id ids character number numbers token',
  NAMING: 'by with print return output give write',
  ONE_ABROAD: `
  ein einer eine_einzige einzelne nur ausschließlich lediglich mit un_seul une_seule uniquement seulement juste par_un par_une d_un
  avec_un avec_une solo sola sólo solamente únicamente soltanto apenas somente só un_solo una_sola un_único una_única um_só uma_só
  um_único uma_única con_un com_um`,
  UNIT_ABROAD: `
  dokumentnummer quellennummer index buchstabe buchstaben wort indice indices chiffre nombre
  lettre mot índice índices indici dígito cifra letra lettera palabra palavra parola cijfer getal letter
  siffra ciffer tal bokstav cyfr* liter* rakam* angka huruf`,
  CITING: `
  cite cites cited citing citation+ referenc* refer_to attribut* footnote+ source_used sources_used source_number+ source_id+
  mark_each mark_every mark_the mark_your zitier* zitat* quellenangabe* beleg* verweis* citez citer référenc* cita citar citas citação
  citações citazion* referencia referência riferiment* citeer verwijs* hänvisa henvis cytuj przypis citujte alıntı kaynak цитир*
  ссыл* сноск* посилан* trích_dẫn kutip sitasi 引用 标注 標註 角标 脚注 出典 参照 인용 각주 استشه* مرجع* उद्धर* อ้างอิง παραπομπ*`,
  IN_OTHER_WORDS: `
  translation+ translated summaries_of the_same_in in_other_words respectively übersetz* dasselbe_auf traduc* tradução traduzion*
  vertaling* перевод* 翻译 翻訳 번역`,
  SHOWING: `
  cite cites cited citing quote quotes quoted quoting quotation+ example+ e_._g for_instance such_as like_this like_so like_[ bracket+
  format formatted notation marker+ zitier* klammer klammern beispiel* z_._b formato+ referenci* cita citas citar citaci* citaz*
  引用 例如 格式 标注 のように のような 形式 예를들어 형식`,
  NUMBER_WORD: 'number+ id ids index indices indexes ordinal+',
  /** In other languages such words stand for hardly anything else beside words for texts. */
  NUMBER_ABROAD: `
  nummer nummern zahl ziffer numéro+ rang número+ numero numeri nummers nummeret nummerene numret numre numer* čísl*
  numara* номер* số nomor* αριθμ* رقم* संख्या क्रमांक מספר*`,
  ASKING: `
  by with using via name list give state mention report return indicate provide include output print add write put append then are track_of through
  per mit über nenne gib par avec indique donne por con com indica tramite via door po по указыв* укаж*`,
  ARTICLE: `
  the its their your a all of der die den ihre ihrer ihren ihrem deren leur leurs le les son sa su sus el los o os seu seus il i loro de
  hun`,
}
