import { describe, expect, it } from 'vitest'
import { isMappedForm } from '../../answer/citations/mapped-forms.ts'
import { expectLinear } from '../../http/bounds/linear-time.fixture.ts'
import { findParallelLists } from './find-parallel-lists.ts'
import { judgeWords } from './judge-words.ts'

const labels = ['1', '2', '3', '4']
const numbered = { blocks: 4, labels, prefix: '', isPositional: true }
const unlabelled = { ...numbered, isPositional: false }
const pair = { ...unlabelled, blocks: 2, labels: labels.slice(0, 2) }

describe('a list stays for a task of a system prompt, for each text', () => {
  it.each([
    'Rate each passage for relevance from 0 to 10.',
    'Score every document between 0 and 1.',
    'For all passages, print a relevance grade.',
    'Output a list of relevance scores, one for each document.',
    'Summarize each of the documents in one sentence.',
    'Give every text a title.',
    'Assign a label to each document.',
    'Translate every passage into French.',
    'Write one heading per document.',
    'Return one keyword for every passage.',
    'Your job is to classify the documents as spam or not; print the classes in the order of the input.',
    'Print the scores in the order of the documents.',
    'Bewerte jedes Dokument mit einer Zahl von 0 bis 10.',
    'Gib für jedes Dokument eine Überschrift aus.',
    'Fasse jede Passage in einem Satz zusammen.',
    'Attribue une note à chaque document.',
    'Donne un titre à chaque passage.',
    'Résume chaque document en une phrase.',
    'Puntúa cada documento del 0 al 10.',
    'Resume cada texto en una línea.',
    'Dê uma nota a cada documento.',
    'Assegna un punteggio a ogni documento.',
    'Оцени каждый документ по шкале от 0 до 10.',
    '为每个文档打分。',
    '给每篇文档写一个标题。',
    '请对每个文档进行评分，按文档顺序输出。',
    '各文書に点数をつけてください。',
    '各文書を一文で要約してください。',
    '각 문서에 점수를 매기세요.',
    'Geef elk document een cijfer.',
    'Oceń każdy dokument w skali 0-10.',
    'Her belgeye 0 ile 10 arasında puan ver.',
    'قيّم كل مستند من 0 إلى 10.',
    'Label the documents positive or negative, one per line.',
    'You are a reranker. Emit the relevance of the passages as comma-separated values.',
    'Extract the date of each document and print the dates in sequence.',
    'Say for each document whether it is relevant (yes or no).',
    'Print yes or no per document.',
    'Judge whether each passage supports the claim.',
    'List a sentiment for every review, in their order.',
    'Evaluate the usefulness of all sources on a scale of 1 to 5.',
    'Cluster the documents into themes.',
    'Bewerte die Relevanz aller Dokumente.',
    'Оцени все документы от 0 до 10.',
    '给所有文档按相关性打分。',
    '全文書を0〜10で採点してください。',
    '모든 문서에 점수를 쉼표로 구분해 출력하세요.',
    'Bei Widersprüchen zählt, was zuletzt kommt.',
    "En cas de contradiction, c'est le dernier cité qui compte.",
    'Si hay contradicciones, vale lo último que se dice.',
    'Nếu mâu thuẫn, tin cái sau cùng.',
    'Output four numbers.',
    'Reply with 4 letters.',
    'The authors are Ann, Bo, Cy and Di.',
    'If two documents disagree, go with whichever was given to you first.',
    'If two documents disagree, the newest entry (at the bottom) applies.',
    'The documents are pieces of one larger document.',
    'The texts were cut from one file.',
    'Answer from the documents. List the names in order of appearance.',
  ])('%s', (words) => expect(judgeWords(words, unlabelled, 'rules')).toBeDefined())
})

