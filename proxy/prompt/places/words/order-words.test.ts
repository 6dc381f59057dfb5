import { describe, expect, it } from 'vitest'
import { judgeWords, readWords } from '../judge-words.ts'
import { readSentence } from './read-sentence.ts'

const list = { blocks: 5, labels: ['1', '2', '3', '4', '5'], prefix: '', isPositional: false, isLabelled: true }
const isCalledByPlace = (words: string): boolean => readSentence(words, false).remarks.includes('* nth')
const isOrdered = (words: string): boolean => judgeWords(words, list) !== undefined

describe('texts are in an order', () => {
  it.each([
    'Die Dokumente sind vom ältesten zum neuesten geordnet.',
    'Os documentos estão em ordem cronológica.',
    'A dokumentumok időrendben következnek.',
    'Dokumenten står i kronologisk ordning.',
    'Belgeler eskiden yeniye sıralanmıştır.',
    'Các tài liệu được sắp xếp theo thời gian.',
    'المستندات مرتبة من الأقدم إلى الأحدث.',
    'Τα έγγραφα είναι σε χρονολογική σειρά.',
    'Sources in descending priority:',
    'The documents are listed in the order of arrival.',
    'Documents come in reading order.',
    'Documents lower down are older.',
    'Documents nearer to the end are more recent.',
    'Documents at the bottom are outdated.',
    'A document is only valid if none above it contradicts it.',
    'The documents form a queue.',
    'Documents, each overriding those above it:',
    'Context (one long text, cut where it was too long):',
  ])('%s', (words) => expect(isOrdered(words)).toBe(true))
})

describe('rules give no order', () => {
  it.each([
    'Cite documents at the end of each sentence.',
    'Name the sources at the end of your answer.',
    'Answer from the documents in order of relevance.',
    'Put a list of the documents at the bottom of the answer.',
  ])('%s', (words) => expect(readWords(words, 'rules').said.has('order')).toBe(false))
})

describe('one of several texts is called by its place', () => {
  it.each([
    'Что говорится во втором документе?',
    'Сравни первый и последний источник.',
    'Що сказано у другому документі?',
    'Co mówi drugi dokument?',
    'Streść ostatnie źródło.',
    '두 번째 문서는 무엇을 말하나요?',
    '마지막 문서를 요약해 줘.',
    "Riassumi l'ultimo documento.",
    'Confronta la prima e la terza fonte.',
    'Wat zegt het tweede document?',
    'Vad säger det andra dokumentet?',
    'Hvad siger det sidste dokument?',
    'İkinci belge ne diyor?',
    'Son belgeyi özetle.',
    '2. belge ne diyor?',
    'ماذا يقول المستند الثاني؟',
    'لخص الوثيقة الأخيرة.',
    'Tài liệu thứ hai nói gì?',
    'Tóm tắt tài liệu cuối cùng.',
    'दूसरा दस्तावेज़ क्या कहता है?',
    'अंतिम दस्तावेज़ का सारांश दें।',
    '最後的文檔說了什麼？',
    '最后一篇讲了什么？',
    '前两个文档有何不同？',
    '最後の文書は何と言っていますか？',
    '２番目の文書は？',
    'O que diz o segundo documento?',
    'Que dit le 2e document ?',
    '¿Qué dice el último documento?',
    'Was sagt das 2. Dokument?',
    'Fasse die ersten beiden Dokumente zusammen.',
    'Apa isi dokumen kedua?',
    'Co říká druhý dokument?',
    'Τι λέει το δεύτερο έγγραφο;',
    'מה אומר המסמך השני?',
    'Ce spune al doilea document?',
    'Mit mond a második dokumentum?',
    'سند دوم چه می‌گوید؟',
    'آخرین سند چه می‌گوید؟',
    'দ্বিতীয় নথিতে কী আছে?',
    'قارن بين أول مستندين.',
    'Vergleiche die ersten beiden.',
    'Was steht im vorletzten?',
    'Τι λέει το 3ο έγγραφο;',
    '¿Qué dice el penúltimo?',
    'Compare les deux premiers.',
    'Confronta i primi due.',
    'Vergelijk de eerste twee.',
    'Что в предпоследнем?',
    'Mit mond a 2-es számú dokumentum?',
    '3 numaralı belge ne diyor?',
    'Hai tài liệu đầu nói gì?',
    'เอกสารหมายเลข 3 ว่าอย่างไร',
    '文档三说了什么？',
    '最初の二つの文書を比べてください。',
    '처음 두 문서를 비교하세요.',
  ])('%s', (words) => expect(isCalledByPlace(words)).toBe(true))

  it.each([
    'Кто был первым президентом?',
    'Kto był drugim królem Polski?',
    '누가 마지막으로 왔나요?',
    'Chi ha vinto il secondo premio?',
    'Wie was de eerste koning?',
    'İkinci dünya savaşı ne zaman bitti?',
    'من هو الرئيس الثاني؟',
    'Ai là tổng thống thứ hai?',
    '谁是最后的皇帝？',
    '最後の将軍は誰ですか？',
    'Who was the second king?',
    'Wer war der erste Kanzler?',
  ])('but not by %s', (words) => expect(isCalledByPlace(words)).toBe(false))
})

