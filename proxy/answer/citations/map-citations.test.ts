import fc from 'fast-check'
import { describe, expect, it, test } from 'vitest'
import { expectLinear } from '../../http/bounds/linear-time.fixture.ts'
import { CitationLabels, type CitationMap } from './citation-labels.ts'
import { readSpokenNouns } from './citation-nouns.ts'
import { PieceMapper } from './piece-mapper.fixture.ts'

const rotation = new Map([
  ['1', '3'],
  ['2', '1'],
  ['3', '2'],
])
const bare: CitationMap = [{ prefix: '', labels: rotation }]
const docs: CitationMap = [{ prefix: 'Doc_', labels: rotation }]
const documents: CitationMap = [{ prefix: 'Document ', labels: rotation }]

function mapAll(text: string, map: CitationMap, pieces: readonly string[] = [text]): string {
  const mapper = new PieceMapper(new CitationLabels(map))
  return pieces.map((piece) => mapper.push(piece)).join('') + mapper.flush()
}

describe('citations of bare numbers', () => {
  it.each([
    ['one', 'Rain falls [1].', 'Rain falls [3].'],
    ['at the end of the text', 'as in [1]', 'as in [3]'],
    ['a chain', 'so [1][2][3] say', 'so [3][1][2] say'],
    ['a list', 'so [1, 3] and [2;1] and [ 3 ]', 'so [3, 2] and [1;3] and [ 2 ]'],
    ['a list in words', '[1 and 3], [1, 2, and 3], [1 & 2]', '[3 and 2], [3, 1, and 2], [3 & 1]'],
    ['with a page', '[1, p. 5] and [2, 3, pp. 3-4], [3, page 1]', '[3, p. 5] and [1, 2, pp. 3-4], [2, page 1]'],
    ['full-width brackets', '雨【3】，【1、2】。', '雨【2】，【3、1】。'],
    ['full-width brackets with a place', '【3†L10-L15】', '【2†L10-L15】'],
    ['behind a script without spaces', '根据文献[1]，下雨。', '根据文献[3]，下雨。'],
    ['escaped for Markdown', 'rain \\[1\\]\\[2\\].', 'rain \\[3\\]\\[1\\].'],
    ['behind a word of prose', 'in Paris[1][2], rain falls[3]. In 2019[1] too (GDP)[2].', ''],
    ['behind emphasis and quotation marks', '**Paris**[1] and "so"[2]', '**Paris**[3] and "so"[1]'],
    ['in a list of sources', '[1]: A guide to Paris\n[2]: Spain', '[3]: A guide to Paris\n[1]: Spain'],
    ['in footnotes', 'so[^1][^2] and [^2].\n\n[^1]: text', 'so[^3][^1] and [^1].\n\n[^3]: text'],
    ['in front of a sentence without a space', 'so [3].Paris [1].In [1][2].Rome', 'so [2].Paris [3].In [3][1].Rome'],
    ['in a table', '| rain | [1] |', '| rain | [3] |'],
    [
      'in links',
      'see [1](https://example.org/a) and [the rain][1]',
      'see [3](https://example.org/a) and [the rain][3]',
    ],
    ['in definitions of links', '[1]: https://a.example\n  [2]: <a b>', '[3]: https://a.example\n  [1]: <a b>'],
    ['with a range among them', 'so [1, 2-3]', 'so [3, 1-2]'],
    ['with a page behind a colon', 'Rain falls [1: p. 1].', 'Rain falls [3: p. 1].'],
    ['with a word in front', 'Rain falls [cf. 1, 2].', 'Rain falls [cf. 3, 1].'],
    ['apart by other signs', 'rain [1/2], snow [2+3]', 'rain [3/1], snow [1+2]'],
    ['wide parentheses', '下雨（1）。', '下雨（3）。'],
    ['counted in Chinese', '第1个文档说，第2篇文章也说。', '第3个文档说，第1篇文章也说。'],
    ['on a line of their own', 'Used: 1, 3\nCited: 2', 'Used: 3, 2\nCited: 1'],
  ])('%s', (_, text, mapped) => {
    const expected = mapped || 'in Paris[3][1], rain falls[2]. In 2019[3] too (GDP)[1].'
    expect(mapAll(text, bare)).toBe(expected)
  })

  it.each([
    ['indices', 'a[1] = b[2]; foo()[1]; m[1][2]; $x[1] $[1, 2]$ my_list[1] f(x[1])'],
    ['an index with a member', 'values[1].name and Values[2] = 3, Paris[1].Name, arr[3].length'],
    ['a member of an array, a file', 'so [3].map(f), [2]._x and [1].pdf'],
    ['a line of code', 'for (const x of items[1]) items[2].push(rows[3])'],
    ['an initialiser', 'int a[] = {\n[1] = 2,\n[2] = 3 }'],
    ['a fenced block', 'see\n```js\nuse [1]\n``` no end [2]\n```js\n[3]\n'],
    ['a fenced block with backticks in it', '````\nx ```\n```\n x ````\n[1]\n'],
    ['a fence in a list', '1. so:\n   ~~~\n   [1]\n   ~~~~ [2]\n'],
    ['a fence behind a word', 'code:```\n[1]\n [2]'],
    ['inline code', 'type `[1]` or ``[2] ` [3]``'],
    ['an image', 'see ![2](x.png)'],
    ['a regular expression', '[^1]* and [^12]+, [^1]{2}, ([^1-2]), and [^1'],
    ['what is no range', 'so [1-3-4] and [1 - 3]'],
    ['a range of what is no label', 'so [1-4], [3-1], [1-1], [0-2], pages [1-2], the range [1-2], [1-2] + 3'],
    ['numbers that are no labels', '[4], [0], [01], [1234567], [1, 2, x], [1.5], [-1], [x]'],
    ['an unfinished citation', 'so [1, 2'],
    ['a list of names', 'so [1, p] and [2, page] and [3, p.x]'],
    ['other brackets', '(1) {1} <1> [1'],
    ['the labels of another list', 'D1, DOC-2 and Doc_2'],
    ['a counter', '[1/3] Resolving'],
    ['items', '（1）首先'],
    ['amounts', 'Cut the chunk 2 times, the passage 3 hours before dawn, your reference 1 digits long.'],
  ])('are not found in %s', (_, text) => {
    expect(mapAll(text, bare)).toBe(text)
  })

  it('are found again behind code', () => {
    expect(mapAll('~~~\n[1]\n  ~~~~ \r\n[1]', bare)).toBe('~~~\n[1]\n  ~~~~ \r\n[3]')
    expect(mapAll('`x` [1]\n```\n[1]\n```\n[1] ```[1]``` [1] `open [1]\n[1]', bare)).toBe(
      '`x` [3]\n```\n[1]\n```\n[3] ```[1]``` [3] `open [1]\n[3]',
    )
  })
})

