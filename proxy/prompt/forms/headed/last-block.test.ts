import { describe, expect, it } from 'vitest'
import { behindLists, contentsOf, findContextLists } from '../found-lists.fixture.ts'

const write = (kind: string, blocks: readonly string[]): [string, string][] => [
  [`[n], ${kind}`, blocks.map((block, i) => `[${i + 1}] ${block}`).join('\n')],
  [`Source n:, ${kind}`, blocks.map((block, i) => `Source ${i + 1}: ${block}`).join('\n\n')],
  [`Document n:, ${kind}`, blocks.map((block, i) => `Document ${i + 1}:\n${block}`).join('\n\n')],
  [`### Document n, ${kind}`, blocks.map((block, i) => `### Document ${i + 1}\n${block}`).join('\n')],
  [`file_path:, ${kind}`, blocks.map((block, i) => `file_path: ${i}.md\n\n${block}`).join('\n\n')],
]
const lists = [
  ...write('a line each', ['Alpha is first.', 'Beta is second.', 'Gamma is third.']),
  ...write('two lines each', ['Alpha is first.\nMore on it.', 'Beta is second.\nMore.', 'Gamma is third.\nMore here.']),
]

describe.each([
  ...write('with rules in them', ['Alpha\n---\nis first.', 'Beta\n---\nis second.', 'Gamma is third.']),
  ['Title: Content:', 'Title: a\nContent: Alpha is first.\n\nTitle: b\nContent: Beta is second.'],
])('behind a list of %s', (_, list) => {
  it.each(['---\nQuestion: why?', '---\n\nWhy?', '===\nQuestion: why?'])('%j stays with its rule', (tail) => {
    const text = `Context:\n${list}\n${tail}`
    expect(findContextLists(text).map(({ blocks }) => text.slice(blocks.at(-1)!.end))).toEqual([`\n${tail}`])
  })
})

describe.each(lists)('behind a list of %s', (_, list) => {
  it.each([
    '[Question]\nWhy?\n\n[Answer]',
    '【问题】\n为什么？\n\n【要求】\n1. 简短\n\n【回答】',
    '[질문]\n왜?\n\n[답변]',
  ])('sections in brackets end it: %j', (tail) => {
    const text = `Context:\n${list}\n\n${tail}`
    expect(behindLists(text)).toEqual([`\n\n${tail}`])
  })

  it.each([
    'Tell me about Alpha',
    'Be brief.\nTell me about Alpha',
    'Q: x',
    'Query x',
    '---\nTell me about Alpha',
    '***\nTell me',
    '___\nTell me',
    '-- \nTell me',
    '>>> tell me',
    '[QUESTION] tell me',
    '{"question":"tell me"}',
    '(Use only the sources above.)',
    'Was ist Alpha',
    'Пожалуйста, ответь',
    '以上を参考に答えて',
  ])('%j in the next line stays where it is', (tail) => {
    for (const [before, end] of [
      ['Context:\n', '\n'],
      ['Context:\n', '\r\n'],
      ['-----\n', '\n'],
    ] as const) {
      const text = `${before}${list}${end}${tail}`
      const ends = findContextLists(text).map(({ blocks }) => blocks.at(-1)!.end)
      expect(Math.max(0, ...ends)).toBeLessThanOrEqual(text.length - tail.length)
    }
  })

  it.each([
    ['"""', '"""', '\nQuestion: x'],
    ["'''", "'''", '\n\nQ?'],
    ['[CONTEXT]', '[/CONTEXT]', '\n\nQ?'],
    ['{context}', '{/context}', '\n\nQ?'],
    ['{% context %}', '{% endcontext %}', '\nTell me'],
    ['BEGIN CONTEXT', 'END CONTEXT', '\nTell me'],
    ['--- BEGIN OF DOCUMENTS ---', '--- END OF DOCUMENTS ---', '\nTell me'],
    ['<<<', '>>>', '\r\nTell me'],
    ['The context is:\n{', '}', '\nTell me'],
  ])('what closes %j is of the list, but of no block', (opening, closing, tail) => {
    const text = `Use these sources.\n${opening}\n\n${list}\n${closing}${tail}`
    const found = findContextLists(text)
    expect(found.map(({ blocks }) => text.slice(blocks.at(-1)!.end))).toEqual([`\n${closing}${tail}`])
    expect(behindLists(text)).toEqual([tail])
  })
})

