import { describe, expect, it } from 'vitest'
import { announced, behindLists, contentsOf, findContextLists, labelsOf } from '../found-lists.fixture.ts'

it('a source below each text, above a rule, is not taken for the heading of the next text', () => {
  const items = ['Rome', 'Oslo', 'Lima'].map((name, i) => {
    return `**${i + 1}. ${name}**\nIt lies by the water.\nSource: https://a.example/${name}\n---`
  })
  const text = `Found:\n\n${items.join('\n\n')}\n\nThese results come from a search.`
  expect(findContextLists(text, { whole: true, tool: 'search' })).toEqual([])
})

describe.each([
  ['Context:\n            ', 'on a line of its own, indented as the placeholder that all replace'],
  ['Context: ', 'behind words on their line'],
  ['<context>\n        ', 'below a tag, indented'],
])('the first block begins behind %j', (front) => {
  it.each(['Document 1: ', '[Document 1]\n', 'Source 0: '])('with %j', (label) => {
    const texts = ['It rained.', 'It snowed.', 'It hailed.']
    const number = Number(/\d/.exec(label)![0])
    const blocks = texts.map((text, i) => label.replace(/\d/, `${number + i}`) + text)
    const closing = front.startsWith('<') ? '\n</context>' : ''
    expect(contentsOf(`${front}${blocks.join('\n\n')}${closing}\n\nQuestion: why?`)).toEqual([texts])
  })
})

it('a number that a sentence names is no first block', () => {
  const text = 'Cite as in Document 1: this one.\n\nContext:\n\nDocument 2: A\n\nDocument 3: B\n\nQuestion: why?'
  expect(contentsOf(text)).toEqual([['A', 'B']])
})

it.each([
  ['Document (Title: Oslo): ', 'Document (Title: Rome): '],
  ['Passage (source: a.md) ', 'Passage (source: b.md) '],
])('labels without a number that tell a title: %s', (...labels) => {
  const texts = ['It rained.\n\nFor long.', 'It snowed.']
  const list = texts.map((text, i) => labels[i] + text).join('\n\n')
  expect(behindLists(announced(`${list}\n\nQuestion: why?`))).toEqual(['\n\nQuestion: why?'])
})

it.each(['Contexte', 'Contexto', 'Contesto'])('%s announces one text or several', (heading) => {
  const list = 'File 1:\nIt rained.\n\nFile 2:\nIt snowed.'
  expect(contentsOf(`${heading}:\n\n${list}\n\nQuestion: why?`)).toEqual([['It rained.', 'It snowed.']])
})