describe('citations by a word', () => {
  it.each([
    [docs, '[Doc_1], [Doc_1, Doc_3], [doc_2] and Doc_3.', '[Doc_3], [Doc_3, Doc_2], [doc_1] and Doc_2.'],
    [docs, '[Doc_1, 2; 3] Doc\\_1 [Doc\\_2]', '[Doc_3, 1; 2] Doc\\_3 [Doc\\_1]'],
    [docs, '根据Doc_1的说法', '根据Doc_3的说法'],
    [documents, 'Document 1 says, document 2: "x" (Document 3)', 'Document 3 says, document 1: "x" (Document 2)'],
    [documents, '[Document 1, Document 2][Document 3]', '[Document 3, Document 1][Document 2]'],
    [documents, '[see Document 1, p. 5]', '[see Document 3, p. 5]'],
    [documents, 'Documents 1 and 3, Documents 1, 2, and 3, which', 'Documents 3 and 2, Documents 3, 1, and 2, which'],
    [documents, "Document 1's rain—Document 2—is", "Document 3's rain—Document 1—is"],
    [documents, '**Document 1**: rain', '**Document 3**: rain'],
    [
      documents,
      'in document 1, not document 2; can document 3 be trusted?',
      'in document 3, not document 1; can document 2 be trusted?',
    ],
    [
      documents,
      'In document 1 words are spelled, see document 2 pages 4-5',
      'In document 3 words are spelled, see document 1 pages 4-5',
    ],
    [documents, 'Document **1** says, Document\u00a02 too.', 'Document **3** says, Document\u00a01 too.'],
    [documents, 'Documents used: 1, 2\nSource documents: 3', 'Documents used: 3, 1\nSource documents: 2'],
    [documents, 'Document nº 1, document n° 2, Dokument Nummer 3', 'Document nº 3, document n° 1, Dokument Nummer 2'],
    [documents, 'Volgens documenten 1 en 2. rain［3］', 'Volgens documenten 3 en 1. rain［2］'],
    // cited by number, as some prompts ask
    [documents, 'rain [1][2] Document [3]', 'rain [3][1] Document [2]'],
  ])('%#', (map, text, mapped) => {
    expect(mapAll(text, map)).toBe(mapped)
  })

  it.each([
    [docs, 'Doc_12 Doc_1.txt /tmp/Doc_1 myDoc_1 Doc_1a x.Doc_1 Doc_1_2 `Doc_1` ?q=Doc_1'],
    [documents, 'Document 1.5, Document 1/2, Document  1, Documents x, Document 1-3-2, Document 1%'],
    [documents, 'You must document 2 incidents. Bring documents 2 to 3 weeks before.'],
    [documents, 'Subdocument 1, Document 4, documentation 1, documented 1, Document: 1 page'],
  ])('are not found where they only look alike: %#', (map, text) => {
    expect(mapAll(text, map)).toBe(text)
  })

  it('go by their own list', () => {
    const map: CitationMap = [
      { prefix: 'Doc_', labels: new Map([['1', '2']]) },
      { prefix: 'Source ', labels: new Map([['1', '5']]) },
    ]
    expect(mapAll('Doc_1, Source 1, [1]', map)).toBe('Doc_2, Source 5, [1]')
  })

  it('go by the last list that has the label', () => {
    const map: CitationMap = [
      {
        prefix: '',
        labels: new Map([
          ['1', '2'],
          ['9', '8'],
        ]),
      },
      { prefix: '', labels: new Map([['1', '1']]) },
    ]
    expect(mapAll('[1] [9]', map)).toBe('[1] [8]')
  })
})

