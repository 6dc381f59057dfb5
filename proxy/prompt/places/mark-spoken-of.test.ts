import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { toBlockId } from '#index/context-block.ts'
import type { RequestOptions } from '../../common/request-options.ts'
import { assistantMessage as assistant, type Message, Sender } from '../../request/sender.fixture.ts'
import type { PromptContext } from '../body/prompt-context.ts'
import { findContexts } from '../contexts.fixture.ts'
import { finish } from '../finish.ts'
import { nouns } from '../scan/words/nouns.ts'
import { markSpokenOf } from './mark-spoken-of.ts'

const peru = 'The Amazon rises in the mountains of Peru.'
const nile = 'The Nile flows through eleven countries.'
const user = (content: string): Message => ({ role: 'user', content })
const forms: [string, (...blocks: string[]) => string][] = [
  ['[n]', (...blocks) => `Context:\n${blocks.map((text, i) => `[${i + 1}] ${text}`).join('\n')}`],
  ['Document n:', (...blocks) => `Context:\n${blocks.map((text, i) => `Document ${i + 1}: ${text}`).join('\n')}`],
  [
    '<document>',
    (...blocks) =>
      `<documents>\n${blocks.map((text, i) => `<document index="${i + 1}">${text}</document>`).join('\n')}\n</documents>`,
  ],
]
const [[, numbered], [, spoken]] = forms as [(typeof forms)[0], (typeof forms)[0]]

/** Returns whether the second of two lists with the same blocks is sent in the order of the first. */
function isMoved(write: (...blocks: string[]) => Message[], first = peru, second = nile): boolean {
  const sender = new Sender()
  sender.send(write(first, second))
  const messages = write(second, first)
  return JSON.stringify(sender.send(messages)) !== JSON.stringify(messages)
}

