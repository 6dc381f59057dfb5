import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { readPromptBody } from '../prompt/formats/read-prompt-body.ts'
import { defaultSeparator as sep } from '../prompt/wording.ts'
import { Sender } from '../reuse/sender.fixture.ts'
import { findSeparatedLists } from './find-separated-lists.ts'
import { takeOutSeparators } from './separators.ts'

const docs = [
  'First document.\n\nIt has paragraphs:\n\ntwo of them.',
  'Second document.',
  'Third document.',
  'Fourth one.',
]

function blocksIn(text: string, isWhole = false): string[][] {
  const places: number[] = []
  let clean = ''
  for (const [i, piece] of text.split(sep).entries()) {
    if (i > 0) places.push(clean.length)
    clean += piece
  }
  return findSeparatedLists(clean, places, { start: 0, end: clean.length, isWhole }).map(({ blocks }) =>
    blocks.map(({ start, end }) => clean.slice(start, end)),
  )
}

describe('what is between two separators is a document', () => {
  test('with one in front of the first and one behind the last, all are', () => {
    const text = `Use this.\n\nOr that.\n\n${sep}${docs.join(`\n\n${sep}`)}${sep}\n\nWho did it?`
    expect(blocksIn(text)).toEqual([docs])
  })

  test('joined by it, the first and the last count where a tag holds all of them', () => {
    const joined = docs.join(`\n\n${sep}`)
    expect(blocksIn(`Answer from this:\n\n<context>\n${joined}\n</context>\n\nWho did it?`)).toEqual([docs])
  })

  test.each([
    ['nothing', 'Be brief.\n\n', '\n\nBe kind.'],
    ['words', 'Use the following context:\n', '\n\nQuestion: who did it?\nAnswer:'],
    ['a tag that closes nowhere', '<context>\n', '\n\nWho did it?'],
    ['two tags of one name', '<context>\n</context>\n<context>\n', '\n</context>\nWho did it?'],
  ])('elsewhere they stay where they are: behind %s', (_, front, behind) => {
    expect(blocksIn(`${front}${docs.join(`\n\n${sep}`)}${behind}`)).toEqual([docs.slice(1, 3)])
  })

  test('a tool says nothing but documents', () => {
    expect(blocksIn(docs.join(`\n\n${sep}`), true)).toEqual([docs])
  })

  test('a question between two lists parts them', () => {
    const one = `${sep}A1.\n${sep}A2.\n${sep}\n\nQuestion: what?\n\n${sep}B1.\n${sep}B2.${sep}`
    expect(blocksIn(one)).toEqual([
      ['A1.', 'A2.'],
      ['B1.', 'B2.'],
    ])
  })
})

describe('no engine sees a separator', () => {
  const send = (body: unknown, mode: 'on' | 'off' = 'on'): string => {
    const text = typeof body === 'string' ? body : JSON.stringify(body)
    return new Sender().decide(text, { mode }).body ?? text
  }
  const chat = (content: string): string => `{ "messages": [ {"role": "user", "content": ${content}} ], "n": 1.0 }`

  test.each([
    ['as it is', `"a${sep}b\\u00e9 \\/ c"`],
    ['escaped', '"a\\u2063reprise\\u2063b\\u00e9 \\/ c"'],
    ['half escaped, in capitals', '"a\\u2063re\\u0070rise\u2063b\\u00e9 \\/ c"'],
  ])('%s, and nothing else is changed', (_, content) => {
    expect(send(chat(content))).toBe(chat('"ab\\u00e9 \\/ c"'))
    expect(send(chat(content), 'off')).toBe(chat('"ab\\u00e9 \\/ c"'))
  })

  test('what only resembles one stays', () => {
    for (const content of ['"\\\\u2063reprise\\\\u2063"', '"reprise"', '"\\u2063reprise"', '"\\u2063Reprise\\u2063"']) {
      expect(send(chat(content))).toBe(chat(content))
    }
  })

  test('in documents of vLLM, too', () => {
    const body = `{"messages":[{"role":"user","content":"x"}],"documents":[{"text":"a\\u2063reprise\\u2063"},{"text":"${sep}b \\\\u2063reprise\\\\u2063"}]}`
    expect(send(body)).toBe(
      '{"messages":[{"role":"user","content":"x"}],"documents":[{"text":"a"},{"text":"b \\\\u2063reprise\\\\u2063"}]}',
    )
  })

  test('whatever stands around it', () => {
    const piece = fc.constantFrom('a', '"', '\\', '\n', 'reprise', '\u2063', ' ', sep, '😀', '\ud800')
    const content = fc.array(piece, { maxLength: 20 }).map((all) => all.join(''))
    fc.assert(
      fc.property(content, fc.constantFrom('on', 'off'), (text, mode) => {
        const sent = JSON.parse(send({ messages: [{ role: 'user', content: text }] }, mode as 'on'))
        expect(sent.messages[0].content.replace(/\n\nPlease read[^\n]*(?:\n\n)?/, '')).toBe(text.replaceAll(sep, ''))
      }),
    )
  })

  test('none is looked for where it is switched off', () => {
    const body = readPromptBody('completions', Buffer.from(JSON.stringify({ prompt: `a${sep}b` })))!
    expect(takeOutSeparators('completions', body, { separator: '', most: 9 })).toBeUndefined()
    expect(takeOutSeparators('completions', body, { separator: '§§§§', most: 9 })).toBeUndefined()
  })
})

test('documents that are joined by it are reordered like any others', () => {
  const sender = new Sender()
  const prompt = (own: readonly string[]): [{ role: string; content: string }] => [
    { role: 'user', content: `Use this:\n${sep}${own.join(`\n\n${sep}`)}${sep}\n\nWho did it?` },
  ]
  const [first] = sender.send(prompt(docs))
  expect(first!.content).toBe(`Use this:\n${docs.join('\n\n')}\n\nWho did it?`)
  const [second] = sender.send(prompt([docs[2]!, docs[0]!, docs[3]!, docs[1]!]))
  const order = '[Doc_3] > [Doc_1] > [Doc_4] > [Doc_2]'
  expect(second!.content).toBe(
    `Use this:\n${docs.join('\n\n')}\n\nPlease read the context in the following priority order: ${order} and answer the question.\n\nWho did it?`,
  )
})