test.each([
  'The first document signed by him was a treaty. Send the second document within 30 days, and the 3rd document.',
  'As the first document says, the 2nd and the third document.',
  '第二个文档说，第三文档。',
])('ordinals may count anything, and stay: %j', (text) => expect(mapAll(text, documents)).toBe(text))

describe('citations in other words than those of the list', () => {
  it.each([
    ['[Document 1], [Doc 2][doc 3] and [Document: 1]', '[Document 3], [Doc 1][doc 2] and [Document: 3]'],
    ['Document 1 says, documents 1 and 2, doc 3.', 'Document 3 says, documents 3 and 1, doc 2.'],
    ['(Document 1), [Source: 1], (Sources 1, 2), [source 3]', '(Document 3), [Source: 3], (Sources 3, 1), [source 2]'],
    [
      'passage 1, snippet #2, passage No. 3, reference number 1',
      'passage 3, snippet #1, passage No. 2, reference number 3',
    ],
    ['(Source ID: 1), [document_id: 2], [ID:3], [#1]', '(Source ID: 3), [document_id: 1], [ID:2], [#3]'],
    [
      '[citation:1] [[citation:2]] 【citation:3】 [cite: 1, 2]',
      '[citation:3] [[citation:1]] 【citation:2】 [cite: 3, 1]',
    ],
    [
      'so [^1^][^2^]. <cite>1</cite> <co: 2>rain</co: 2> <doc id="3">',
      'so [^3^][^1^]. <cite>3</cite> <co: 1>rain</co: 1> <doc id="2">',
    ],
    [
      'rain [[1](https://a.example/2), [3](https://b.example)], snow ([2](https://a.example))',
      'rain [[3](https://a.example/2), [2](https://b.example)], snow ([1](https://a.example))',
    ],
    ['**[1]** **Document 2** **Source:** 3', '**[3]** **Document 1** **Source:** 2'],
    ['Rain.\n[Sources: 1, 3]', 'Rain.\n[Sources: 3, 2]'],
    ['Rain.\nSources: 1, 3', 'Rain.\nSources: 3, 2'],
    ['Rain. Source: 1\n- Reference: 2', 'Rain. Source: 3\n- Reference: 1'],
    ['[Data: Sources (1, 2)], Sources (3)', '[Data: Sources (3, 1)], Sources (2)'],
    ['documents 1–2, sources 2 to 3, [1–2]', 'documents 1,\u20023, sources 1 to 2, [1,\u20023]'],
    [
      'Quelle 1, Dokumente 1 und 2, в документе 3, 根据文档1、2和[来源：3]',
      'Quelle 3, Dokumente 3 und 1, в документе 2, 根据文档3、1和[来源：2]',
    ],
    [
      'rain [1]. Document: 1 page, Doc_1, Result: 1, item 2, two documents: 1',
      'rain [3]. Document: 1 page, Doc_1, Result: 1, item 2, two documents: 1',
    ],
    [
      'page 3 of the manual, Article 2 of the treaty, article 1(2), documents. 3 of them',
      'page 3 of the manual, Article 2 of the treaty, article 1(2), documents. 3 of them',
    ],
    ['source 1 and 3. See doc. 2 (ref. 1)', 'source 3 and 2. See doc. 1 (ref. 3)'],
    // digits of other scripts stay digits of theirs
    ['雨［１］、資料２、次の（３）。 المستند ١، [٢، ٣]', '雨［３］、資料１、次の（３）。 المستند ٣، [١، ٢]'],
    [
      'documento n.º 1, fonte n.º2, документе № 3, المستند رقم 1, documents nº 1 et nº 2, Dok. 3',
      'documento n.º 3, fonte n.º1, документе № 2, المستند رقم 3, documents nº 3 et nº 1, Dok. 2',
    ],
    ['وفقا للمستند 1 وبالمصدر 2 ولوثيقة 3, במסמך 1', 'وفقا للمستند 3 وبالمصدر 1 ولوثيقة 2, במסמך 3'],
    [
      '1번 문서와 2번째 자료, 3番目の文書, 1つ目の資料; 3번 버스, 1番目の駅, 2번',
      '3번 문서와 1번째 자료, 2番目の文書, 3つ目の資料; 3번 버스, 1番目の駅, 2번',
    ],
    // Croatian, Ukrainian and Polish for `while`, `until` and `where to`; `docker`
    ...['dok 3 sata ne prođu', 'доки 3 години', 'dokąd 3 osoby', 'докер 3', '資料３点を、文書2枚、문서 3개를'].map(
      (text): [string, string] => [text, text],
    ),
    ['下雨〔1〕〔2、3〕。', '下雨〔3〕〔1、2〕。'],
    [
      'source_id=1, doc_id="2", document index="3", <document id=1>',
      'source_id=3, doc_id="1", document index="2", <document id=3>',
    ],
    [
      'Neither document 1 nor 2 says so. Weder Dokument 1 noch 2. Sans document 1 ni 2. Quelle 1 sowie 3.',
      'Neither document 3 nor 1 says so. Weder Dokument 3 noch 1. Sans document 3 ni 1. Quelle 3 sowie 2.',
    ],
    [
      'rain [1, paragraph 2], [2: line 3], [3, lines 2-3], [1, § 2], sun.<sup>3</sup> snow [1|2]',
      'rain [3, paragraph 2], [1: line 3], [2, lines 2-3], [3, § 2], sun.<sup>2</sup> snow [3|1]',
    ],
    [
      'a=1, x = 2, width="3", source=1, context=2, <img src=3>, m<sup>2</sup>, (1), (a 2), the user (ID: 1), (No. 1)',
      'a=1, x = 2, width="3", source=1, context=2, <img src=3>, m<sup>2</sup>, (1), (a 2), the user (ID: 1), (No. 1)',
    ],
    ['In document 1, 3 people. In source 2 and 3 others', 'In document 3, 3 people. In source 1 and 3 others'],
    ['(1) and (2), in 1. and 2), {1}, 1, #1, **1**', '(1) and (2), in 1. and 2), {1}, 1, #1, **1**'],
  ])('%j', (text, mapped) => {
    expect(mapAll(text, bare)).toBe(mapped)
    expect(mapAll(text, bare, text.split(''))).toBe(mapped)
  })

  it.each([
    'verbietet Artikel 3 des Grundgesetzes, Artikel 2',
    "l'article 2 du code civil, artículo 3, Статья 2 Конституции",
    'UCC Article 2 applies, Articles 2 and 3; page 3, result 2, paper 1',
  ])('leave %j, unless the prompt calls its blocks so', (text) => {
    expect(mapAll(text, bare)).toBe(text)
    const names = readSpokenNouns('In articles, Artikeln, artículos, статьях, web pages, results; the paper')
    expect(mapAll(text, [{ ...bare[0]!, names }])).not.toBe(text)
  })

  it('go by the list that is called so, if there is one', () => {
    const own = { prefix: 'Document ', labels: new Map([['1', '9']]) }
    const tagged = { prefix: '', tag: 'passage', labels: rotation }
    expect(mapAll('[Document 1] [1] [passage 1] [Source 1]', [tagged, own])).toBe(
      '[Document 9] [3] [passage 3] [Source 1]',
    )
  })

  it('are left alone when two lists may be meant', () => {
    const other = { prefix: 'Doc_', labels: new Map([['1', '9']]) }
    expect(mapAll('[Document 1] [1] [Source 1]', [{ prefix: '', tag: 'document', labels: rotation }, other])).toBe(
      '[Document 1] [3] [Source 1]',
    )
  })

  it('are in parentheses only if the labels are', () => {
    const map = [{ prefix: '', labels: rotation, isInParentheses: true }]
    expect(mapAll('Rain (1), snow (2, 3). f(1) and [1]', map)).toBe('Rain (3), snow (1, 2). f(1) and [3]')
  })
})