describe('a list stays as received when it is spoken of by the word that its own marks use:', () => {
  const english = nouns.filter(({ language, label, tag }) => language === 'en' && (label || tag))
  const clippings = { singular: 'clipping', plural: 'clippings', label: 'strong' as const, tag: undefined }
  const labelled = ({ singular }: { singular: string }, blocks: string[]): string => {
    const head = singular.replace(/^./, (letter) => letter.toUpperCase())
    return `Use these documents:\n\n${blocks.map((text, i) => `${head} ${i + 1}: ${text}`).join('\n\n')}`
  }
  const tagged = ({ singular }: { singular: string }, blocks: string[]): string => {
    const name = singular.replaceAll(' ', '_')
    const elements = blocks.map((text, i) => `<${name} index="${i + 1}">${text}</${name}>`)
    return `<documents>\n${elements.join('\n')}\n</documents>`
  }
  const moves = (list: (blocks: string[]) => string, question: string): boolean =>
    isMoved((...blocks) => [user(`${list(blocks)}\n\nQuestion: ${question}`)])

  it.each([...english, clippings])('$singular', (noun) => {
    for (const write of [labelled, tagged]) {
      const list = (blocks: string[]): string => write(noun, blocks)
      // of a form that is not found, nothing can be moved
      if (!moves(list, 'Which river is longer?')) continue
      for (const words of [
        `What does the second ${noun.singular} say?`,
        `How do the first two ${noun.plural} differ?`,
        `Is ${noun.singular} two right?`,
        `What is the last ${noun.singular} about?`,
        `Does the last ${noun.singular} agree with the previous ${noun.singular}?`,
      ]) {
        expect([words, moves(list, words)]).toEqual([words, false])
      }
    }
  })

  it.each([
    ['Use the following memories to answer.\n\n', 'Which river is longer? Give your final answer.'],
    ['Answer from these memories:\n\n', 'Which is the first answer you would give?'],
  ])('and is moved where %o announces it', (line, question) => {
    const list = (blocks: string[]): string =>
      `${line}${blocks.map((text, i) => `[Memory ${i + 1}] ${text}`).join('\n')}`
    expect(moves(list, question)).toBe(true)
  })

  it('by a list of titles beside it', () => {
    const write = (beside: (block: string) => string): boolean =>
      isMoved((...blocks) => [
        user(
          `<documents>\n${blocks.map((text) => `<document>${beside(text)}</document>`).join('\n')}\n</documents>\n` +
            `${blocks.map((text, i) => `<context id="${i + 1}">${text}</context>`).join('\n')}\n\nQuestion: Which is longer?`,
        ),
      ])
    expect(write((text) => `<title>About ${text.slice(0, 8)}</title>`)).toBe(false)
    expect(write((text) => `${text} It flows to the sea, and nobody knows where it begins.`)).toBe(true)
  })

  it.each([
    ['Summaries of these documents:\n- A long one.\n- A short one.', false],
    ['Sources:\n1. peru.md\n2. nile.md', false],
    ['Rules:\n1. Be short.\n2. Be kind.', true],
  ])('by items beside it: %j', (beside, isFree) => {
    const write = (...blocks: string[]): Message[] => [
      user(
        `<documents>\n${blocks.map((text) => `<document>${text}</document>`).join('\n')}\n</documents>\n\n${beside}\n\nQuestion: Which is longer?`,
      ),
    ]
    expect(isMoved(write)).toBe(isFree)
  })

  it('but not by the number of results above it', () => {
    const write = (...blocks: string[]): Message[] => [
      user(
        `Retrieved 2 results:\n\n${blocks.map((text) => `Source: a.example/${text.length}\nContent: ${text}`).join('\n\n')}\n\nQuestion: Which is longer?`,
      ),
    ]
    expect(isMoved(write)).toBe(true)
  })

  it.each([
    'Use the third bullet point.',
    'What does the 2nd say?',
    'What does the next-to-last say?',
    'What is in the penultimate text?',
    'What do the odd-numbered documents say?',
    'What does number two say?',
    'What does every other document say?',
    'Which is longer? Leave out the opening text.',
    'What does "Document 2" say about it?',
    'What does document III say?',
    'Is 1 more reliable than 2?',
    'Use only 1 and 2. Which is longer?',
    'ماذا يقول المستند رقم ٢؟',
    'दस्तावेज़ संख्या २ क्या कहती है?',
    'What does the second email say?',
    'What do the first two say?',
    'Ignore the first and answer: which is longer?',
    'Please quote extract 2.',
    'What does the extract in second place, the middle extract, say?',
    'What does the extract numbered 2 say?',
  ])('%s', (question) => {
    expect(moves((blocks) => tagged({ singular: 'extract' }, blocks), question)).toBe(false)
  })

  it('of members of JSON', () => {
    const asked = (question: string): boolean =>
      isMoved((...blocks) => {
        const call = { id: 'c', type: 'function', function: { name: 'search_memories', arguments: '{}' } }
        const results = blocks.map((memory) => ({ id: `m${memory.length}`, memory, score: 0.5 }))
        return [
          user(question),
          { role: 'assistant', content: null, tool_calls: [call] } as unknown as Message,
          { role: 'tool', tool_call_id: 'c', content: JSON.stringify({ results }) } as unknown as Message,
        ]
      })
    expect(asked('Which river is longer?')).toBe(true)
    expect(asked('What does the second memory say?')).toBe(false)
  })

  it.each([
    ['The first document is the official policy, the others are comments.', false],
    ['Answer from extract 1 alone.', false],
    ['Answer from the documents, cite them as [1] or [2].', true],
  ])('by the system: %s', (system, isFree) => {
    const list = (blocks: string[]): string => tagged({ singular: 'extract' }, blocks)
    const write = (...blocks: string[]): Message[] => [
      { role: 'system', content: system },
      user(`${list(blocks)}\n\nQuestion: Which river is longer?`),
    ]
    expect(isMoved(write)).toBe(isFree)
  })

  it('and is moved where a field of theirs is counted', () => {
    const list = (blocks: string[]): string => tagged({ singular: 'extract' }, blocks)
    expect(moves(list, 'What is the last index of the river?')).toBe(true)
    expect(moves(list, 'What is the last extract about?')).toBe(false)
  })

  it('and is moved where another word is counted', () => {
    const list = (blocks: string[]): string => labelled({ singular: 'memory' }, blocks)
    expect(moves(list, 'Who was the first president, and what is the second step?')).toBe(true)
  })
})

describe.each(forms)('a list of %s stays where the answer is to be its number alone', (_, list) => {
  it.each([
    "Question: which passage answers 'where is copper melted'? Output only the passage number.",
    'Question: where? Antworte nur mit der Nummer.',
    'Question: où ? Réponds uniquement par son numéro.',
    'Question: ¿dónde? Responde solo con el número.',
    'Question: onde? Responda apenas com o número.',
    'Question: 哪一篇？只回答编号。',
    'Question: どれ？番号だけで答えてください。',
    'Question: which fits? Call choose with its number.',
  ])('%s', (words) => {
    const write = (...blocks: string[]): Message[] => [user(`${list(...blocks)}\n\n${words}`)]
    expect(isMoved(write)).toBe(false)
    expect(isMoved((...blocks) => [user(`${list(...blocks)}\n\nQuestion: which river is longer?`)])).toBe(true)
  })

  it('as the system message asks', () => {
    const system: Message = { role: 'system', content: 'Reply with just the number.' }
    expect(isMoved((...blocks) => [system, user(`${list(...blocks)}\n\nQuestion: which is longer?`)])).toBe(false)
  })
})