describe('a list stays for tasks, orders, roles, values in turn and names in a message', () => {
  it.each([
    'Extract one keyword from every document. Print the keywords, separated by semicolons.',
    'Give me a one-line summary of each.',
    'For each text, name the author.',
    'Name a colour for every passage.',
    'Tell me what each document is about.',
    'List the topics of the documents in order.',
    'What is the sentiment of each review?',
    'Write a headline above each document.',
    'Nenne zu jedem Dokument ein Stichwort.',
    'Un mot-clé par document, séparés par des virgules.',
    'Una palabra clave por documento.',
    'По одному ключевому слову на каждый документ.',
    '每个文档一个关键词，用分号分隔。',
    '各文書からキーワードを1つ抽出してください。',
    'If documents contradict each other, trust the one that comes later.',
    'When in doubt believe the later document.',
    'The order of the documents matters.',
    'Their sequence is meaningful.',
    'Documents are ranked; the rank is the position.',
    'These are consecutive pages of a book.',
    'These documents are successive versions of one page.',
    'Summarise what changed from one document to the next.',
    'Stop reading as soon as a document answers the question.',
    'Stop at the first document that answers.',
    'Read the documents until you find the answer, then stop.',
    'Use only the first document that is relevant.',
    'The passages follow one another in the original text.',
    'Each document continues the previous one.',
    'The documents are listed from best to worst.',
    'The documents are sorted by date.',
    'Earlier documents have priority over later ones.',
    'What comes last overrides what comes first.',
    'The texts are in chronological order.',
    'Tell the story in the order of the documents.',
    'The most important document is at the top.',
    'Documents nearer the top are more reliable.',
    'The documents are pages 3 to 6 of the manual.',
    'How did the policy evolve over these versions?',
    'Bei Widersprüchen gilt das spätere Dokument.',
    'Die Reihenfolge der Dokumente ist wichtig.',
    'Das sind aufeinanderfolgende Seiten eines Buches.',
    'Die Dokumente sind aufeinanderfolgende Fassungen einer Seite.',
    'Was hat sich von einem Dokument zum nächsten geändert?',
    'Hör auf zu lesen, sobald ein Dokument die Frage beantwortet.',
    "L'ordre des documents compte.",
    "Ce sont des pages consécutives d'un livre.",
    'En cas de contradiction, fie-toi au document qui vient après.',
    "Arrête de lire dès qu'un document répond à la question.",
    'El orden de los documentos importa.',
    'Son páginas consecutivas de un libro.',
    'Si se contradicen, confía en el documento posterior.',
    'Deja de leer en cuanto un documento responda.',
    'A ordem dos documentos importa.',
    "L'ordine dei documenti è importante.",
    'Порядок документов важен.',
    'Это последовательные страницы книги.',
    'Если документы противоречат друг другу, верь последнему.',
    '文档的顺序很重要。',
    '这些是一本书的连续页面。',
    '如果文档互相矛盾，以后面的为准。',
    '一旦有文档回答了问题就停止阅读。',
    '文書の順序は重要です。',
    'これらは本の連続したページです。',
    '矛盾する場合は後の文書を信用してください。',
    '문서의 순서가 중요합니다.',
    'De volgorde van de documenten is belangrijk.',
    'Kolejność dokumentów ma znaczenie.',
    'Belgelerin sırası önemlidir.',
    'ترتيب المستندات مهم.',
    'Describe what was added and what was removed.',
    'List additions and deletions.',
    'What is in the new one that was not in the old one?',
    'The first is the premise, the other the hypothesis.',
    'Is the hypothesis entailed by the premise?',
    'One text is the draft, the other the revised text. What improved?',
    'Beschreibe, was hinzugefügt und was entfernt wurde.',
    'Décris ce qui a été ajouté et ce qui a été supprimé.',
    'Describe lo añadido y lo eliminado.',
    'Что было добавлено и что удалено?',
    '说明新增了什么、删除了什么。',
    '何が追加され、何が削除されたか説明してください。',
    'Their publishers are, in turn: mill office, salt guild, ferry board, bee club.',
    'The documents were written by Ann, Bob, Carl and Dora respectively.',
    'Authors: Ann Lee, Bob Ray, Carl Day, Dora May.',
    'Die Autoren sind der Reihe nach: Ann, Bob, Carl, Dora.',
    'Les auteurs sont respectivement Ann, Bob, Carl et Dora.',
    '作者依次是：甲、乙、丙、丁。',
    'Dates of the documents: 2001; 2004; 2003; 1999.',
    'What does the second document say?',
    'Ignore the last one.',
    'Which document answers it best?',
    'Which of the documents mentions slate?',
    'Quote the third text.',
    'In welchem Dokument steht das?',
    'Quel document parle de sel ?',
    '¿Qué documento habla de la sal?',
    '哪个文档提到了盐？',
    'どの文書に書いてありますか？',
    'Summarise document 2.',
    'Compare documents 1 and 3.',
    'What does number 4 say?',
    'Is the answer in text 2?',
    'Read them from first to last.',
    'Résume-les dans l’ordre.',
    'Resúmelos en orden.',
    'Что говорит предпоследний?',
    'ماذا يقول الثاني؟',
    'استخدم أول اثنين فقط.',
    '上から二つだけ使ってください。',
  ])('%s', (words) => expect(judgeWords(words, unlabelled, 'message')).toBeDefined())
})