test.each([
  ['so [1-3].', 'so [1-3].'],
  ['so [1-2] and [2–3].', 'so [1,\u20093] and [1–2].'],
  ['【2-3】, \\[1-2\\]', '【1-2】, \\[1,\u20093\\]'],
])('a range stays one if what it means is one, and becomes a list if not: %j', (text, mapped) => {
  expect(mapAll(text, bare)).toBe(mapped)
  expect(mapAll(text, bare, text.split(''))).toBe(mapped)
})

test('the longer of two prefixes is taken', () => {
  const map: CitationMap = [
    { prefix: 'Document ', labels: new Map([['1', '2']]) },
    { prefix: 'Document #', labels: new Map([['1', '3']]) },
  ]
  expect(mapAll('Document #1, Document 1', map)).toBe('Document #3, Document 2')
})

test('changed labels are counted', () => {
  const mapper = new PieceMapper(
    new CitationLabels([
      {
        prefix: '',
        labels: new Map([
          ['1', '2'],
          ['2', '2'],
        ]),
      },
    ]),
  )
  mapper.push('[1], [2], [1')
  expect(mapper.remapped).toBe(1)
  mapper.push(', 1]')
  mapper.flush()
  expect(mapper.remapped).toBe(3)
})

const fragment = fc.constantFrom(
  ...[
    '[',
    ']',
    '[1]',
    '[2]',
    '[3',
    '[1, 2]',
    '[1][2]',
    '1',
    '2',
    '3',
    '10',
    ', ',
    '; ',
    ' and ',
    '-',
    '【2】',
    '【',
    '】',
    '†x',
  ],
  ...[
    'Doc_1',
    'Doc_',
    'Doc\\_2',
    '[Doc_1, Doc_2]',
    'Document 1',
    'Documents 1, 2',
    'document ',
    'D',
    'd',
    'Do',
    'ocument 3',
  ],
  ...[
    '{',
    '{"a": ',
    '"',
    '}',
    '[[',
    ']]',
    '[[1]]',
    '[1, 2]]',
    '[{',
    '<tool_call>',
    '</tool_call>',
    '<',
    '|>',
    '[TOOL_CALLS]',
  ],
  ...['The vector ', 'return ', 'x = ', 'items', 'ids: ', ' has', ' says', ' + ', 'studies ', '.', '$', '\\in '],
  ...[
    '`',
    '``',
    '```',
    '~~~',
    '\n',
    '\r\n',
    '    ',
    ' ',
    '(',
    ')',
    '](',
    ':',
    ': http',
    '=',
    '.',
    '\\',
    '\\[1\\]',
    '^',
    '$',
    '_',
  ],
  ...['word', 'a', 'Paris', 'x()', 'é', '雨', '😀', '\ud83d', '\u00a0', '{', '> ', '- '],
)
/** An answer in which numbers stand in every form. */
const form = fc.constantFrom(
  ...[
    '[#]',
    '[#, #]',
    '【#】',
    '【#†source】',
    '[^#]',
    '[^#^]',
    '[[#]]',
    '[citation:#]',
    '[[citation:#]]',
    '[Sources: #, #]',
  ],
  ...[
    '[Source #]',
    '(Source #)',
    '(Document #)',
    'Document #',
    'Documents # and #',
    'source ##',
    'Source ID: #',
    '[#–#]',
  ],
  ...[
    'documents #-#',
    '[#](https://a.example/#)',
    '\n[#]: https://a.example',
    '<cite>#</cite>',
    '**[#]**',
    '(#)',
    '#',
    '#.',
  ],
  ...[
    '\nSources: #, #\n',
    'page # of #',
    '`[#]`',
    'x[#]',
    'the vector [#, #]',
    '[#][#]',
    '[the rain][#]',
    '文档#',
    'Doc_#',
    '$#',
  ],
)
const anyAnswer = fc
  .array(
    fc.oneof(
      form,
      fc.constantFrom(
        'so it rains ',
        'according to ',
        '. ',
        ', ',
        ' and ',
        '\n',
        ' = ',
        'in 2019 ',
        'word '.repeat(40),
      ),
    ),
    {
      maxLength: 30,
    },
  )
  .chain((parts) => {
    const text = parts.join('').split('#')
    return fc
      .array(fc.constantFrom('1', '2', '3', '10', '11', '4', '9'), { minLength: text.length, maxLength: text.length })
      .map((numbers) => text.map((part, i) => (i === 0 ? part : numbers[i]! + part)).join(''))
  })