describe.each(forms)('a list of %s stays as received when it is spoken of', (_, list) => {
  it.each([
    'Question: what does [1] say about [2]?',
    'Question: does [Doc_2] contradict the others?',
    'Question: what is the difference between 1 and 2 in these words?',
    'Question: what changed from document 1 to document 2?',
    'Refer to sources by number. Source 2 is authoritative.',
    'Question: how do the first two documents differ?',
    'What does the last source say?',
    'Which document is first?',
    'Compare the first against the second.',
    'Fasse das zweite Dokument zusammen.',
    '总结第二个文档。',
    'Write a poem in this order.',
    'Tell what they say, in order.',
    'Please read the context in the following priority order: [2] > [1] and answer the question.',
  ])('by %j', (words) => {
    expect(isMoved((...blocks) => [user(`${list(...blocks)}\n\n${words}`)])).toBe(false)
    expect(isMoved((...blocks) => [user(`${words}\n\n${list(...blocks)}\n\nAnswer.`)])).toBe(false)
    expect(isMoved((...blocks) => [user(`${list(...blocks)}\n\nRead.`), assistant('Done.'), user(words)])).toBe(false)
  })

  it.each([
    'Question: which river is longer?',
    'Answer: often between 1 and 5 words',
    'Write between 2 and 4 short sentences.',
    'Cite like [1].',
    'Use inline citations (e.g., [1], [2]) and quote what you use.',
    'Answer only from the context. Put the number of the source in brackets: [1][2].',
    'After every sentence give the number of the document in square brackets, e.g. [2].',
    'Answer as in "The sky is blue [1]."',
    'List the sources in order of relevance, in order to be brief.',
    'Question: who won the second prize in 2001, and what is in section 2?',
    'Question: what is the #1 cause of floods, and what is our #1 product?',
    'Question: who finished first in the race, and who won last?',
    'Question: why? For example:\nSource 1:\nThe sky is red.\nSource 2:\nWater is wet.\nAnswer: Water is wet [2].',
  ])('but not by %j', (words) => {
    expect(isMoved((...blocks) => [user(`${list(...blocks)}\n\n${words}`)])).toBe(true)
  })
})

it.each([
  'what do the final results say?',
  'what is the first result of the search for trials?',
  'what does the second article of the magazine say?',
  'what does the last result say of the trial?',
  'is #1 right?',
  'what does the #1 source say?',
  'does the #1 say so?',
  'what is our #2 about?',
])('a list stays where a block is counted: %s', (question) => {
  expect(isMoved((...blocks) => [user(`${numbered(...blocks)}\n\nQuestion: ${question}`)])).toBe(false)
})

it.each([
  ['Search results:', 'result', 'what were the final results of the trial?'],
  ['Laws:', 'article', 'what does the second article of the constitution say?'],
  ['Documents:', 'extract', 'what does the #1 extract say?'],
])('below %j, a place of its own word %s is one of its places', (line, word, question) => {
  const list = (blocks: string[]): string =>
    blocks.map((text, i) => `<${word} id="${i + 1}">${text}</${word}>`).join('\n')
  const write =
    (asked: string) =>
    (...blocks: string[]): Message[] => [
      user(`${line}\n\n<documents>\n${list(blocks)}\n</documents>\n\nQuestion: ${asked}`),
    ]
  expect(isMoved(write('which river is longer?'))).toBe(true)
  expect(isMoved(write(question))).toBe(false)
})

describe('a list stays as received', () => {
  const members = (...blocks: string[]): string => JSON.stringify(blocks.map((content, i) => ({ id: i + 1, content })))
  const inMembers = (...blocks: string[]): string => `Search results:\n${members(...blocks)}`

  it.each([
    'He says so; see document [2] for more.',
    'As Document 2 has it, rivers flow.',
    'It is disputed in [2] alone.',
    'Compare Doc_2.',
  ])('when a block names another one: %j', (words) => {
    for (const list of [numbered, spoken, inMembers]) {
      const write = (...blocks: string[]): Message[] => [user(`${list(...blocks)}\n\nQuestion: why?`)]
      expect(isMoved(write)).toBe(true)
      expect(isMoved(write, `${peru} ${words}`)).toBe(false)
    }
  })

  it('when the answer that the caller has begun goes through it', () => {
    const begun =
      (words: string) =>
      (...blocks: string[]): Message[] => [
        user(`<documents>\n${blocks.map((text) => `<document>${text}</document>`).join('\n')}\n</documents>\n\nWhy?`),
        assistant(words),
      ]
    expect(isMoved(begun('The rivers are these:'))).toBe(true)
    expect(isMoved(begun('The documents, one by one, say:'))).toBe(false)
  })

  it('beside as many pictures', () => {
    const asked =
      (pictures: number) =>
      (...blocks: string[]): Message[] => [
        {
          role: 'user',
          content: [
            {
              type: 'text',
              text: `<documents>\n${blocks.map((text) => `<document>${text}</document>`).join('\n')}\n</documents>`,
            },
            ...Array.from({ length: pictures }, () => ({ type: 'image_url', image_url: { url: 'data:a' } })),
            { type: 'text', text: 'Question: Why?' },
          ],
        },
      ]
    expect(isMoved(asked(1))).toBe(true)
    expect(isMoved(asked(2))).toBe(false)
  })

  it('when an answer that is not known here cites it', () => {
    const chat = (...blocks: string[]): Message[] => [user(numbered(...blocks)), assistant('Peru [1].'), user('Thanks')]
    expect(isMoved(chat)).toBe(false)
  })

  it.each(['The second document says so.', '第二篇文档这样说。', 'Das zweite Dokument sagt es.'])(
    'when such an answer names one by its place: %j',
    (words) => {
      const chat =
        (said: string) =>
        (...blocks: string[]): Message[] => [user(`${numbered(...blocks)}\n\nWhy?`), assistant(said), user('Thanks')]
      expect(isMoved(chat('It rains.'))).toBe(true)
      expect(isMoved(chat(words))).toBe(false)
    },
  )
})

