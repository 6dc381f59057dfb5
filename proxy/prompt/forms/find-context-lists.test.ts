import { describe, expect, it } from 'vitest'
import { searchLists } from './find-context-lists.ts'
import { announced, contentsOf, findContextLists, findSureLists } from './found-lists.fixture.ts'

describe('the prompts of', () => {
  it('LangChain: numbered documents stuffed between the instruction and the question', () => {
    const text = `Use the following pieces of context to answer the question at the end. If you don't know the answer, just say that you don't know, don't try to make up an answer.

[1] The Amazon is 6,400 km long.

It rises in Peru.

[2] The Nile is 6,650 km long.

It flows north.

Question: Which river is longer?
Helpful Answer:`
    expect(contentsOf(text)).toEqual([
      ['The Amazon is 6,400 km long.\n\nIt rises in Peru.', 'The Nile is 6,650 km long.\n\nIt flows north.'],
    ])
  })

  it('LlamaIndex: the sources of its citation engine, but not those of its example', () => {
    const text = `Please provide an answer based solely on the provided sources. When referencing information from a source, cite the appropriate source(s) using their corresponding numbers. For example:
Source 1:
The sky is red in the evening and blue in the morning.
Source 2:
Water is wet when the sky is red.
Query: When is water wet?
Answer: Water will be wet when the sky is red [2], which occurs in the evening [1].
Now it's your turn. Below are several numbered sources of information:
------
Source 1:
Lyon lies on the Rhône.

It has 520,000 inhabitants.

Source 2:
Nice lies at the sea.
------
Query: Where is Lyon?
Answer: `
    expect(contentsOf(text)).toEqual([
      ['Lyon lies on the Rhône.\n\nIt has 520,000 inhabitants.', 'Nice lies at the sea.'],
    ])
  })

  it('Haystack: Document[1] in its question answering prompt', () => {
    const text =
      'Create a concise answer. Cite as in Document[number].\n\nDocument[1]: Oslo is cold.\nDocument[2]: Rome is warm.\n\nQuestion: Where is it warm?; Answer: '
    expect(contentsOf(text)).toEqual([['Oslo is cold.', 'Rome is warm.']])
  })

  it('Open WebUI: numbered sources in a context, in spite of the tags in its instructions', () => {
    const text = `### Task:
Respond to the user query using the provided context, incorporating inline citations in the format [id] **only when the <source> tag includes an explicit id attribute** (e.g., <source id="1">).

### Guidelines:
- Do not use XML tags in your response.

<context>
<source id="1" name="a.pdf">Bees dance.</source>
<source id="2" name="b > c.pdf">Ants
do not.</source>
</context>

<user_query>
Who dances?
</user_query>`
    expect(contentsOf(text)).toEqual([['Bees dance.', 'Ants\ndo not.']])
    expect(findContextLists(text)).toMatchObject([{ positional: true, end: text.indexOf('\n\n<user_query>') }])
  })

  it('Dify: one context, and not its mention', () => {
    const text =
      "Use the following context as your learned knowledge, inside <context></context> XML tags.\n\n<context>\nBees dance.\n\nAnts do not.\n</context>\n\nWhen answer to user:\n- If you don't know, just say that you don't know."
    expect(contentsOf(text)).toEqual([['Bees dance.\n\nAnts do not.']])
  })

  it('Anthropic: documents with their source and content', () => {
    const one = '<source>a.pdf</source>\n<document_content>\nRevenue rose.\n</document_content>'
    const two = '<source>b.pdf</source>\n<document_content>\nCosts fell.\n</document_content>'
    const text = `<documents>\n<document index="1">\n${one}\n</document>\n<document index="2">\n${two}\n</document>\n</documents>\n\nAnalyse them.`
    expect(contentsOf(text)).toEqual([[one, two]])
    expect(text.slice(findContextLists(text)[0]!.end)).toBe('\n\nAnalyse them.')
  })

  it('Lost in the Middle: numbered and titled search results', () => {
    const text = `Write a high-quality answer for the given question using only the provided search results (some of which might be irrelevant).

Document [1](Title: Nobel Prize) The first prize was awarded in 1901.
Document [2](Title: Röntgen) He discovered X-rays.

Question: who got the first nobel prize in physics
Answer:`
    expect(contentsOf(text)).toEqual([
      ['(Title: Nobel Prize) The first prize was awarded in 1901.', '(Title: Röntgen) He discovered X-rays.'],
    ])
  })

  it('ContextPilot: [Doc_k], with the annotation behind them', () => {
    const text =
      'The retrieved documents are\n\n[Doc_1] ABCD\n\n[Doc_2] EFGH\n\n[Doc_3] IJKL\n\nPlease read the context in the following priority order: [Doc_2] > [Doc_1] > [Doc_3] and answer the question.\nWhere is E?'
    expect(contentsOf(text)).toEqual([['ABCD', 'EFGH', 'IJKL']])
    expect(findContextLists(text)).toMatchObject([{ positional: true, labelPrefix: 'Doc_' }])
  })

  it('people: nothing to find', () => {
    for (const text of [
      '',
      ' \n\n',
      'Hello!',
      'a < b && c[1] > d',
      'Fix this:\n\n```ts\nconst a: Array<string> = []\n```',
    ]) {
      expect(findContextLists(text)).toEqual([])
    }
  })
})