const anyText = fc.array(fragment, { maxLength: 40 }).map((parts) => parts.join(''))
const permutation = fc
  .shuffledSubarray(['1', '2', '3', '10', '11'], { minLength: 5, maxLength: 5 })
  .map((shuffled) => new Map(['1', '2', '3', '10', '11'].map((label, i) => [label, shuffled[i]!])))
const anyMap = fc.tuple(permutation, permutation, permutation).map(
  ([a, b, c]): CitationMap => [
    { prefix: '', labels: a },
    { prefix: 'Doc_', labels: b },
    { prefix: 'Document ', labels: c },
  ],
)
const bounds = fc.array(fc.nat({ max: 300 }), { maxLength: 12 })

function split(text: string, cuts: readonly number[]): string[] {
  const sorted = [0, ...cuts.map((cut) => Math.min(cut, text.length)).sort((a, b) => a - b), text.length]
  return sorted.slice(1).map((end, i) => text.slice(sorted[i], end))
}

function inverseOf(map: CitationMap): CitationMap {
  return map.map(({ labels, ...form }) => ({
    ...form,
    labels: new Map([...labels].map(([sent, received]) => [received, sent])),
  }))
}

/** Ranges may become lists. */
const withoutRanges = anyText.filter((text) => !/\d[-–]\d/.test(text))