it.each(['[CONTEXT {i}]:\n{x}\n[END CONTEXT {i}]\n\n', '[Document {i}]\n{x}\n[/Document {i}]\n'])(
  'the lines that close blocks by their numbers do not speak of them: %j',
  (form) => {
    const write = (...blocks: string[]): string =>
      blocks.map((text, i) => form.replaceAll('{i}', `${i}`).replace('{x}', text)).join('')
    expect(isMoved((...blocks) => [user(`Context:\n${write(...blocks)}Question: why?`)])).toBe(true)
    expect(isMoved((...blocks) => [user(`Context:\n${write(...blocks)}Question: what does document 1 say?`)])).toBe(
      false,
    )
  },
)

describe('a list whose blocks bear their numbers a second time stays as received', () => {
  const more = 'It is long and wide, and boats go up and down on it all the year. '
  const forms: [string, string][] = [
    ['in a tag', '<document index="{i}">\n<id>{i}</id>\n{x}\n</document>'],
    ['in an attribute', '<document index="{i}" citation="[{i}]">{x}</document>'],
    ['in brackets in an element', '<doc id="{i}">[{i}] {x}</doc>'],
    ['in a member', '{"id": {i}, "text": "{x}", "ref": {i}}'],
    ['in a text that is a member', '{"index":{i},"text":"[{i}] {x}"}'],
    ['as the way to cite it', 'Document {i}:\n{x}\nCite as [{i}].\n'],
    ['by the word of the list', 'Chunk {i}:\n{x}\nThat was chunk {i}.\n'],
    ['at its end', 'Context {i}: {x} (end of context {i})\n'],
    ['at the end of a label of its own', '[{i}] {x} [{i}]\n'],
  ]
  const writeAll = (form: string, blocks: readonly string[], number: (place: number) => number): string => {
    const written = blocks.map((text, i) => {
      const [, first, rest] = /^(.*?\{i\})([\s\S]*)$/.exec(form)!
      return `${first!.replace('{i}', `${i + 1}`)}${rest!.replaceAll('{i}', `${number(i)}`).replace('{x}', text)}`
    })
    return form.startsWith('{') ? `[${written.join(', ')}]` : written.join('\n')
  }

  /** Returns how many of several lists with common blocks are sent in another order. */
  const countMoved = (form: string, number: (place: number) => number): number => {
    const sender = new Sender()
    const moved = ['abc', 'dbe', 'bfa', 'gbc', 'cab'].filter((names) => {
      const blocks = [...names].map((name) => `${name}: ${more.repeat(3)}`)
      const messages = [user(`Sources:\n\n${writeAll(form, blocks, number)}\n\nQuestion: why?`)]
      return JSON.stringify(sender.send(messages)) !== JSON.stringify(messages)
    })
    return moved.length
  }

  it.each(forms)('%s', (_, form) => {
    expect(countMoved(form, (place) => place + 1)).toBe(0)
    // a number of their own, equal for all blocks
    expect(countMoved(form, () => 7)).toBeGreaterThan(0)
  })
})

it('a list that letters count stays as received: nobody maps what an answer cites by them', () => {
  const [a, b, c] = [peru, nile, 'The Rhine rises in the Alps.']
  const write = (...blocks: string[]): Message[] => [
    user(`Sources:\n${blocks.map((text, i) => `Source ${'ABC'[i]}: ${text}`).join('\n')}\n\nQuestion: why?`),
  ]
  const sender = new Sender()
  sender.send(write(a, b, c))
  const messages = write(c, b, a)
  expect(sender.send(messages)).toEqual(messages)
})

