import { describe, expect, test } from 'vitest'
import { toBlockId } from '#index/context-block.ts'
import type { PromptMessage } from '../prompt/body/prompt.ts'
import type { PromptContext } from '../prompt/body/prompt-context.ts'
import type { ListPlace } from '../prompt/body/template-use.ts'
import { searchMessage } from '../prompt/find-contexts.ts'
import { findListPlace } from './find-list-place.ts'

const documents = [
  'The ferry to Linholm leaves at noon, except on days when the bell is wrapped in cloth.',
  'Salt from Karvik is grey, since the pans are lined with slate; traders called it smoke salt.',
  'The Orm valley has eleven mills, and the oldest of them was built by two sisters in 1702.',
]

function placeOf(content: string, system = 'Answer from the documents. Today is 3 May.'): ListPlace {
  const message: PromptMessage = { role: 'user', texts: [0], rest: '', isTextOnly: true }
  const { contexts } = searchMessage(message, [content])
  expect(contexts).toHaveLength(1)
  return findListPlace(contexts[0]!, message, [content], { api: 'chat_completions', model: 'm', system })
}

const tagged = (texts: readonly string[], question: string): string =>
  `<documents>\n${texts.map((text, i) => `<document index="${i + 1}">\n${text}\n</document>`).join('\n')}\n</documents>\n\nQuestion: ${question}`

describe('the place of a list', () => {
  test('is the same whatever the documents, their number, the question and the digits around them', () => {
    const place = placeOf(tagged(documents, 'Why is the salt so dark?'))
    expect(placeOf(tagged(documents.toReversed(), 'How many mills are there?'))).toEqual(place)
    expect(placeOf(tagged(documents.slice(1), 'How many mills are there?'))).toEqual(place)
    expect(placeOf(tagged(documents, 'Why?'), 'Answer from the documents. Today is 14 June.')).toEqual(place)
    expect(place).toMatchObject({
      role: 'user',
      tool: '',
      gap: '</document>\n<document index="…">',
      tail: 'Question:',
    })
  })

  test.each(["'", '"'])('is the same however long the names in %s between its documents are', (quote) => {
    const place = (lengths: readonly number[]): ListPlace =>
      placeOf(
        `${documents
          .map((text, i) => {
            const name = 'x'.repeat(lengths[i]!)
            return `<document source=${quote}https://docs.test/${name}${quote} title=${quote}About ${name}${quote}>\n${text}\n</document>`
          })
          .join('\n')}\n\nQuestion: Why?`,
      )
    const short = place([1, 2, 3])
    expect(short.gap).toBe('</document>\n<document source="…" title="…">')
    for (const lengths of [
      [10, 24, 25],
      [30, 5, 33],
      [90, 60, 200],
    ])
      expect(place(lengths)).toEqual(short)
  })

  test('differs by what stands in front, between and behind', () => {
    const places = [
      placeOf(tagged(documents, 'Why?')),
      placeOf(`Use these.\n${tagged(documents, 'Why?')}`),
      placeOf(tagged(documents, 'Why?').replace('Question:', 'Query:')),
      placeOf(tagged(documents, 'Why?').replaceAll('index=', 'id=')),
      placeOf(tagged(documents, 'Why?'), 'Rate the documents.'),
    ]
    expect(new Set(places.map((place) => JSON.stringify(place))).size).toBe(places.length)
  })

  test('does not hold the names of the documents', () => {
    const sourced = (names: readonly string[]): string =>
      `Use the following sources to answer.\n\n${documents.map((text, i) => `Source: ${names[i]}\nContent: ${text}`).join('\n\n')}\n\nQuestion: Why?`
    const place = placeOf(sourced(['a.md', 'b.md', 'c.md']))
    expect(placeOf(sourced(['notes/one.md', 'two.md', 'x']))).toEqual(place)
    expect(place.gap).not.toContain('b.md')
  })

  test('is told for text parts, too', () => {
    const texts = ['Document 1: one', 'Document 2: two', 'Why?']
    const slots = [0, 1].map((text) => ({ text, start: 0, end: 15, content: { start: 12, end: 15 } }))
    const ids = texts.map(toBlockId)
    const context: PromptContext = {
      ...{ slots, blocks: ids, contents: ids, positional: true, labelPrefix: 'Document ' },
      ...{ annotateAt: undefined, isResult: false },
    }
    const message: PromptMessage = { role: 'user', texts: [0, 1, 2], rest: '', isTextOnly: true }
    const place = findListPlace(context, message, texts, { api: 'chat_completions', model: 'm', system: '' })
    expect(place).toMatchObject({ lead: '', gap: '\0Document #:' })
  })
})
