import fc from 'fast-check'
import { beforeEach, describe, expect, test } from 'vitest'
import { blocksIn, createKnown, documentText, embed, findIn, rerank, rerankAmongOthers } from './chunk-texts.fixture.ts'
import type { KnownChunks } from './known-chunks.ts'

const docs = Array.from({ length: 12 }, (_, n) => documentText(n))
const [a, b, c, d, e] = docs as [string, string, string, string, string]
let chunks: KnownChunks

beforeEach(() => {
  chunks = createKnown()
})

/** Makes texts known without any order. */
async function know(...texts: string[]): Promise<void> {
  await rerankAmongOthers(chunks, texts)
}

/** Counts the lists that are found in a text as sent with a question. */
function send(text: string, question: string): void {
  chunks.noteLists(
    findIn(chunks, text).lists.map((list) => list.chunks),
    question,
  )
}

describe('borders', () => {
  test.each([
    ['a blank line', '\n\n'],
    ['a line end', '\n'],
    ['a space', ' '],
    ['lines and indentation', '\n\n    '],
    ['a rule', '\n---\n'],
    ['a bullet', '\n- '],
    ['Windows line ends', '\r\n\r\n'],
  ])('chunks parted by %s are a list, to the byte', async (_, separator) => {
    await know(a, b, c)
    expect(blocksIn(chunks, `Context: ${[c, a, b].join(separator)}\n\nQuestion: what is it?`)).toEqual([[c, a, b]])
  })

  test.each([
    ['a label', '\n\n[2] '],
    ['words', '\n\nand also\n\n'],
    ['nothing', ''],
    ['a quote and a comma', '", "'],
  ])('chunks parted by %s are none', async (_, separator) => {
    await know(a, b)
    expect(blocksIn(chunks, `Context:\n${a}${separator}${b}`)).toEqual([])
  })

  test('chunks that are parted in more than one way are none: a text has that, a template does not', async () => {
    await know(a, b, c)
    expect(findIn(chunks, `${a}\n\n${b}\n${c}`)).toMatchObject({ lists: [], refused: ['mixed_separators'] })
  })

  test('a chunk alone is no list, nor are chunks with unknown text between', async () => {
    await know(a, b)
    expect(findIn(chunks, `Context:\n${a}`)).toEqual({ lists: [], matched: 1, refused: [] })
    expect(blocksIn(chunks, `${a}\n\nSomething else stands here.\n\n${b}`)).toEqual([])
  })

  test('unknown text between chunks parts two lists', async () => {
    await know(a, b, c, d)
    expect(blocksIn(chunks, `${b}\n\n${a}\n\nAnother one.\n\n${d}\n\n${c}`)).toEqual([
      [b, a],
      [d, c],
    ])
  })

  test('a chunk that goes on in a word is another text', async () => {
    await know(`${a} It cost 5`, b)
    expect(blocksIn(chunks, `${a} It cost 50\n\n${b}`)).toEqual([])
  })

  test('a chunk begins behind a bracket without a space', async () => {
    await know(a, b)
    expect(blocksIn(chunks, `【已知信息】${b}\n\n${a}\n\n【问题】x`)).toEqual([[b, a]])
  })

  test('a chunk that begins with a sign begins behind another sign, too', async () => {
    const headed = Array.from({ length: 40 }, (_, n) => `## ${documentText(n + 20)}`)
    for (const text of headed) {
      const own = createKnown()
      await own.put([{ text }, { text: b }], undefined)
      expect(blocksIn(own, `【已知信息】${text}\n\n${a}\n\n${b}`)).toEqual([])
      expect(findIn(own, `【已知信息】${text}\n\n${a}\n\n${b}`).matched).toBe(2)
    }
  })

  test('white space is of no account: embedding clients write spaces for line ends, templates trim', async () => {
    await know(`\n\n${a.replaceAll('\n', ' ')} `, b)
    expect(blocksIn(chunks, `Context:\n${b}\n\n${a}\n\nQuestion: x`)).toEqual([[b, a]])
  })

  test('chunks that keep the white space of their ends take it with them', async () => {
    const given = [`${a}\n`, `  ${b}\n\n`, `${c} `]
    await know(...given)
    const [first, second, third] = given as [string, string, string]
    const text = `Context:|${[third, first, second].join('\n\n')}|`
    expect(blocksIn(chunks, text)).toEqual([[third, first, second]])
  })

  test('a chunk inside another is a part of it', async () => {
    await know(a, `${a}\n\n${b}\n\n${c}`, d)
    expect(blocksIn(chunks, `${d}\n\n${a}\n\n${b}\n\n${c}`)).toEqual([[d, `${a}\n\n${b}\n\n${c}`]])
  })

  test('chunks that overlap are stretches of one text, and stay', async () => {
    const text = `${a}\n\n${b}\n\n${c}\n\n${d}`
    const word = (at: number): number => text.indexOf(' ', at)
    await know(text.slice(0, word(300)), text.slice(word(200), word(500)), text.slice(word(450)))
    expect(findIn(chunks, text)).toMatchObject({ lists: [], refused: ['overlapping'] })
  })

  test('a list in JSON stays: no words can be put behind it', async () => {
    const flat = [a, b, c].map((text) => text.replaceAll(/\s+/g, ' '))
    await know(...flat)
    expect(findIn(chunks, JSON.stringify({ found: flat.join(' ') })).refused).toEqual(['in_data'])
    expect(findIn(chunks, `The tool said {"found": "${flat.join(' ')}"} to it.`).refused).toEqual(['in_data'])
  })

  test('any prompt of known chunks and other text shows exactly the runs that were put into it', async () => {
    await know(...docs)
    const piece = fc.oneof(
      fc.record({ known: fc.uniqueArray(fc.integer({ min: 0, max: 11 }), { minLength: 1, maxLength: 6 }) }),
      fc.record({ other: fc.constantFrom('Some words.', '# Title', '```\ncode\n```', '<context>', 'Question: why?') }),
    )
    const separators = fc.constantFrom('\n\n', '\n', ' ', '\n***\n', '\n\n\n', '\t')
    await fc.assert(
      fc.property(fc.array(piece, { maxLength: 6 }), separators, (pieces, separator) => {
        const runs: string[][] = []
        const text = pieces.flatMap((own, i) => {
          if ('other' in own) return [own.other]
          const run = own.known.map((n) => docs[n]!)
          if (run.length > 1) runs.push(run)
          // runs must not touch
          return [run.join(separator), `Unknown text ${i}.`]
        })
        expect(blocksIn(chunks, text.join('\n\n'))).toEqual(runs)
      }),
      { numRuns: 200 },
    )
  })
})