describe.each(forms)('a list of %s whose blocks bear numbers of their own', (_, list) => {
  const write =
    (title: (place: number) => string) =>
    (...blocks: string[]): Message[] => [
      user(`${list(...blocks.map((text) => `${title(text === peru ? 1 : 3)} ${text}`))}\n\nQuestion: why?`),
    ]

  it('stays as received if these are also labels: a quotation would be altered', () => {
    for (const title of ['Document # about rivers.', 'This is document #.', 'It has been proved. [#]']) {
      expect(isMoved(write((place) => title.replace('#', `${(place + 1) / 2}`)))).toBe(false)
    }
  })

  it.each(['Document # about rivers.', 'This is document #.', 'Source #:'])(
    'is ordered if these are no labels: %j',
    (title) => {
      expect(isMoved(write((place) => title.replace('#', `${place + 10}`)))).toBe(true)
    },
  )

  it('stays as received when these may be the numbers of others', () => {
    expect(isMoved(write((place) => `See document ${3 - place}.`))).toBe(false)
    expect(isMoved(write((place) => `Document ${place}, after document ${3 - place}.`))).toBe(false)
    expect(isMoved(write(() => 'Document 1 says:'))).toBe(false)
  })
})

describe.each(forms)('a list of %s whose blocks speak of each other', (_, list) => {
  const write =
    (words: string) =>
    (...blocks: string[]): Message[] => [
      user(`${list(...blocks.map((text) => text.replace('…', words)))}\n\nQuestion: why?`),
    ]

  it.each([
    'This ends the previous document.',
    'See the document above.',
    'As the preceding passage says, it is deep.',
  ])('stays as received: %s', (words) => {
    expect(isMoved(write(words), `${peru} …`, nile)).toBe(false)
    expect(isMoved(write(words), peru, `… ${nile}`)).toBe(false)
  })

  it('stays as received if one continues another', () =>
    expect(isMoved(write(''), peru, `(continued) ${nile}`)).toBe(false))

  it.each(['The next chapter is on dams.', 'The bridge above is old.', 'A document like the previous one.'])(
    'is ordered beside: %s',
    (words) => expect(isMoved(write(words), `${peru} …`, nile)).toBe(true),
  )
})

it('numbers that the list does not have are not of it', () => {
  expect(isMoved((...blocks) => [user(`${spoken(...blocks)}\n\nQuestion: what does source 7 say?`)])).toBe(true)
})

it('labels that travel with their blocks may be spoken of', () => {
  const write = (...blocks: string[]): string => blocks.map((text) => `[Doc_${text.length}a] ${text}`).join('\n')
  expect(isMoved((...blocks) => [user(`${write(...blocks)}\n\nWhat does [Doc_${peru.length}a] say?`)])).toBe(true)
})

it('a turn that was sent in another order is sent so again when its numbers are spoken of later', () => {
  const sender = new Sender()
  sender.send([user(numbered(peru, nile))])
  const turn = user(numbered(nile, peru))
  const [sent] = sender.send([turn])
  expect(sent).not.toEqual(turn)
  const again = sender.send([turn, assistant('Peru [2].'), user('What does [2] say?')])
  expect(again[0]).toEqual(sent)
})

describe('a numbered list stays as received', () => {
  const ask =
    (words: string) =>
    (...blocks: string[]) => [user(`${numbered(...blocks)}\n\nQuestion: ${words}`)]

  it.each([
    'What does number 2 say?',
    'What does #2 say?',
    'Explain no. 2 please.',
    'Does 1 contradict 2?',
    'Is (2) right?',
    'Compare 1 and 2.',
    'What about the one at the bottom?',
    'What does the 2nd one say?',
    'What does the second one say?',
    'What does document two say?',
    'Does the former contradict the latter?',
    'Summarise the top result.',
    'And the first two?',
    'Que dit le deuxième document ?',
    '¿Qué dice el segundo documento?',
    '2番目の文書は何ですか？',
    'For each document, output yes or no, one per line.',
    'Translate each passage into German.',
    'Convert these to CSV.',
    'The sources run from oldest to newest. What changed?',
    'Who wrote last?',
    'Go page by page.',
  ])('when the user asks %j', (words) => {
    expect(isMoved(ask(words))).toBe(false)
  })

  it.each(['What is the number of rivers?', 'For each source you use, cite it.', 'Who wrote it?', 'Which came first?'])(
    'but not when the user asks %j',
    (words) => {
      expect(isMoved(ask(words))).toBe(true)
    },
  )
})