describe('for every text', () => {
  const runs = { numRuns: 500 }

  it('any split gives the same', () => {
    fc.assert(
      fc.property(anyText, anyMap, bounds, (text, map, cuts) => {
        const whole = mapAll(text, map)
        expect(mapAll(text, map, split(text, cuts))).toBe(whole)
        expect(mapAll(text, map, text.split(''))).toBe(whole)
      }),
      runs,
    )
  })

  it('labels that stay change nothing', () => {
    const same = new Map(['1', '2', '3', '10'].map((label) => [label, label]))
    const map = ['', 'Doc_', 'Document '].map((prefix) => ({ prefix, labels: same }))
    expect(new CitationLabels(map).isIdentity).toBe(true)
    fc.assert(
      fc.property(anyText, (text) => {
        expect(mapAll(text, map)).toBe(text)
      }),
      runs,
    )
  })

  it('the inverse map restores it', () => {
    fc.assert(
      fc.property(anyText, anyMap, (text, map) => {
        expect(mapAll(mapAll(text, map), inverseOf(map))).toBe(text)
      }),
      runs,
    )
  })

  it('the inverse map restores an answer that cites in all forms, whatever the lengths of labels', () => {
    fc.assert(
      fc.property(
        anyAnswer,
        permutation,
        fc.constantFrom('', 'Document ', 'Doc_', 'webpage '),
        (text, labels, prefix) => {
          const map = [{ prefix, labels }]
          expect(mapAll(mapAll(text, map), inverseOf(map))).toBe(text)
        },
      ),
      runs,
    )
  })

  it('only numbers change', () => {
    fc.assert(
      fc.property(withoutRanges, anyMap, (text, map) => {
        expect(mapAll(text, map).replace(/\d+/g, '#')).toBe(text.replace(/\d+/g, '#'))
      }),
      runs,
    )
  })

  it('little is held back', () => {
    fc.assert(
      fc.property(fc.array(fragment, { maxLength: 400 }), anyMap, (parts, map) => {
        const mapper = new PieceMapper(new CitationLabels(map))
        const text = parts.join('')
        for (let at = 0; at < text.length; at += 7) {
          mapper.push(text.slice(at, at + 7))
          expect(Math.min(text.length, at + 7) - mapper.decided).toBeLessThan(700)
        }
      }),
      { numRuns: 60 },
    )
  })
})