describe('a list stays for data, bare numbers and forms of citation', () => {
  it.each([
    'Reply with a JSON object {"answer": string, "sources": number[]}; sources are the numbers of the documents used.',
    'Answer as YAML with the keys answer and sources.',
    'Antworte als JSON mit den Schlüsseln antwort und quellen.',
    'Réponds en JSON.',
    'Responde en formato JSON.',
    'Ответь в формате JSON.',
    '请以JSON格式回答。',
    'JSON形式で答えてください。',
    'JSON 형식으로 답하세요.',
    'Return a CSV row: answer,source.',
    'Put the answer in <answer> and the source numbers in <sources> tags as XML.',
    'Give the result as a Markdown table.',
    'Respond in TOML.',
    'Respond with {"a": "...", "s": [1, 2]}.',
    'Return an array of source numbers.',
    'Reply with one digit.',
    'You will see candidate documents. Pick the best one for the query.',
    'Answer with a single number.',
    'Answer with the number of the document only.',
    'Reply with just the index.',
    'Answer 1, 2, 3 or 4.',
    'Give only the ID.',
    'Print a single digit and nothing else.',
    'Answer with one letter.',
    'Antworte mit einer Ziffer.',
    'Réponds par un seul chiffre.',
    'Responde con un solo dígito.',
    'Rispondi con una sola cifra.',
    'Ответь одной цифрой.',
    '只回答一个数字。',
    '数字だけで答えてください。',
    '숫자 하나로만 답하세요.',
    'Antwoord met één cijfer.',
    'Odpowiedz jedną cyfrą.',
    'Name the snippets used by their source ID.',
    'Cite sources in parentheses, e.g. (1).',
    'Cite as {1}.',
    'Use superscripts such as ¹ to cite.',
    'Cite as ^1^.',
    'End with SOURCES: followed by the numbers of the documents used.',
    'List the numbers of the documents you used at the end.',
    'At the end, write "Used: 1, 3".',
    'Reference them as #1.',
    'Cite as [1](#1).',
    'Add a line "Quellen: 1, 3" at the end.',
    'Mark each sentence with <sup>n</sup>.',
    'Cite as [S1].',
    '引用时使用「1」的格式。',
    'Cite as «1».',
    'Cite as src-1.',
    'Cite your sources as superscript numerals, like this: salt is grey^2.',
    'Mark claims with footnote markers *1, *2 and so on.',
    'Quote sources as "D3".',
    'Put the document number between pipes, |3|.',
    'Cite with circled digits such as ③.',
    'Link to the source, e.g. [salt](#doc-3).',
    'Finish with a line "SOURCE=<number>".',
    'Indicate which passage supports each claim by its ordinal.',
    'Quellen bitte als hochgestellte Zahl angeben.',
    'Indiquez la source par son rang dans la liste.',
    'Vermeld het nummer van de gebruikte bron.',
    'Return an object with keys answer and source.',
    'The field "cited" lists the chunks used.',
    'Choose the passage that answers the question. Put its number in <answer></answer>.',
    'Group the passages by topic. Use their numbers.',
    'Mention the numbers of the ones you relied on.',
    'Nenne die beste Passage. Ihre Nummer genügt.',
    'What insights can you infer? (example format: insight (because of 1, 5, 3))',
    'Cite as № 1.',
  ])('%s', (words) => expect(judgeWords(words, numbered, 'rules')).toBeDefined())
})