describe('a text of absurdly many blocks', () => {
  it.each([
    ['in one list', (count: number) => `Use these documents:\n${'<document>a</document>\n'.repeat(count)}`],
    ['in many lists', (count: number) => '[Doc_1] a\n[Doc_2] b\n\nQuestion: x\n\n'.repeat(count / 2)],
  ])('is left alone, %s', (_, write) => {
    const blocks = findContextLists(write(2_048)).flatMap((list) => list.blocks)
    expect(blocks).toHaveLength(2_048)
    expect(findContextLists(write(2_050))).toEqual([])
  })
})

describe('hostile texts', () => {
  const size = 5_000_000
  const fill = (part: string): string => part.repeat(size / part.length)
  const forms = ['Doc', 'doc', 'Source', 'source', 'File', 'file', 'Chunk', 'chunk']
    .map((word) => `${word} 7: x\n`)
    .join('')
  const deep = (count: number): string => `${'<docs>\n[1] a\n\nb\n[2] c\n'.repeat(count)}${'</docs>'.repeat(count)}`

  // at most 0.4 s each on a slow core; the bound only distinguishes linear from quadratic time
  it.each([
    ['unclosed tags', fill('<document>')],
    ['nested tags', `${'<doc>'.repeat(120_000)}${'</doc>'.repeat(120_000)}${fill('x')}`],
    ['nested containers with lists', `${deep(30_000)}${fill('x\n')}`],
    ['tags of many names', Array.from({ length: 500_000 }, (_, i) => `<a${i}>`).join('')],
    ['bracket openers', fill('[')],
    ['tag openers', fill('<')],
    ['quotes that never close', fill('<document a="')],
    ['quotes in quotes', fill(`<a b="<a c='" d='<e="' `)],
    ['one tag that never closes', `<document ${fill('a b=c ')}`],
    ['white space', fill(' ')],
    ['white space in tags', fill('<document       ')],
    ['blank lines', fill('\r\n')],
    ['words that begin a label', fill('Document ')],
    ['lines that begin a label', fill('Document\n')],
    ['the same label', fill('[1] x\n')],
    ['labels that count up', Array.from({ length: 90_000 }, (_, i) => `[${i}] x\n\n${'y'.repeat(30)}\n`).join('')],
    ['lists that follow one another', '[1] a\n[2] b\n\nQuestion: x\n'.repeat(40_000)],
    ['lists of many forms in one another', `${forms}${fill('x\n\n')}${forms}`],
    ['fences', fill('```\n')],
    ['texts that share one endless line', `Sources:\n${'a.md: b\r'.repeat(1_250_000)}`],
    ['chat template marks', fill('</s>   <|user|>')],
    ['cue lines', `[1] a\n\nb\n[2] c\n${fill('> - Question (x\n')}`],
  ])('made of %s are read in linear time', (_, text) => {
    // in quadratic time, this would exceed the test timeout
    expect(findContextLists(text)).toBeDefined()
  })
})

it('reads a long text in steps, and what is found does not depend on them', () => {
  const text = announced(`Document 1: ${'a line\n'.repeat(9_000)}\nDocument 2: ${'another\n'.repeat(9_000)}\nWhy?`)
  const steps = searchLists(text, {})
  let taken = 0
  let step = steps.next()
  for (; !step.done; step = steps.next()) taken++
  expect(taken).toBeGreaterThan(4)
  expect(step.value).toEqual(findSureLists(text))
  expect(step.value.lists).toHaveLength(1)
})
