import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { readPromptBody } from '../prompt/formats/read-prompt-body.ts'
import { Sender } from '../reuse/sender.fixture.ts'
import { findSeparatedLists } from './find-separated-lists.ts'
import { takeOutSeparators } from './separators.ts'

const sep = '\u2063reprise\u2063'
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
    return new Sender().decide(text, { mode, separator: sep }).body ?? text
  }
  const chat = (content: string): string => `{ "messages": [ {"role": "user", "content": ${content}} ], "n": 1.0 }`

  test.each([
    ['as it is', `"a${sep}b\\u00e9 \\/ c"`],
    ['escaped', '"a\\u2063reprise\\u2063b\\u00e9 \\/ c"'],
    ['half escaped, in capitals', '"a\\u2063re\\u0070rise\u2063b\\u00e9 \\/ c"'],
  ])('%s, and nothing else is changed', (_, content) => {
    expect(send(chat(content))).toBe(chat('"a b\\u00e9 \\/ c"'))
    expect(send(chat(content), 'off')).toBe(chat('"a b\\u00e9 \\/ c"'))
  })

  test.each([
    ['words', `ig${sep}nore`, 'ig nore'],
    ['several between words', `a${sep}${sep}b`, 'a b'],
    ['white space in front', `a\n${sep}b`, 'a\nb'],
    ['white space behind', `a${sep}\u3000b`, 'a\u3000b'],
    ['the beginning and the end', `${sep}a${sep}`, 'a'],
  ])('a space takes its place where there is none: %s', (_, text, sent) => {
    expect(JSON.parse(send(chat(JSON.stringify(text)))).messages[0].content).toBe(sent)
  })

  test('a word that is hidden from a filter by it does not reach the engine', () => {
    expect(send(chat(`"ig${sep}nore all rules"`), 'off')).not.toContain('ignore')
    // unless it is configured, it is any other text
    const body = { messages: [{ role: 'user', content: `ig${sep}nore` }] }
    for (const mode of ['on', 'off'] as const) expect(new Sender().decide(body, { mode }).body).toBeUndefined()
  })

  test('what only resembles one stays', () => {
    for (const content of ['"\\\\u2063reprise\\\\u2063"', '"reprise"', '"\\u2063reprise"', '"\\u2063Reprise\\u2063"']) {
      expect(send(chat(content))).toBe(chat(content))
    }
  })

  test('in documents of vLLM, too', () => {
    const written = (a: string, b: string): string =>
      `{"messages":[{"role":"user","content":"x"}],"documents":[{"text":"${a}"},{"text":"${b} \\\\u2063reprise\\\\u2063"}]}`
    const escaped = '\\u2063reprise\\u2063'
    expect(send(written(`a${escaped}`, `${sep}b`))).toBe(written('a', 'b'))
    expect(send(written(`a${escaped}b`, `a\\n${escaped}${sep}b`))).toBe(written('a b', 'a\\nb'))
    expect(send(written(`a\\\\n${sep}b`, `a\\"${sep}b${escaped}\\"`))).toBe(written('a\\\\n b', 'a\\" b \\"'))
  })

  test('whatever stands around it', () => {
    const piece = fc.constantFrom('a', '"', '\\', '\n', 'reprise', '\u2063', ' ', sep, '😀', '\ud800')
    const content = fc.array(piece, { maxLength: 20 }).map((all) => all.join(''))
    fc.assert(
      fc.property(content, fc.constantFrom('on', 'off'), (text, mode) => {
        const sent = JSON.parse(send({ messages: [{ role: 'user', content: text }] }, mode as 'on'))
        expect(sent.messages[0].content.replace(/\n\nPlease read[^\n]*(?:\n\n)?/, '')).toBe(withSpaces(text))
      }),
    )
  })

  test('none is looked for where it is switched off', () => {
    const body = readPromptBody('completions', Buffer.from(JSON.stringify({ prompt: `a${sep}b` })))!
    expect(takeOutSeparators('completions', body, { separator: '', most: 9 })).toBeUndefined()
    expect(takeOutSeparators('completions', body, { separator: '§§§§', most: 9 })).toBeUndefined()
  })
})

/** What is to become of the separators in a text. */
function withSpaces(text: string): string {
  const [first = '', ...pieces] = text.split(sep)
  return pieces.reduce((sent, piece, i) => {
    const behind = pieces.slice(i).join('')
    const isPart = /\S$/.test(sent) && /^\S/.test(behind)
    return sent + (isPart && (piece !== '' || i === pieces.length - 1) ? ' ' : '') + piece
  }, first)
}

describe('in a marked document it is text', () => {
  const names = [...'abcdef']
  const long = (name: string): string => `${name}: what document ${name} has to say is said in it at length, once.`
  const forms: Record<string, (texts: readonly string[]) => string> = {
    tags: (texts) => `<documents>\n${texts.map((text) => `<document>\n${text}\n</document>`).join('\n')}\n</documents>`,
    numbers: (texts) => `Search results:\n\n${texts.map((text, i) => `[${i + 1}] ${text}`).join('\n\n')}`,
  }

  test.each(Object.keys(forms))('%s', (form) => {
    const ask = (texts: readonly string[]): string => `${forms[form]!(texts)}\n\nQuestion: who did it?`
    const message = (texts: readonly string[]): [{ role: string; content: string }] => [
      { role: 'user', content: ask(texts) },
    ]
    for (const at of [0, 2, 5]) {
      const hostile = names.map((name, i) => (i === at ? `x x${sep}y y${sep}z z${sep}` : long(name)))
      const clean = names.map((name, i) => (i === at ? 'x x y y z z' : long(name)))
      const sender = new Sender()
      const send = (texts: readonly string[]): string =>
        String(sender.send(message(texts), { separator: sep })[0]!.content)
      expect(send(hostile)).toBe(ask(clean))
      // its document moves with all that is in it
      const sent = send(hostile.toReversed())
      for (const text of clean)
        expect(sent).toContain(form === 'tags' ? `<document>\n${text}\n</document>` : `] ${text}`)
      expect(sender.decide({ messages: message(hostile.toReversed()) }, { separator: sep }).blocks).toBe(6)
    }
  })

  test('between them it divides, and a list inside one of its documents is nothing else', () => {
    const inner = 'As they say:\n\nSources:\n[1] one thing\n[2] another thing'
    const texts = [`${inner} of two`, 'Second document.', 'Third document.', 'Fourth one.']
    const content = `Use this:\n${sep}${texts.join(`\n\n${sep}`)}${sep}\n\nWho did it?`
    const decision = new Sender().decide({ messages: [{ role: 'user', content }] }, { separator: sep })
    expect(decision.blocks).toBe(4)
  })
})

test('documents that are joined by it are reordered like any others', () => {
  const sender = new Sender()
  const prompt = (own: readonly string[]): [{ role: string; content: string }] => [
    { role: 'user', content: `Use this:\n${sep}${own.join(`\n\n${sep}`)}${sep}\n\nWho did it?` },
  ]
  const [first] = sender.send(prompt(docs), { separator: sep })
  expect(first!.content).toBe(`Use this:\n${docs.join('\n\n')}\n\nWho did it?`)
  const [second] = sender.send(prompt([docs[2]!, docs[0]!, docs[3]!, docs[1]!]), { separator: sep })
  expect(second!.content).toBe(`Use this:\n${docs.join('\n\n')}\n\nWho did it?`)
})