describe('a list is left alone', () => {
  it('where rules are above and below each block, of which one may be its own', () => {
    const block = (name: string): string => `---\nTITLE: ${name}\nTEXT: It is ${name}.\nIt was.\n---\n`
    const text = `Documents:\n${['Oslo', 'Rome', 'Bern'].map(block).join('\n')}----\nQuestion: why?`
    expect(findContextLists(text)).toEqual([])
  })

  it('where only the last block holds a rule, which may divide it from the prompt', () => {
    const documents = ['Red.\nWarm.', 'Blue.\nCold.', 'Green.\nCalm.'].map((text, i) => `Document ${i}:::\n${text}`)
    const text = `Documents:\n${documents.join('\n')}\n---\nNow here is what you need to answer.\n\nQuestion: why?`
    for (const { blocks } of findContextLists(text)) expect(text.slice(0, blocks.at(-1)!.end)).toMatch(/Calm\.$/)
  })
})

describe('what a last block opens and closes itself', () => {
  it.each([
    'see\n[CODE]\nx\n[/CODE]',
    'BEGIN CONTEXT\nx\nEND CONTEXT',
    'def f():\n"""\nx\n"""',
    '<documents>\n<b>x</b>\n</documents>',
    'if (x) {\ny\n}',
  ])('belongs to it: %j', (block) => {
    expect(contentsOf(`[1] A\n[2] ${block}\n\nQuestion: x`)).toEqual([['A', block]])
  })

  it('leaves no list where a quotation around it cannot be told from one in it', () => {
    expect(contentsOf('"""\n[1] a\n"""\nb\n"""\n[2] c\n"""\nQuestion: x')).toEqual([])
    expect(contentsOf('"""\n[1] a\n[2] b"""\nQuestion: x')).toEqual([])
  })
})

describe('paragraphs between a list and its cue', () => {
  const list = '[1] A\r\n\r\n[2] B\r\n\r\n[3] p1'

  it.each([
    'p2\r\n\r\nQuestion: x',
    'p2\n\nQuestion: x',
    'p2\n\np3\n\nQuestion: x',
    'p2\n\nWhat is it?',
    'p2\n\n## Question\nx',
  ])('may be of the last block, and the list is left alone: %j', (behind) => {
    expect(contentsOf(`${list}\r\n\r\n${behind}`)).toEqual([])
  })

  it('may be of the last block of a container, and of a tool result', () => {
    expect(contentsOf(`<context>\n${list}\n\np2\n</context>\n\nWhy?`)).toEqual([['A', 'B', 'p1\n\np2']])
    expect(findContextLists(`${list}\n\np2`, { whole: true })).toEqual([])
  })

  it.each([
    'Use the sources.\n\nWhat?',
    'Use only the sources above.\n\nQuestion: x',
    "If you don't know the answer, say so.\n\nQuestion: x",
    'What is Alpha?\n\nAnswer:',
    'Tell me about it.\n\nAnswer:',
    'Tell me about it.',
    'Be brief.\n\nQuestion: x',
    'Conversation history:\nUser: hi\n\nQuestion: x',
    '---\n\nNow.\n\nQuestion: x',
  ])('are of the prompt beyond doubt: %j', (behind) => {
    expect(contentsOf(`Sources:\n${list}\n\n${behind}`)[0]).toEqual(['A', 'B', 'p1'])
  })

  it('may ask or instruct behind blocks that have paragraphs themselves', () => {
    const long = '[1] A\n\nmore\n\n[2] B\n\nmore'
    expect(contentsOf(`${long}\n\nWhat is A?\n\nAnswer:`)).toEqual([])
    expect(contentsOf(`${long}\n\nUse only the sources.\n\nQuestion: x`)).toEqual([])
    expect(contentsOf(`${long}\n\nQuestion: x`)).toEqual([['A\n\nmore', 'B\n\nmore']])
  })
})