describe('one text', () => {
  test('chunks that stand as they were given are one text, and stay', async () => {
    await embed(chunks, [a, b, c])
    expect(findIn(chunks, `Summarise this:\n\n${a}\n\n${b}\n\n${c}`)).toMatchObject({
      lists: [],
      refused: ['one_text'],
    })
  })

  test('in any other order they are documents', async () => {
    await embed(chunks, [a, b, c])
    expect(blocksIn(chunks, `${c}\n\n${a}\n\n${b}`)).toEqual([[c, `${a}\n\n${b}`]])
    expect(blocksIn(chunks, `${c}\n\n${b}\n\n${a}`)).toEqual([[c, b, a]])
  })

  test('neighbours that are fetched together stay together', async () => {
    await embed(chunks, docs)
    const run = [docs[6], docs[7], docs[8], docs[1], docs[2], docs[3]].join('\n\n')
    const [first, second] = [docs.slice(6, 9).join('\n\n'), docs.slice(1, 4).join('\n\n')]
    expect(blocksIn(chunks, run)).toEqual([[first, second]])
  })

  test('what was seen in another order before is a list in this one, too', async () => {
    await embed(chunks, [a, b, c])
    send(`${c}\n\n${b}\n\n${a}`, 'who?')
    send(`${a}\n\n${c}\n\n${b}`, 'why?')
    expect(blocksIn(chunks, `${a}\n\n${b}\n\n${c}`)).toEqual([[a, b, c]])
  })

  test('a whole text stays one although each of its parts was retrieved with others', async () => {
    await embed(chunks, docs)
    for (const [x, y] of [
      [0, 5],
      [1, 6],
      [2, 9],
    ] as const) {
      send(`${docs[y]}\n\n${docs[x]}`, `why ${x}?`)
      send(`${docs[x]}\n\n${docs[y]}`, `and ${x}?`)
    }
    expect(findIn(chunks, `${a}\n\n${b}\n\n${c}`).refused).toEqual(['one_text'])
    // two neighbours among others are not unusual
    expect(blocksIn(chunks, `${a}\n\n${b}\n\n${docs[9]}`)).toEqual([[a, b, docs[9]]])
  })

  test('what one prompt had in another order, however often, or two with one question, is one text still', async () => {
    await embed(chunks, [a, b, c])
    for (let i = 0; i < 3; i++) send(`${c}\n\n${b}\n\n${a}`, 'who?')
    send(`${a}\n\n${c}\n\n${b}`, 'who?')
    expect(findIn(chunks, `${a}\n\n${b}\n\n${c}`).refused).toEqual(['one_text'])
  })

  test('a rerank says nothing about an order that was given', async () => {
    await embed(chunks, [a, b, c])
    await rerank(chunks, 'Which one?', [b, a, c])
    await rerank(chunks, 'And which?', [c, b, a])
    send(`${c}\n\n${b}\n\n${a}`, 'who?')
    expect(findIn(chunks, `${a}\n\n${b}\n\n${c}`).refused).toEqual(['one_text'])
  })

  test('a text that was embedded in several requests is still one', async () => {
    await embed(chunks, [a, b])
    await embed(chunks, [c, d, e])
    expect(findIn(chunks, [a, b, c, d, e].join('\n\n')).refused).toEqual(['one_text'])
  })

  test('so is one whose requests came at the same time, in whatever order', async () => {
    const [first, second] = [chunks.begin('default'), chunks.begin('default')]
    await second.learn({ kind: 'embeddings', texts: [c, d], tokens: [], queries: [] })
    await first.learn({ kind: 'embeddings', texts: [a, b], tokens: [], queries: [] })
    for (const lesson of [first, second]) lesson.end()
    expect(findIn(chunks, [a, b, c, d].join('\n\n')).refused).toEqual(['one_text'])
  })

  test('a text that repeats itself is one, too, and so is one whose paragraphs are parted by rules', async () => {
    const own = [a, b, c, b, d, e, docs[6]!, b, docs[7]!, docs[8]!]
    await embed(chunks, own)
    expect(findIn(chunks, own.join('\n\n')).refused).toEqual(['one_text'])
    expect(findIn(chunks, own.slice(0, 3).join('\n\n')).refused).toEqual(['one_text'])
    await embed(chunks, [docs[10]!, '---', docs[11]!])
    expect(findIn(chunks, `${docs[10]}\n\n---\n\n${docs[11]}`).refused).toEqual(['one_text'])
  })

  test('messages that were embedded one by one, with their answers between, stay in their order', async () => {
    for (const text of [a, docs[9]!, b, docs[10]!, c]) await embed(chunks, [text])
    expect(findIn(chunks, [a, b, c].join('\n')).refused).toEqual(['one_text'])
  })
})