test.each([
  ['brackets', '['],
  ['backticks', '`'],
  ['tildes', '~'],
  ['lists', '1, '],
  ['citations', '[1, 2, '],
  ['words', 'Documents 1, 2, '],
  ['indices', 'a-[1]'],
  ['letters', 'aaaaaaaa-'],
  ['backslashes', '\\'],
  ['braces', '{"'],
  ['open braces', '{ '],
  ['tags', '<code '],
  ['angles', '<'],
  ['bars', '<|'],
  ['arrays', '[[1]'],
  ['values', 'vector [1, 2] '],
  ['operators', 'x = [1]'],
  ['blanks behind operators', '=               '],
  ['open calls', 'f( [1] '],
])(
  'hostile text of %s takes linear time, in chunks too',
  (_, unit) => {
    expectLinear((size) => {
      const text = unit.repeat(Math.ceil(size / unit.length))
      const mapper = new PieceMapper(new CitationLabels(documents))
      let length = 0
      for (let at = 0; at < text.length; at += 5) length += mapper.push(text.slice(at, at + 5)).length
      length += mapper.flush().length
      expect(length).toBe(text.length)
    }, 40_000)
  },
  60_000,
)

it.each([
  ['Source 1 and 2 say so.', 'Source 3 and 1 say so.'],
  ['(see documents 1 and 2, also 3)', '(see documents 3 and 1, also 2)'],
  ['document_1, Document-2 and doc3 say so', 'document_3, Document-1 and doc2 say so'],
])('a list is cited by its noun: %s', (text, mapped) => {
  expect(mapAll(text, [{ prefix: 'Document ', tag: 'document', labels: rotation }])).toBe(mapped)
})