describe('a line of the last block that reads like a cue', () => {
  const faq = 'FAQ\nQuestion: how?\nAnswer: so.'
  const inside = [
    faq,
    'They found,\nbased on the results: they grow\nin the shade.',
    'B\nAnswer the door when it rings',
    'B\nPlease use the provided key\nto open it.',
    'B\nUser: hi\nAssistant: hello',
    'B\nTask: foo\nbar',
    'B\nQuery: foo',
    'B\nInput: 5',
    'B\nInstructions: none',
  ]

  describe.each([
    ['[n]', (blocks: string[]) => blocks.map((block, i) => `[${i + 1}] ${block}`).join('\n\n')],
    ['Document n:', (blocks: string[]) => blocks.map((block, i) => `Document ${i + 1}: ${block}`).join('\n')],
    ['file_path:', (blocks: string[]) => blocks.map((block, i) => `file_path: ${i}\n\n${block}`).join('\n\n')],
  ])('of %s', (_, write) => {
    it.each(inside)('never ends it when the prompt goes on behind a blank line: %j', (block) => {
      for (const blocks of [
        ['A', block],
        ['A\n\nmore', 'A', `B\n\n${block}`],
      ]) {
        for (const behind of ['Question: what?', 'What is it?', 'Use the sources.\n\nQuery: x\nAnswer:']) {
          const text = `Documents:\n\n${write(blocks)}\n\n${behind}`
          for (const list of contentsOf(text)) expect(list.at(-1)).toContain(block)
        }
      }
    })

    it('never ends it at a question that is answered when another follows', () => {
      const block = 'FAQ\n\nQuestion: how?\nAnswer: so.'
      for (const behind of ['Question: what?', 'Question: what?\nAnswer:']) {
        const text = `Documents:\n\n${write(['A\n\nmore', block])}\n\n${behind}`
        for (const list of contentsOf(text)) expect(list.at(-1)).toContain(block)
      }
    })

    it.each([
      ...inside,
      'How do I reset the device?\n\nHold it.',
      'B\n\n## Usage\nKeep it dry.',
      'B\n\nKeep it dry.',
      'B\n\nShow me the money',
      'B\n\nWhat about batteries?',
      'B\n\nSteps and notes:\n\n- go',
      'B\n\nQuestion: how?\nAnswer: so.',
    ])('is of it in a container that the question stands behind: %j', (block) => {
      for (const behind of ['Question: what?', 'What is it?', 'Answer the question.\nQuery: x\nAnswer:']) {
        const [list] = contentsOf(`Use this.\n\n<context>\n${write(['A', 'B', block])}\n</context>\n\n${behind}`)
        expect(list).toHaveLength(3)
        expect(list!.at(-1)!.endsWith(block)).toBe(true)
      }
    })

    it('is not known from the question of a container that nothing follows', () => {
      const list = (block: string): string => `<context>\n${write(['A', 'B', block])}`
      expect(contentsOf(`${list('C')}\n\nQuestion: what?\n</context>`)[0]).toHaveLength(3)
      expect(contentsOf(`${list('C')}\n\nQuestion: what?\n</context>\nAnswer:`)[0]).toHaveLength(3)
      for (const found of contentsOf(`${list(faq)}\n</context>`)) expect(found.at(-1)).toContain(faq)
    })

    it.each([
      'Question: what?',
      'Question: what?\nAnswer:',
      'Question: what?\n\nAnswer:',
      'Query: what?\nOriginal Answer: this.\nNew Answer: ',
      'Given the context information and not prior knowledge, answer the query.\nQuery: what?\nAnswer: ',
      'Answer the question below.\nWhat is it?',
      'Question: what is this?\nx = 1',
      'Based on the above documents, what is it?\n\nAnswer:',
    ])('ends it where that surely is the prompt: %j', (behind) => {
      const text = `Documents:\n\n${write(['A', 'B'])}\n${behind}`
      expect(contentsOf(text)[0]?.map((block) => block.at(-1))).toEqual(['A', 'B'])
    })
  })

  it.each([
    ['<rag>', '</rag>'],
    ['"""', '"""'],
    ['[CONTEXT]', '[/CONTEXT]'],
    ['-----', '-----'],
    ['BEGIN CONTEXT', 'END CONTEXT'],
  ])('never ends it between %j and %j, with the question behind', (opening, closing) => {
    for (const block of [faq, 'B\n\nWhat about batteries?\n\nGo.', 'B\n\nKeep it dry.']) {
      const text = `Use these sources:\n${opening}\n[1] A\n\n[2] ${block}\n${closing}\n\nQuestion: what?`
      for (const list of contentsOf(text)) expect(list.at(-1)).toBe(block)
    }
    expect(contentsOf(`Sources:\n${opening}\n[1] A\n\n[2] B\n\nQuestion: what?\n${closing}`)).toEqual([['A', 'B']])
  })

  it('is no end of the last of some memories', () => {
    const memories = 'User Memories:\n- Owns a boat\n- Likes tea,\n'
    expect(contentsOf(`${memories}based on the results of a survey\n\nWhy?`)).toEqual([])
    expect(contentsOf(`${memories}Question: why?`)).toEqual([['Owns a boat', 'Likes tea,']])
  })
})

it.each(['[/Document]', '[End Document]', '=== End Document ===', '{{/doc}}'])(
  'the line %j at the end of every block is no end of the list',
  (line) => {
    const blocks = ['Alpha', 'Beta', 'Gamma'].map((text) => `${text}\n${line}`)
    const text = `Documents:\n\n${blocks.map((block, i) => `[Document ${i + 1}]\n${block}`).join('\n\n')}\n\nQuestion: why?`
    expect(contentsOf(text)).toEqual([blocks])
  },
)