describe('labelled blocks', () => {
  it.each([
    ['[1] A\n[2] B', ''],
    ['[0] A\n\n[1] B', ''],
    ['[1]\nA\n[2]\nB', ''],
    ['**[1]** A\n**[2]** B', ''],
    ['   [1] A\n   [2] B', ''],
    ['[Doc_1] A\n[Doc_2] B', 'Doc_'],
    ['[Doc 1] A\n[Doc 2] B', 'Doc '],
    ['[Doc.1] A\n[Doc.2] B', 'Doc.'],
    ['[Document 1]: A\n[Document 2]: B', 'Document '],
    ['[source-1] A\n[source-2] B', 'source-'],
    ['[Chunk #1] A\n[Chunk #2] B', 'Chunk #'],
    ['Document 1: A\nDocument 2: B', 'Document '],
    ['DOCUMENT 1: A\nDOCUMENT 2: B', 'DOCUMENT '],
    ['Document #1: A\nDocument #2: B', 'Document #'],
    ['Document[1]: A\nDocument[2]: B', 'Document '],
    ['Document [1]: A\nDocument [2]: B', 'Document '],
    ['Passage 1：A\nPassage 2：B', 'Passage '],
    ['Source 1:\nA\n\nSource 2:\nB', 'Source '],
    ['Context 0: A\nContext 1: B', 'Context '],
    ['Search result 1: A\nSearch result 2: B', 'Search result '],
    ['### Document 1\nA\n\n### Document 2\nB', 'Document '],
    ['## Chunk 1: A\n\n## Chunk 2: B', 'Chunk '],
    ['**Reference 1:** A\n**Reference 2:** B', 'Reference '],
    ['**Document [1]:** A\n**Document [2]:** B', 'Document '],
    ['**Doc 1**\nA\n**Doc 2**\nB', 'Doc '],
    ['===== Document 0 =====\nA\n\n===== Document 1 =====\nB', 'Document '],
    ['--- Source 1 ---\nA\n--- Source 2 ---\nB', 'Source '],
  ])('may look like %j', (list, labelPrefix) => {
    const text = `Use these sources:\n\n${list}\n\nWhich one?`
    expect(contentsOf(text)).toEqual([['A', 'B']])
    expect(findContextLists(text)).toMatchObject([{ positional: true, labelPrefix }])
    expect(behindLists(text)).toEqual(['\n\nWhich one?'])
  })

  it('keep a title in a frame as content', () => {
    const list = '\n\n--- SOURCE 1: Rome ---\nURL: r\n\nA\n\n\n--- SOURCE 2: Paris ---\nURL: p\n\nB'
    expect(findContextLists(`Results:${list}`, { whole: true })).toMatchObject([{ positional: true }])
    expect(contentsOf(`Results:${list}`, { whole: true })).toEqual([
      ['Rome ---\nURL: r\n\nA', 'Paris ---\nURL: p\n\nB'],
    ])
    for (const text of [
      '- Document 1: A\n- Document 2: B',
      '--- Part 1 ---\nA\n--- Part 2 ---\nB',
      '--- file 1\n+++ file 2',
    ]) {
      expect(findContextLists(`Look:\n\n${text}\n\nWhy?`)).toEqual([])
    }
  })

  it('keep a source in brackets behind the label as content', () => {
    expect(contentsOf(announced('Document [1](Title: Rome) A\nDocument [2](Title: Paris) B\n\nq'))).toEqual([
      ['(Title: Rome) A', '(Title: Paris) B'],
    ])
    expect(contentsOf(announced('Source 1 (rome.pdf): A\nSource 2 (paris.pdf): B\n\nq'))).toEqual([
      ['(rome.pdf): A', '(paris.pdf): B'],
    ])
  })

  it('may hold anything, even markers of another form and an unclosed fence', () => {
    const code = 'code:\n```py\nx[0] = 1'
    const table = '| a | b |\n|---|---|\n| [1] | 2 |'
    const marked = 'see\nDocument 7: x\n<document>[3] y</document>\n# Title\n- [1](http://x)'
    expect(contentsOf(`[1] ${code}\n[2] ${table}\n[3] ${marked}\n\nQuestion: q`)).toEqual([[code, table, marked]])
  })

  it('leave the white space and rules between them to their places', () => {
    const text = 'Sources:\n[1] A\n\n---\n\n[2] B\n\n---\n\n[3] C\n\n---\n\nWhich?'
    expect(contentsOf(text)).toEqual([['A', 'B', 'C']])
    expect(behindLists(text)).toEqual(['\n\n---\n\nWhich?'])
  })

  it('survive CRLF line ends', () => {
    const text = 'Sources:\r\n\r\n[1] A\r\nmore\r\n\r\n[2] B\r\n\r\nWhich?'
    expect(contentsOf(text)).toEqual([['A\r\nmore', 'B']])
    expect(behindLists(text)).toEqual(['\r\n\r\nWhich?'])
  })
})