describe('a list without labels stays where its texts are to be cited by number', () => {
  const bare = { ...unlabelled, labels: [], isLabelled: false }
  it.each([
    'Cite sources as [1], [2].',
    'Cite the documents as D1, D2.',
    'Refer to a source as {n}.',
    'End with the number of the document that you used.',
    'Choose a passage. Put its number in <answer></answer>.',
  ])('%s', (words) => expect(judgeWords(words, bare, 'rules')).toBe('numbers'))

  it.each([
    'Cite sources as [file.md].',
    'Cite by id, as in [DOC_ID:f6962c8007].',
    "Don't cite the source id in the answer.",
    'Answer in 3 sentences.',
  ])('but not beside: %s', (words) => expect(judgeWords(words, bare, 'rules')).toBeUndefined())
})

describe('a numbered list stays beside a message that may be answered by a number or a place', () => {
  it.each([
    'Give me the index of the most relevant passage, nothing else.',
    'Which passage number is best?',
    'Pick the best passage.',
    'Are any of these about salt? If so, which?',
    'What is the topic of the document in the middle?',
    'Summarise the first half of the documents.',
    'Who is mentioned first, the sisters or the beekeepers?',
    'What is mentioned immediately after the mills?',
    'Which passages came before the one about the ferry?',
    'The later a document comes, the more recent it is.',
    'The list is ordered by importance.',
    'One headline for each of the above.',
    'Welche Nummer hat das Dokument über Salz?',
    'Welches Dokument steht an zweiter Stelle?',
    'Sind die Dokumente nach Wichtigkeit sortiert?',
    'Quel document vient en dernier ?',
    'Donne un titre à chacun de ces textes.',
    '¿Cuál es el documento más relevante? Indica su número.',
    'Qual documento fala do sal? Responda com o número.',
    'Numero del documento rilevante?',
    'Welk document gaat over zout? Geef het nummer.',
    'Vilket dokument handlar om salt? Ange numret.',
    'Który dokument mówi o soli? Podaj numer.',
    'Hangi belge tuzdan bahsediyor? Numarasını yaz.',
    'Какой документ про соль? Дай номер.',
    '哪一篇文档提到了盐？给出编号。',
    'どの文書が塩について述べていますか？番号で答えてください。',
    '어느 문서가 소금을 다루나요? 번호로 답하세요.',
    'أي مستند يتحدث عن الملح؟ اذكر رقمه.',
    'कौन सा दस्तावेज़ नमक के बारे में है? संख्या बताइए।',
    // whatever the language of the labels
    'Что сказано в документе 2?',
    '¿Qué dice el documento 2?',
    'Belge 2 ne diyor?',
    'Vad säger källa 2?',
  ])('%s', (words) => expect(judgeWords(words, numbered, 'message')).toBeDefined())
})

describe('a list stays for two texts held against each other', () => {
  it.each([
    'Do both texts say the same?',
    'Which of the two is better?',
    'What is the difference?',
    'Compare the two contracts.',
    'Was unterscheidet die beiden?',
    'Quelles sont les différences ?',
  ])('%s', (words) => expect(judgeWords(words, pair, 'message')).toBeDefined())
})

describe('a list stays for a number that is asked about behind an example', () => {
  it.each([
    'For example, cite [1]. Does document 2 say why?',
    'For instance, bees dance. Does document 2 say why?',
    'Name a city, for example "Lima". Is document 2 right about Peru?',
    'For example, rivers. Please quote document 2.',
    'Is the #1 paper right?',
  ])('%s', (words) => expect(judgeWords(words, unlabelled)).toBe('named'))
})