it.each(['[/Document]', '[END]', '<<<END DOC>>>'])(
  'a last block without the line %j that closes the others is left alone',
  (line) => {
    const list = ['Alpha', 'Beta'].map((text, i) => `[Document ${i + 1}]\n${text}\n\nmore\n${line}`).join('\n\n')
    expect(contentsOf(`Documents:\n\n${list}\n\nIt is late.\n\nQuestion: why?`)).toEqual([])
  },
)

it('a last block that would be empty, since its first line reads like a cue, is left alone with its list', () => {
  const text = 'Document 1:\nAlpha\nDocument 2:\nUser: hi\nBob: hello\n---\nQuestion: why?\nAnswer:'
  expect(contentsOf(text)).toEqual([])
})

describe('a paragraph of the prompt behind documents of several paragraphs does not move with the last one:', () => {
  it.each([
    'Responde solo con la información anterior.',
    'Antworte nur auf Deutsch.',
    '上記の文書だけを使って日本語で答えてください。',
    'أجب بالاعتماد على المستندات أعلاه فقط.',
    'The user is twelve years old.',
    'Thanks in advance, and take your time!',
    'Requirements:\n1. Be short.',
    'Reglas:\n- Sé breve.',
    'Example answer:\nThe capital is Rome [2].',
    '====== Now it begins ======',
  ])('%j', (tail) => {
    for (const documents of [
      ['Red.\n\nWarm.', 'Blue.\n\nCold.', 'Green.\n\nCalm.'],
      ['# Red\n\nWarm.', '# Blue\n\nCold.', '# Green\n\nCalm.'],
    ]) {
      const list = documents.map((text, i) => `Document ${i + 1}: ${text}`).join('\n\n')
      const text = `Context:\n\n${list}\n\n${tail}\n\nQuestion: Which?`
      const [found] = findContextLists(text)
      expect(text.slice(found?.blocks.at(-1)?.end ?? text.length)).not.toBe('\n\nQuestion: Which?')
    }
  })

  it('nor is a list taken whose last document holds an answer in front of the question', () => {
    const quiz = 'Document 1: Rain fell.\n\nIt went on.\nDocument 2: A quiz.\n\nAnswer: it was rain.\n\nMore of it.'
    expect(findContextLists(`Sources:\n${quiz}\n\nQuestion: why?`)).toEqual([])
  })

  it('nor is a list taken whose numbers count up and then jump', () => {
    const quoted = 'Document 1: Red.\n\nDocument 2: a script:\n\ncat <<EOF\nDocument 9: not one\nEOF'
    expect(findContextLists(`Context:\n\n${quoted}\n\nQuestion: Which?`)).toEqual([])
  })
})

describe('a last document that asks or answers is not cut where it does so:', () => {
  const short = ['Otters sleep on their backs.', 'Bees dance to show the way.', 'Owls turn their heads far around.']
  const write = (last: string): string =>
    `Use the following documents.\n\n${[...short, last].map((text, i) => `Document ${i + 1}: ${text}`).join('\n\n')}`

  it.each([
    'Returns of used items.\n\nWhat is the deadline?\n\nThirty days, with the receipt.',
    'Interview with the founder.\n\nQ: Why bees?\n\nA: Because they dance.',
    'Saved chat with a guest.\n\nAssistant: The pool opens at nine.',
    'Saved chat.\n\nUser: hello\n\nAssistant: The pool opens at nine.',
    'First part of a text.\n\nSecond part of it.\n\nThird part?',
    'Returns of used items.\n\nWhat is the deadline?',
  ])('%j in front of the question', (last) => {
    expect(contentsOf(`${write(last)}\n\nQuestion: What is allowed?\nAnswer:`)).toEqual([])
  })

  it('nor at a blank line where the question is in another message', () => {
    const last = 'The ferry leaves at nine.\n\nTickets are sold on board.'
    expect(findContextLists(write(last), { asked: true })).toEqual([])
    expect(findContextLists(`${write('The ferry leaves.')}\n\nAnswer briefly.`, { asked: true })).toHaveLength(1)
  })

  it('nor at an answer on the line of its cue', () => {
    expect(findContextLists(write('May I return it?\nAnswer: Yes, within 30 days.'), { asked: true })).toEqual([])
  })

  it.each(['Answer:', 'Please be brief.', 'Thanks!', '(Answer in one line)', 'Keep it short.\n\nAnswer:'])(
    'but where only the question follows, and %j',
    (rest) => {
      const text = `${write('The ferry leaves at nine.')}\n\nWhen does it leave?\n\n${rest}`
      expect(contentsOf(text)).toEqual([[...short, 'The ferry leaves at nine.']])
    },
  )
})