it('a request whose blocks stay because they are spoken of says so', () => {
  const sender = new Sender()
  const ask = (words: string): unknown => ({ messages: [user(`${numbered(nile, peru)}\n\nQuestion: ${words}`)] })
  sender.send([user(`${numbered(peru, nile)}\n\nQuestion: why?`)])
  expect(sender.decide(ask('What does #2 say?'))).toMatchObject({ body: undefined, skipped: 'spoken_of' })
  expect(sender.decide(ask('Which river is longer?'))).toMatchObject({ moved: 2, skipped: undefined })
})

describe('a list whose numbers may come back unmapped stays as received', () => {
  const content = (...blocks: string[]): string => `${numbered(...blocks)}\n\nQuestion: why?`
  const found = (...blocks: string[]): string =>
    JSON.stringify(blocks.map((text, i) => ({ index: i + 1, text: `${text} ${text} ${text}`, similarity: 0.5 })))

  function isMovedIn(rest: object, write: (...blocks: string[]) => Message, options: RequestOptions = {}): boolean {
    const sender = new Sender()
    sender.sendBody({ ...rest, messages: [write(peru, nile)] }, { options })
    return sender.decide({ ...rest, messages: [write(nile, peru)] }, { options }).moved > 0
  }

  it('when the answer is data, unless the caller keeps the numbers as the model has them', () => {
    const schema = { type: 'object', properties: { answer: { type: 'string' } } }
    const data = { response_format: { type: 'json_schema', json_schema: { name: 'answer', schema } } }
    const write = (...blocks: string[]): Message => user(content(...blocks))
    expect(isMovedIn(data, write)).toBe(false)
    expect(isMovedIn({}, write)).toBe(true)
    expect(isMovedIn(data, write, { citations: false })).toBe(true)
  })

  it('when another list since the last answer has the same numbers: nobody knows which of them is cited', () => {
    const other = numbered('The Rhine rises in Switzerland.', 'The Po ends in a delta.')
    const beside = (...blocks: string[]): Message[] => [user(numbered(...blocks)), user(`${other}\n\nQuestion: why?`)]
    expect(isMoved(beside)).toBe(false)
    const sender = new Sender()
    const options = { citations: false }
    sender.sendBody({ messages: beside(peru, nile) }, { options })
    expect(sender.decide({ messages: beside(nile, peru) }, { options }).moved).toBeGreaterThan(0)
    const named = (...blocks: string[]): Message[] => [user(spoken(...blocks)), user(`${other}\n\nQuestion: why?`)]
    expect(isMoved(named)).toBe(true)
    const earlier = (...blocks: string[]): Message[] => [
      user(`${other}\n\nQuestion: why?`),
      assistant('Because.'),
      user(content(...blocks)),
    ]
    expect(isMoved(earlier)).toBe(true)
  })

  it('when the model has tools to call with its numbers', () => {
    const tools = [{ type: 'function', function: { name: 'click', parameters: {} } }]
    const write = (...blocks: string[]): Message => ({ role: 'tool', content: found(...blocks) })
    expect(isMovedIn({ tools }, write)).toBe(false)
    expect(isMovedIn({}, write)).toBe(true)
    expect(isMovedIn({ tools }, (...blocks) => user(content(...blocks)))).toBe(false)
    expect(isMovedIn({ tools, tool_choice: 'none' }, (...blocks) => user(content(...blocks)))).toBe(true)
  })
})

describe('a list of a system prompt that many conversations share', () => {
  const system = (...blocks: string[]): Message => ({ role: 'system', content: numbered(...blocks) })
  const [first, second] = [user('Which river is longer?'), user('What does document 2 say?')]

  it('is sent as received to who asks for a block by its number, and as before to who did not', () => {
    const sender = new Sender()
    sender.send([system(peru, nile), first])
    const shared = system(nile, peru)
    const [moved] = sender.send([shared, first])
    expect(moved).not.toEqual(shared)
    expect(sender.send([shared, second])[0]).toEqual(shared)
    // both versions stay as they were sent
    const more = [assistant('Well.'), user('And why?')]
    expect(sender.send([shared, first, ...more])[0]).toEqual(moved)
    expect(sender.send([shared, second, ...more])[0]).toEqual(shared)
    expect(sender.send([shared, first])[0]).toEqual(moved)
  })
})