describe('the last labelled block', () => {
  it('ends at the first blank line when no other block has one', () => {
    expect(contentsOf('Sources:\n[1] A\n[2] B\nstill B\n\nnot B')).toEqual([['A', 'B\nstill B']])
    expect(contentsOf('Sources:\n[1] A\n[2] B')).toEqual([['A', 'B']])
  })

  it.each([
    'Question: why?',
    'QUERY: why?',
    '## Question',
    '**Question:** why?',
    '<question>why?</question>',
    '- User query: why?',
    "User's question: why?",
    'Helpful Answer:',
    'Answer the question.',
    'Please answer briefly.',
    'Instructions: be brief',
    'Task: summarise',
    'Based on the above documents, why?',
    'Given the context information, why?',
    'Using only the provided sources, why?',
    'User: why?',
    'Frage: warum?',
    '问题：为什么？',
  ])('ends in front of %j', (cue) => {
    expect(contentsOf(announced(`[1] A\n[2] B\n${cue}`))).toEqual([['A', 'B']])
    expect(contentsOf(announced(`[1] A\n\nmore A\n\n[2] B\n\nmore B\n\n${cue}\nrest`))).toEqual([
      ['A\n\nmore A', 'B\n\nmore B'],
    ])
  })

  it('does not end at a word that only begins like a cue', () => {
    const b =
      'B\n\nQuestions remain. \nInput validation matters.\nAnswers vary.\nReply-To: x\nGiven enough time\nResponse\nuser: String'
    expect(contentsOf(`[1] A\n\nmore A\n\n[2] ${b}\n\nQuestion: why?`)).toEqual([['A\n\nmore A', b]])
  })

  it('does not end at a cue that other blocks hold themselves', () => {
    const faq = 'Question: how?\nAnswer: so.'
    expect(contentsOf(`Document 1:\n${faq}\nDocument 2:\n${faq}\n\nQuestion: why?`)).toEqual([[faq, faq]])
  })

  it('ends at the closing tag of an element around the list', () => {
    const list = '[1] A\n\nmore A\n\n[2] B\n\nmore B'
    for (const name of ['context', 'documents', 'sources']) {
      const text = `<${name}>\n${list}\n</${name}>\n\nWhich?`
      expect(contentsOf(text)).toEqual([['A\n\nmore A', 'B\n\nmore B']])
      expect(behindLists(text)).toEqual(['\n\nWhich?'])
    }
  })

  it('ends at a rule or a heading behind a blank line when no other block has such', () => {
    for (const line of ['---', '=====', '***', '# Question', '## Your task', '# Aufgabe']) {
      expect(contentsOf(announced(`[1] A\n\nmore A\n\n[2] B\n\nmore B\n\n${line}\nWhich?`))).toEqual([
        ['A\n\nmore A', 'B\n\nmore B'],
      ])
    }
    const [a, b, c] = ['A\n\n# Notes', 'B\n\n# Notes', 'C\n\n# Notes']
    expect(contentsOf(`[1] ${a}\n\n[2] ${b}\n\n[3] ${c}\n\nQuery: q`)).toEqual([[a, b, c]])
  })

  it.each([
    'Lower confidence:',
    '## Superseded',
    '**Contradicting sources**',
    '=== OUTDATED BELOW ===',
    '(The rest is old.)',
    '--- Outdated ---',
  ])('is left alone where %j stands between two blocks: it would go with the one in front of it', (heading) => {
    expect(contentsOf(announced(`[1] A\n\n[2] B\n\n${heading}\n\n[3] C\n\nWhich?`))).toEqual([])
    expect(contentsOf(announced(`[1] A\n\n${heading}\n\n[2] B\n\nMore:\n\n[3] C\n\nWhich?`))).toEqual([])
    expect(contentsOf(announced(`[1] A\n\n[2] B\n\n[3] C\n\nWhich?`))).toEqual([['A', 'B', 'C']])
  })

  it.each([
    ['\n\nGive a short answer in French.', 'more A\n\nmore'],
    ['\n\nThink step by step.', 'more A\n\nmore'],
    ['\nBe brief.', 'more'],
    ['\nWhat else is known of them?', 'more'],
    ['\n***\nThe user lives in Rome.', 'more'],
    ['\n---\nQuestion: and when?', 'more\nQuestion: a doubt.'],
  ])('is left alone when the question stands in front and %j behind', (tail, more) => {
    const text = `Question: why?\n\nDocuments:\n[1] A\n${more} A\n[2] B\n${more} B${tail}`
    expect(contentsOf(text)).toEqual([])
  })

  it.each(['More sources:', '## Web results', '更多 资料：'])('is left alone when %j parts its blocks', (heading) => {
    for (const label of ['[n]', 'Document n:', '### Source n:']) {
      const [one, two, three] = ['A', 'B', 'C'].map((text, i) => `${label.replace('n', `${i + 1}`)} ${text} is so.`)
      expect(contentsOf(`Context:\n${one}\n\n${two}\n\n${heading}\n\n${three}\n\nQuestion: why?`)).toEqual([])
    }
  })

  it('runs to the end of the text when the question stands in front', () => {
    expect(contentsOf('Question: why?\n\n[1] A\n\nmore A\n\n[2] B\n\nmore B\n')).toEqual([
      ['A\n\nmore A', 'B\n\nmore B'],
    ])
  })

  it('is not guessed: the list is no list when its end cannot be told', () => {
    expect(contentsOf('[1] A\n\nmore A\n\n[2] B\n\nmore B or the question?')).toEqual([])
  })

  it('ends where the turn ends in a prompt that the client rendered', () => {
    const text = '<|im_start|>user\nSources:\n[1] A\n[2] B<|im_end|>\n<|im_start|>assistant\n'
    expect(contentsOf(text, { rendered: true })).toEqual([['A', 'B']])
    const turns = '<s>[INST] Use these sources:\n[1] A\n[2] B [/INST] ok </s><s>[INST]\nSources:\n[1] C\n[2] D[/INST]'
    expect(contentsOf(turns, { rendered: true })).toEqual([
      ['A', 'B'],
      ['C', 'D'],
    ])
  })
})