describe('a list moves beside rules for an answer', () => {
  it.each([
    'Answer in four sentences.',
    'If documents conflict, say so, and prefer none.',
    'Bei Widersprüchen nenne beide Ansichten.',
    'You are a helpful assistant. Answer from the documents and cite them as [1].',
    'Answer the question using only the provided context. If you do not know, say so.',
    'Cite the sources you use in brackets, like [1] or [2].',
    'Think step by step.',
    'Follow these rules:\n1. Be brief.\n2. Be kind.\n3. Cite as [1].\n4. Never guess.',
    'Each document has a title and a text.',
    'Every source has a name followed by colon and the actual information, always include the source name for each fact you use.',
    'Keep your answer to three sentences at most.',
    'Always cite each document you use.',
    'The documents are sorted by relevance.',
    'Answer in the language of the question.',
    'Du bist ein hilfreicher Assistent. Antworte nur aus den Dokumenten und zitiere sie als [1].',
    'Tu es un assistant. Réponds uniquement à partir des documents et cite-les comme [1].',
    'Responde usando solo los documentos y cita como [1].',
    'Отвечай только по документам и ссылайся на них как [1].',
    '仅根据文档回答，并以[1]的形式引用。',
    '文書だけに基づいて答え、[1]のように引用してください。',
    'First read the question, then answer it. In order to be helpful, be concise.',
    'You will be given several passages. Use them to answer.',
    'If the context contains no answer, reply "I don\'t know".',
    'Do not answer in JSON.',
    'Today is 2026-11-26.',
    'Use at most 2 documents.',
    'Be precise. Numbers, dates and names must be exact.',
    'Use Markdown where it helps: headings, lists and tables.',
    'You are given the top 4 passages of a search. Write a short answer.',
    'Documents may be outdated: prefer recent information.',
    'If documents contradict each other, say so.',
    'Never mention the documents themselves.',
    'You are a bot. 1. Answer only from the documents. 2. Be concise. 3. Cite sources as [1].',
    'Think step by step. First read the documents, then answer.',
    'Cite sources as [1].',
    'Answer in 2-3 sentences based on the documents.',
    'Write a 1-sentence answer from the passages.',
    'You are GPT, a helpful assistant. Before answering, read the documents.',
    'A large number of documents was searched.',
  ])('%s', (words) => expect(judgeWords(words, numbered, 'rules')).toBeUndefined())
})

describe('a list moves beside a question about something else', () => {
  it.each([
    'Question: Why is the salt of Karvik so dark?',
    'Question: Who was the first president of the country?',
    'When did the second world war end?',
    'How many mills does the valley have?',
    'What changed in the law of 1990?',
    'Which film came out first, Alien or Jaws?',
    'Answer briefly.',
    'Use the following documents to answer the last question.',
    'Welcher Fluss ist länger?',
    'Qui a écrit ce roman ?',
    '¿Quién fue el primer presidente?',
    '谁是第一任总统？',
    '最初の大統領は誰ですか？',
    'What is the latest version of the compiler?',
    'Compare Redis and Postgres.',
    'What happened before the war and after it?',
    'Give me a list of all the ferries.',
    'What are the differences between vLLM and SGLang?',
    'Explain step by step how to install it.',
    'What does the contract say about pets?',
    'Which documents do I need for a visa?',
    'How do I sort a list of documents by date in Python?',
    'What record label did the performer belong to?',
    'What is the country named after?',
    'What was the number of mills in the valley?',
    'Que faire dans l’ordre public ?',
    'Кто был предпоследним императором?',
    'من هو فؤاد الثاني؟',
    '北海道から二つの島が見えますか。',
    'In what order should I install the packages?',
    'Names should appear as in the source.',
    'Prefer the newest document.',
    'Write only the first two lines.',
    'Siapa presiden pertama?',
    'Erstens, antworte kurz.',
    'İlk ne zaman uçtu?',
    'Always return the sources with your answer.',
    'Can I return the item in the store?',
    'Enumerate the reasons.',
    '会社の発表について文書に基づいて教えてください。',
  ])('%s', (words) => expect(judgeWords(words, unlabelled, 'message')).toBeUndefined())
})