describe('candidates of reranks', () => {
  test('one request makes no chunks of them, whatever it asks, nor do several with one question', async () => {
    for (let i = 0; i < 3; i++) await rerank(chunks, 'Which one?', [b, a, c])
    await rerank(chunks, 'Which one?', [c, d, b, a])
    expect(findIn(chunks, `${a}\n\n${b}\n\n${c}`)).toMatchObject({ lists: [], refused: [] })
  })

  test('nor do several among the same neighbours', async () => {
    await rerank(chunks, 'Which one?', [a, b, c])
    await rerank(chunks, 'And which?', [a, b, c])
    expect(blocksIn(chunks, `${a}\n\n${b}\n\n${c}`)).toEqual([])
  })

  test('two with different questions, each among others, make them documents in any order', async () => {
    await rerank(chunks, 'Which one?', [b, a, c])
    await rerank(chunks, 'And which?', [c, d, b, a])
    expect(blocksIn(chunks, `${a}\n\n${b}\n\n${c}`)).toEqual([[a, b, c]])
  })

  test('between chunks, a new one is a document, and several are one', async () => {
    await know(a, b)
    await rerank(chunks, 'Which one?', [c, d, e])
    expect(blocksIn(chunks, [c, a, d, b, e].join('\n\n'))).toEqual([[a, d, b]])
    expect(blocksIn(chunks, [a, c, d, b].join('\n\n'))).toEqual([[a, `${c}\n\n${d}`, b]])
    expect(blocksIn(chunks, [c, d, e, a].join('\n\n'))).toEqual([])
  })

  test('of other tenants they make nothing', async () => {
    await rerank(chunks, 'Which one?', [b, a], 'one')
    await rerank(chunks, 'And which?', [a, c, b], 'two')
    for (const tenant of ['one', 'two']) expect(blocksIn(chunks, `${a}\n\n${b}`, tenant)).toEqual([])
  })
})

test('tenants see what they embedded, and what was registered for them or for everyone', async () => {
  await embed(chunks, [c, b, a], 'key:acme')
  await chunks.put([{ text: d }, { text: e }], undefined)
  const own = `${a}\n\n${c}`
  const everyones = `${e}\n\n${d}`
  expect(['key:acme', 'key:other', 'header:acme'].map((tenant) => blocksIn(chunks, own, tenant).length)).toEqual([
    1, 0, 0,
  ])
  expect(['key:acme', 'default'].map((tenant) => blocksIn(chunks, everyones, tenant).length)).toEqual([1, 1])
  await chunks.put([{ text: docs[8]! }, { text: docs[6]! }], 'acme')
  const named = `${docs[6]}\n\n${docs[8]}`
  expect(['key:acme', 'header:acme', 'key:b'].map((tenant) => blocksIn(chunks, named, tenant).length)).toEqual([
    1, 1, 0,
  ])
})