describe('labels that do not count up', () => {
  it.each([
    '[Doc_ab12] A\n[Doc_f3] B',
    '[Doc_2] A\n[Doc_1] B',
    '[Doc_2] A\n[Doc_3] B',
    '[Doc_1] A\n[Doc_3] B',
    '[Doc_7] A\n[Doc_7] B',
    'Document 4: A\nDocument 2: B',
    'Source A: A\nSource B: B',
    'File a1.txt: A\nFile b2.txt: B',
  ])('are stable in %j', (list) => {
    const text = announced(`${list}\n\nWhich?`)
    expect(contentsOf(text)).toEqual([['A', 'B']])
    expect(findContextLists(text)).toMatchObject([{ positional: false }])
  })

  it('are read without their markup', () => {
    expect(labelsOf(announced('[Doc_ab12] A\n[Doc_f3] B'))).toEqual(['ab12', 'f3'])
    expect(labelsOf(announced('**Document [8]:** A\n**Document [3]:** B'))).toEqual(['8', '3'])
  })

  it.each([
    '[2] A\n[3] B',
    '[2] A\n[1] B',
    '[1] A\n[3] B',
    '[1] A\n[1] B',
    '[1] A\n[2] B\n[1] quoted\n[3] C',
    '[01] A\n[02] B',
    '[1] 12 13\n[7] 14 15',
  ])('make no list in %j', (list) => {
    expect(contentsOf(`${list}\n\nWhich?`)).toEqual([])
  })

  it('make no list when they begin to count and then repeat', () => {
    expect(contentsOf('Document 1: A\nDocument 2: B\nDocument 1: quoted\nDocument 3: C\n\nq')).toEqual([])
  })
})

describe('several lists', () => {
  it('are parted by a cue when the numbers begin again', () => {
    const text = '[1] A\n[2] B\n\nQuestion: x\n\nSources:\n[1] C\n[2] D\n[3] E\n\nQuestion: y'
    expect(contentsOf(text)).toEqual([
      ['A', 'B'],
      ['C', 'D', 'E'],
    ])
  })

  it('do not stand in one another: the outer one is found', () => {
    expect(contentsOf(announced('Document 1:\n[1] a\n[2] b\nDocument 2:\n[1] c\n[2] d\n\nq'))).toEqual([
      ['[1] a\n[2] b', '[1] c\n[2] d'],
    ])
    expect(
      contentsOf('Sources:\n[1]\n<document>\nA\n\nB\n</document>\n[2]\n<document>\nC\n\nD\n</document>\n\nq'),
    ).toEqual([['<document>\nA\n\nB\n</document>', '<document>\nC\n\nD\n</document>']])
  })
})