describe('in the requests that frameworks sent', () => {
  const folder = new URL('../../../e2e/fixtures/', import.meta.url)
  const names = readdirSync(folder).filter((name) => name.endsWith('.json'))

  it.each(names)('%s the blocks are found, and none is spoken of', (name) => {
    // a footnote that looks like a label would keep its list in place
    const json = readFileSync(new URL(name, folder), 'utf8').replaceAll('no primer [1]', 'no primer')
    const { body, expected } = JSON.parse(json) as {
      body: { messages: Message[] }
      expected: { blocks?: string[] }
    }
    const texts = body.messages.map(({ content }) => (typeof content === 'string' ? content : ''))
    const messages = body.messages.map(({ role }, place) => {
      const message = { role, texts: [place], rest: '', isTextOnly: true }
      return { message, contexts: findContexts(message, texts), past: [] }
    })
    const contexts = finish(markSpokenOf(messages, texts)).flatMap((message) => message.contexts)
    const found = contexts.filter(({ slots, isResult }) => !isResult && slots.length > 1)
    expect(found.flatMap(({ slots }) => slots)).toHaveLength(expected.blocks?.flat().length ?? 0)
    expect(contexts.filter(({ isSpokenOf }) => isSpokenOf)).toEqual([])
  })
})

it('words that name blocks again and again are read in linear time', () => {
  for (const word of ['document 2 ', 'see [1] ', 'e.g. [1] ', 'the first and the second and ', '"[1]" ', '[1, 2, ']) {
    const long = word.repeat(30_000)
    isMoved((...blocks) => [user(`${numbered(...blocks)}\n\nQuestion: ${long}`)])
    isMoved((...blocks) => [user(`${numbered(...blocks)}\n\nQuestion: why?`)], `${peru} ${long}`)
  }
  // in quadratic time, this would exceed the test timeout
})

describe('a system prompt', () => {
  it.each([
    'The documents are in chronological order.',
    'The documents are sorted by date, newest first.',
    'Die Dokumente stehen in chronologischer Reihenfolge.',
    'Die Quellen sind zeitlich geordnet, die älteste zuerst.',
    'Les documents sont classés par ordre chronologique.',
    'Los documentos están en orden cronológico.',
    '文档按时间顺序排列。',
    '以下内容从旧到新排列。',
    '文書は時系列順に並んでいます。',
  ])('keeps lists of all messages in their order by %j', (content) => {
    const system: Message = { role: 'system', content }
    expect(isMoved((...blocks) => [system, user(`${numbered(...blocks)}\n\nQuestion: why?`)])).toBe(false)
  })

  it.each([
    'Follow these steps in this order: read, think, answer.',
    'List sources in order of relevance.',
    'The documents are sorted by relevance.',
    'Rank nothing, and say first what you know.',
  ])('does not by %j', (content) => {
    const system: Message = { role: 'system', content }
    expect(isMoved((...blocks) => [system, user(`${numbered(...blocks)}\n\nQuestion: why?`)])).toBe(true)
  })
})

describe.each(forms)('a list of %s stays beside', (_, list) => {
  it.each([
    ['labels by number', '1: positive\n2: negative'],
    ['summaries by number', 'Summary 1: It rises.\nSummary 2: It flows.'],
    ['elements, one for each', '<labels>\n<label>good</label>\n<label>bad</label>\n</labels>'],
    [
      'translations',
      '<translations>\n<translation>A</translation>\n<translation lang="de">B</translation>\n</translations>',
    ],
  ])('%s', (_, words) => {
    expect(isMoved((...blocks) => [user(`${list(...blocks)}\n\nQuestion: are these right?\n${words}`)])).toBe(false)
    expect(isMoved((...blocks) => [user(`${words}\n\n${list(...blocks)}\n\nQuestion: are these right?`)])).toBe(false)
  })

  it.each([
    ['as many of another number', '1: positive\n2: negative\n3: none'],
    ['one element', '<rules>Be brief.</rules>'],
    ['times', '12: noon\n24: midnight'],
  ])('but not beside %s', (_, words) => {
    expect(isMoved((...blocks) => [user(`${words}\n\n${list(...blocks)}\n\nQuestion: are these right?`)])).toBe(true)
  })

  it.each([
    'Summarise them line by line.',
    'Return a JSON array with one entry per document.',
    'Reply as a JSON array in the same order.',
    'What are their topics, respectively?',
    'Répondez dans le même ordre.',
    'Responde en el mismo orden.',
    'Antworte in der gleichen Reihenfolge.',
    '请以相同的顺序回答。',
    '同じ順番で答えてください。',
  ])('an answer by position: %s', (words) => {
    expect(isMoved((...blocks) => [user(`${list(...blocks)}\n\nQuestion: ${words}`)])).toBe(false)
  })
})