describe('a numbered list moves beside a question that names something with a number', () => {
  it.each([
    'According to the documents, what does GPT-4 cost?',
    'What do the documents say about COVID-19?',
    'What do the documents say about Q3, the F-16 and CO2?',
    'What were the results for claude-3-haiku on the documents?',
    'Pick the answer from the documents.',
    'What happened in the first half of 1990, according to the documents?',
  ])('%s', (words) => expect(judgeWords(words, numbered, 'message')).toBeUndefined())
})

describe('reasons', () => {
  const each = 'Rate each document.'
  it.each([
    [each, unlabelled, 'task'],
    ['This is my essay.', unlabelled, 'own_work'],
    ['The order of the documents matters.', unlabelled, 'order'],
    ['Do both say the same?', pair, 'order'],
    ['What does document 2 say?', unlabelled, 'named'],
    [
      'Links:\n[1] https://a.example\n[2] https://b.example\n[3] https://c.example\n[4] https://d.example',
      unlabelled,
      'named',
    ],
    ['Reply with JSON.', numbered, 'numbers'],
    ['Reply with JSON.', unlabelled, undefined],
    ['Which document says so?', unlabelled, 'named'],
    ['Which document says so?', numbered, 'named'],
    ['Do both say the same?', unlabelled, undefined],
  ] as const)('%j', (words, list, reason) => expect(judgeWords(words, list)).toBe(reason))

  it('about an order do not count where the sender says that lists are sets; those about numbers do', () => {
    expect(judgeWords(each, { ...numbered, isSet: true })).toBeUndefined()
    expect(judgeWords(`${each} Reply with JSON.`, { ...numbered, isSet: true })).toBe('numbers')
  })

  it('depend on the list, though its words were read before', () => {
    const words = 'Links:\n- one\n- two\n- three\n\nWhat does document 4 say of it?'
    expect(judgeWords(words, { ...unlabelled, blocks: 3, labels: labels.slice(0, 3) })).toBe('named')
    expect(judgeWords(words, unlabelled)).toBe('named')
    expect(judgeWords(words, { ...unlabelled, blocks: 2, labels: labels.slice(0, 2) })).toBeUndefined()
  })
})

it.each([
  '(Source 1)',
  '«1»',
  '^1^',
  '[S1]',
  '{1}',
  '[ref:n]',
  '"Source 1"',
  '[citation:X]',
  '[^index^]',
  '[Sources: 1, 3]',
  '[Data: Sources (ids)]',
  '<cite>1</cite>',
])('a form that is not mapped keeps numbers, and a mapped one frees them again: %s', (specimen) => {
  const list = { ...numbered, prefix: 'Document ' }
  expect(judgeWords(`Cite as ${specimen}.`, list, 'rules')).toBe(isMappedForm(specimen, list) ? undefined : 'numbers')
  expect(judgeWords('Cite as [1] or [Document 2].', list, 'rules')).toBeUndefined()
})

it.each(['\n', '\r', '\u2028', '\u2029\t'])('blank lines are looked at once: %j', (end) => {
  expectLinear((size) => findParallelLists(`${end.repeat(size)}Sources: a, b`), 4_000)
})

it('long words are read in linear time', () => {
  for (const word of [
    'each ',
    'the document ',
    'documents are ',
    '[1, ',
    '"1, 2", ',
    'a: b, c, d, ',
    'in order ',
    '如',
    'stop when ',
    '<a 1>',
    'one two ',
    'cite ¹',
    'cite ①, |1| ',
  ]) {
    judgeWords(word.repeat(5_000), numbered, 'rules')
    judgeWords(`${word.repeat(5_000)}.`, unlabelled)
  }
  // in quadratic time, this would exceed the test timeout
})