it('references in Chinese are found though the last clause of a sentence is short', () => {
  const texts = ['退款政策允许在三十天内退货，无需理由。', '超过五十欧元的订单免费寄往欧盟所有国家，一周内送达。']
  const text = `参考资料：\n[1] ${texts[0]}\n[2] ${texts[1]}\n\n问题：多久送达？`
  expect(contentsOf(text)).toEqual([texts])
})

describe('no labelled list', () => {
  it.each([
    ['a single label', '[1] A\n\nWhat is it?'],
    ['a question about a label', 'What does [1] mean, and\n[2] too?'],
    ['labels in a sentence', 'As [1] and [2] say, and Document 1: A, Document 2: B.'],
    ['fenced code', 'Why?\n```\n[0] A\n[1] B\n```\n'],
    ['an unclosed fence', 'Why?\n```\n[1] A\n[2] B\n\nQuestion: x'],
    ['indented code', '    [0] A\n    [1] B'],
    ['indented lines', 'Look:\n\n    Document 1: A\n    Document 2: B\n\nQuestion: why?'],
    ['deeply indented lines', 'Look:\n\n          Document 1: A\n\n          Document 2: B\n\nQuestion: why?'],
    ['indented numbers', 'Look:\n\n    [1] A\n\n    [2] B\n\nQuestion: why?'],
    ['source code', 'a[0] = b[1]\na[1] = b[2]\n[0] = 1,\n[1] = 2,'],
    ['an array', '[\n  [1],\n  [2]\n]'],
    ['link definitions', 'See [a][1].\n\n[1]: http://a.example\n[2]: http://b.example'],
    ['links', '[1](http://a.example) A\n[2](http://b.example) B'],
    ['cited links', 'See [1] and [2].\n\n[1] https://a.example/x\n[2] https://b.example/y'],
    ['footnotes', '[^1] A\n[^2] B'],
    ['a bibliography', 'Text [1].\n\n## References\n\n[1] Knuth, 1968\n[2] Dijkstra, 1959'],
    ['a German bibliography', 'Text.\n\nQuellen:\n[1] Knuth\n[2] Dijkstra'],
    ['notes', '**Notes**\n[1] A\n[2] B'],
    [
      'a Chinese bibliography',
      '见[1]。\n\n参考资料：\n[1] 王小明，深度学习综述，2019。\n[2] 李四，注意力机制研究，2021。',
    ],
    ['a table', '| [1] | A |\n| [2] | B |'],
    ['a table without outer bars', 'n | x\n--|--\n[1] | A\n[2] | B'],
    ['another table without outer bars', 'n | x\n--|--\n[1] a | A\n[2] b | B'],
    ['a task list', '[x] A\n[ ] B\n- [1] C'],
    ['a quotation', '> [1] A\n> [2] B'],
    ['words', '[Source code] A\n[Source text] B\nFile name: a\nFile size: b\nContext window: c\nSource: d'],
    ['elements side by side', '<rag>\n[1] A\n</rag>\n<rag>\n[2] B\n</rag>\n\nq'],
    ['an example', 'For example:\nSource 1: A\nSource 2: B\n\nNow you.'],
    ['a question between stable labels', '[Doc_a1] A\n\n[Doc_b2] B\n\nQuestion: x\n\n[Doc_a1] is what?\n\nAnswer:'],
  ])('is in %s', (_, text) => {
    expect(contentsOf(text)).toEqual([])
  })

  it('is in code behind a list, and does not spoil the list', () => {
    expect(contentsOf('[1] A\n[2] B\n\nQuestion: why\n```\n[1] x\n[2] y\n```\n')).toEqual([['A', 'B']])
    expect(contentsOf('```\n[1] x\n```\nSources:\n[1] A\n[2] B\n\nQuestion: what does\n[1] say?')).toEqual([['A', 'B']])
  })
})