it('what a template has between its blocks is no list of words beside them', () => {
  const [content, question] = [['red', 'green', 'blue'], 'Which?']
  const text = `<zek>${content.join('</zek>\n<zek>')}</zek>\n\n${question}`
  const slots = content.map((block) => {
    const start = text.indexOf(block)
    const span = { start, end: start + block.length }
    return { text: 0, ...span, content: span }
  })
  const ids = content.map(toBlockId)
  const found = { slots, blocks: ids, contents: ids, positional: false, labelPrefix: '', isResult: false }
  const message = { role: 'user', texts: [0], rest: '', isTextOnly: true }
  const marked = (by: 'learnt' | 'known_chunks'): boolean | undefined => {
    const certain = { by, chunks: [], spans: [], labels: [] }
    const context: PromptContext = { ...found, annotateAt: undefined, certain }
    const [judged] = finish(markSpokenOf([{ message, contexts: [context], past: [] }], [text]))
    return judged!.contexts[0]!.isSpokenOf
  }
  expect(marked('learnt')).toBeUndefined()
  expect(marked('known_chunks')).toBe(true)
})

describe('the line right above a list', () => {
  const isKept = (head: string): boolean =>
    !isMoved((...blocks) => [
      user(
        `${head}\n<documents>\n${blocks.map((text) => `<document>${text}</document>`).join('\n')}\n</documents>\n\nQuestion: Which river is longer?`,
      ),
    ])
  it.each([
    'Sorted by urgency, highest first:',
    'In descending order of urgency:',
    'Hotels ranked by rating:',
    'Oldest entry first:',
    'Patients (most urgent on top):',
    'Waiting list:',
    'Agenda:',
    'Email thread:',
    '## Timeline',
    'Triés par arrivée :',
    'Ordenados por llegada:',
    '按到达时间排序：',
    '到着順：',
    'Minutes:',
    'Minutes of the meeting:',
    '聊天记录：',
    'Gesprächsverlauf:',
    'Historique de la conversation :',
    '<slides>',
    '<function_results>',
  ])('gives its places a meaning: %s', (head) => expect(isKept(head)).toBe(true))

  it.each([
    'Context:',
    'Search results, ranked by relevance:',
    'Top ranked passages:',
    'Most relevant first:',
    'Best matches first:',
    'Use these documents first:',
    'Relevant procedures:',
    'Forum threads:',
    '検索結果（類似度順）:',
    'Relevant documents, sorted by similarity score:',
    '检索结果（按相关性排序）：',
  ])('says nothing of its order: %s', (head) => expect(isKept(head)).toBe(false))
})

describe('what was asked in another message holds for the lists of all', () => {
  const list = (...blocks: string[]): string => blocks.map((text) => `<document>${text}</document>`).join('\n')
  const ask = (...blocks: string[]): Message => user(`<documents>\n${list(...blocks)}\n</documents>\n\nAnd these?`)

  it.each([
    'Write one line per document.',
    'Later documents override earlier ones.',
    'How relevant is each document, from 0 to 10?',
  ])('before: %j', (words) => {
    expect(isMoved((...blocks) => [user(words), assistant('OK.'), ask(...blocks)])).toBe(false)
    expect(isMoved((...blocks) => [user(words), ask(...blocks)])).toBe(false)
    expect(isMoved((...blocks) => [ask(...blocks), assistant('OK.'), user(words)])).toBe(false)
  })

  it.each(['What does the second document say?', 'How high is the Nile?'])('but not of other lists: %j', (words) => {
    expect(isMoved((...blocks) => [user(words), assistant('OK.'), ask(...blocks)])).toBe(true)
  })
})

describe('a number alone, or a place without a noun, is one of the list', () => {
  const list = (...blocks: string[]): string => blocks.map((text, i) => `[${i + 1}] ${text}`).join('\n')

  it.each([
    'Ignore 2.',
    'What does two say?',
    'How do 1 and 2 differ?',
    'Using 1 and 2 alone, which is longer?',
    'Go on with the next one.',
    'Und das zweite?',
    'Et le deuxième ?',
    '¿Y el segundo?',
    'E il secondo?',
    'А второй?',
    'Que dit le n° 2 ?',
  ])('%j', (question) => {
    expect(isMoved((...blocks) => [user(`Use the sources:\n${list(...blocks)}\n\nQuestion: ${question}`)])).toBe(false)
  })

  it.each(['2?', 'Two, please.', '2'])('%j, in a later message', (words) => {
    const ask = (...blocks: string[]): Message => user(`Use the sources:\n${list(...blocks)}\n\nQuestion: Why?`)
    expect(isMoved((...blocks) => [ask(...blocks), assistant('So.'), user(words)])).toBe(false)
    expect(isMoved((...blocks) => [ask(...blocks), assistant('So.'), user('Two')])).toBe(true)
  })

  it.each([
    'Who won the first world war?',
    'What is the population in 2 years?',
    'What are the two main reasons?',
    'What happened on 2 May 1999?',
    'Which is the second largest city?',
  ])('but not in %j', (question) => {
    expect(isMoved((...blocks) => [user(`Use the sources:\n${list(...blocks)}\n\nQuestion: ${question}`)])).toBe(true)
  })
})