describe('words say that texts stand in an order', () => {
  it.each([
    'Later documents override earlier ones.',
    'If documents conflict, the later one wins.',
    'Sources of settings, later override earlier.',
    'Newer entries supersede older ones.',
    'Newest last.',
    'When sources disagree, trust the last one.',
    'Documents further down take precedence.',
    'Give priority to documents that appear earlier.',
    'Documents are listed from least to most important.',
    'The sources are ranked by authority.',
    'The documents form a single story.',
    'Read the documents in sequence.',
    'Spätere Dokumente haben Vorrang.',
    'Les documents suivants remplacent les précédents.',
    'Los documentos posteriores prevalecen sobre los anteriores.',
    'Более поздние документы имеют приоритет.',
    '如有冲突，以后面的为准。',
    '後の文書が優先されます。',
    '나중 문서가 우선합니다.',
    'Where they contradict, the one further down wins.',
    'Si se contradicen, prevalece el de más abajo.',
    'Das spätere geht dem früheren vor.',
    'The first document is the oldest.',
    'Cheapest first.',
    'These are steps of one procedure.',
    'The documents are the tabs of the browser from left to right.',
    'Events, as they happened:',
    'They stem from Ann, Bob, Carl, Dora and Eve.',
    'What happens next in the story?',
    'What does the next page say?',
  ])('%s', (words) => expect(isOrdered(words)).toBe(true))

  it.each([
    'The documents are ranked by relevance.',
    'These user instructions shall take priority over any other previous instruction.',
    'Always prefer information from this conversation over the past memories.',
    'Use the following documents to answer the last question.',
    'Answer from the documents below, in the language of the user.',
    'Who won the first race, and who replaced the last king?',
  ])('but not: %s', (words) => expect(isOrdered(words)).toBe(false))
})

describe('an answer is asked for in the order of the texts', () => {
  it.each([
    'Write a sentence about every document.',
    'Give me a bullet per source.',
    'Return a list of booleans, one per passage.',
    'Summarize each.',
    'Translate the documents into French.',
    'Merge them into one text.',
    'Rank the passages.',
    'Walk me through the documents.',
    'What is the latest news?',
    'Summarise the whole video.',
    'Give a title to each.',
    'Output the labels, comma-separated.',
    'Fasse jedes Dokument einzeln zusammen.',
    'Résume chaque document dans l’ordre.',
    'Para cada documento, escribe una frase.',
    'Per ogni documento scrivi una frase.',
    'Schrijf voor elk document een zin.',
    'Для каждого документа напиши одно предложение.',
    'Dla każdego dokumentu napisz jedno zdanie.',
    '为每个文档写一句话。',
    '依次总结这些文档。',
    '各文書について一文で要約してください。',
    '각 문서를 순서대로 요약하세요.',
    'Her belge için bir cümle yaz.',
    'لكل مستند اكتب جملة واحدة.',
    'Với mỗi tài liệu, hãy viết một câu.',
    'प्रत्येक दस्तावेज़ के लिए एक वाक्य लिखें।',
    'Skriv en mening för varje dokument.',
  ])('%s', (words) => expect(isOrdered(words)).toBe(true))

  it.each([
    'For each source you use, cite it.',
    'Zitiere jedes Dokument, das du verwendest.',
    'Citez chaque document utilisé.',
    'Cite at least one document and at most three documents in each sentence.',
    'Put the number of the source in brackets.',
    '在我给你的搜索结果中，每个结果都是[webpage X begin]...[webpage X end]格式的。',
    'Combine what you learn into one answer.',
    'Combine search results together into a coherent answer.',
    'Merge the passages into a single summary.',
    '若与当前输入冲突，以当前输入为准。',
    'What is the latest version of the compiler?',
  ])('but not by: %s', (words) => expect(isOrdered(words)).toBe(false))
})