describe('lists that belong to the question', () => {
  it.each([
    [
      'what it asks to choose from',
      'Question: capital of France?\n[1] Berlin\n[2] Paris\n[3] Rome\nAnswer with the number.',
    ],
    ['what follows a question mark', 'Which of these is a fruit?\n[1] apple\n[2] stone'],
    ['options', 'Options:\n[1] apple\n[2] stone\n\nWhich is a fruit?'],
    ['steps', 'Follow these steps in order:\n[1] open the file\n[2] read it'],
    ['a list whose last line may be the question', '[1] Alpha\n[2] Beta\nWhich fruit is it?'],
    ['blocks of several lines, of which the last may be the question', '[1] Alpha\nand so on\n[2] Beta\nand on'],
  ])('are left alone: %s', (_, text) => {
    expect(findContextLists(text)).toEqual([])
  })

  it.each([
    ['a question in front, a blank line between', 'Question: who?\n\n[1] Alpha\n[2] Beta'],
    ['documents to answer questions from', 'Use these documents to answer the questions:\n[1] Alpha\n[2] Beta'],
    ['several lines in the other blocks, one in the last', 'Sources:\n[1] Alpha\nand so on\n[2] Beta'],
    ['the text of each below its label', 'Sources:\nDocument 1:\nAlpha\nDocument 2:\nBeta'],
    ['several lines in all, the question in front', 'Question: who?\n\n[1] Alpha\nand so on\n[2] Beta\nand on'],
  ])('but not %s', (_, text) => {
    expect(findContextLists(text)[0]?.blocks).toHaveLength(2)
  })
})

describe('a text that ends with a rule of its own, between labelled texts separated by rules', () => {
  const [first, second, third] = ['It rained.\n\n---', 'The sun shone.', 'Wind.']
  const write = (texts: readonly string[], behind: string): string =>
    `Documents:\n${texts.map((text, i) => `[Document ${i + 1}] ${text}`).join('\n\n---\n\n')}${behind}`

  it('keeps it', () => {
    const text = write([first, second, third], '\n\nQuestion: why?')
    expect(contentsOf(text)).toEqual([[first, second, third]])
  })

  it('is left alone with the others where it is the last, because the list may be closed by a rule', () => {
    expect(contentsOf(write([second, third, first], '\n---\n\nQuestion: why?'))).toEqual([])
    expect(contentsOf(write([second, third], '\n---\n\nQuestion: why?'))).toEqual([[second, third]])
    expect(contentsOf(write([second, third], '\n\n---\n\n--- \n\n---\n\nQuestion: why?'))).toEqual([])
  })

  it('is left alone where the same white space is around both rules, one of which may be its own', () => {
    expect(contentsOf(write([first, second, first], '\n\n---\n\nQuestion: why?'))).toEqual([])
    expect(contentsOf(write([second, third], '\n\n---\n\n---\n\nQuestion: why?'))).toEqual([])
    expect(contentsOf(write([second, third], '\n\n---\n\n\n---\n\nQuestion: why?'))).toEqual([])
    expect(contentsOf(write([first, second, third], '\n\n---\n\nQuestion: why?'))).toEqual([[first, second, third]])
  })
})

describe('a last text', () => {
  const long = '# Rain\n\nIt rains.\n\n## Where\n\nIn Oslo.\n\n```\nrain()\n```'

  it('of several paragraphs ends with the text below a question, but not behind words to the model', () => {
    const write = (behind: string): string =>
      `Question: why does it rain?\n\nUse the following documents:\n\n[1] It rained.\n\nAll day.\n[2] ${long}${behind}`
    expect(contentsOf(write('\n'))).toEqual([['It rained.\n\nAll day.', long]])
    expect(contentsOf(write('\n\nUse only these documents.'))).toEqual([])
  })
})

describe('a first text whose name stands on the line of a rule', () => {
  const file = (name: string, text: string): string => `## File Path: ${name}\n\n${text}`
  const files = `${file('a.md', 'It rained.')}\n\n${file('b.md', 'The sun shone.')}\n\n${file('c.md', 'Wind.')}`

  it('is not one in the midst of words', () => {
    const text = `Each is named like ## File Path: x.md\n\nContext:\n\n${files}\n\nQuestion: why?`
    expect(contentsOf(text)).toEqual([['It rained.', 'The sun shone.', 'Wind.']])
  })
})
