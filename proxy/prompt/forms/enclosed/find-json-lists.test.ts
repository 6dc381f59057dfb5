import { describe, expect, it } from 'vitest'
import { behindLists, contentsOf, findContextLists, labelsOf } from '../found-lists.fixture.ts'

const results = [
  { title: 'Rain', url: 'https://a.example/rain', content: 'It rained all day in "Oslo" [1].', score: 0.5 },
  { title: 'Sun', url: 'https://a.example/sun', content: '雨が降った — and then\n\nthe sun shone.', score: 0.25 },
]
const compact = results.map((result) => JSON.stringify(result))
const pretty = results.map((result) => JSON.stringify(result, null, 2).replaceAll('\n', '\n  '))

describe('results in JSON', () => {
  it('are blocks, compact or pretty-printed, alone or in an object', () => {
    expect(contentsOf(JSON.stringify(results))).toEqual([compact])
    expect(contentsOf(JSON.stringify(results, null, 2))).toEqual([pretty])
    expect(contentsOf(JSON.stringify({ query: 'q', results, took: 0.1 }))).toEqual([compact])
    expect(contentsOf(JSON.stringify({ data: { hits: results } }, null, 1))).toHaveLength(1)
    const organic = results.map(({ title, url: link, content: snippet }) => ({ title, link, snippet }))
    for (const name of ['organic', 'organic_results'])
      expect(findContextLists(JSON.stringify({ [name]: organic }), { whole: true, tool: 'serper' })).toHaveLength(1)
  })

  it('leave commas, white space and what is around them to their places', () => {
    const json = JSON.stringify({ results }, null, 2).replaceAll('\n', '\r\n')
    const text = `Search results: ${json}\r\n\r\nWhat about rain?`
    const [list] = findContextLists(text)
    const [first, second] = list!.blocks
    expect(text.slice(first!.end, second!.start)).toBe(',\r\n    ')
    expect(behindLists(text)).toEqual(['\r\n\r\nWhat about rain?'])
  })

  it('are the largest of several lists, and others keep their places', () => {
    const few = ['a short text, and', 'another short text', 'a third'].map((text) => ({ text }))
    expect(contentsOf(JSON.stringify({ results, sources: few }))).toEqual([compact])
  })

  it.each([
    { answer: 'It rained [1].' },
    { best_index: 1 },
    { selected: 0 },
    { answer_from: 'result 2' },
    { sorted_by: 'price' },
    { note: 'cheapest first' },
  ])('are left alone beside %j, which names one or says how they stand', (beside) => {
    expect(contentsOf(JSON.stringify({ results, ...beside }))).toEqual([])
    expect(contentsOf(JSON.stringify({ ...beside, results }))).toEqual([])
  })

  it.each([
    { page: 1, total: 2 },
    { sorted_by: 'relevance' },
    { ids: [1] },
    { took: 12, query: 'what came first in document 5' },
    { start_index: 0, next_index: 2 },
    { index: '2024-logs' },
    { info: 'items 1 to 4' },
    { note: 'hit 3 of 5' },
  ])('are found beside %j', (beside) => expect(contentsOf(JSON.stringify({ results, ...beside }))).toEqual([compact]))

  it('are left alone beside a list of another name with as many members', () => {
    for (const beside of [{ urls: ['https://a', 'https://b'] }, { ids: [['k1', 'k2']] }, { scores: [0.4, 0.6] }]) {
      expect(contentsOf(JSON.stringify({ results, ...beside }))).toEqual([])
      expect(contentsOf(JSON.stringify({ ...beside, results }))).toEqual([])
    }
    expect(contentsOf(JSON.stringify({ results, urls: ['https://a'] }))).toEqual([compact])
  })

  it('are found wherever JSON begins a line, several times in a text, and inside a container', () => {
    const json = JSON.stringify(results)
    expect(contentsOf(`First:\n${json}\nSecond:\n${json}\n\nWhy?`)).toEqual([compact, compact])
    expect(contentsOf(`<search_results>\n${json}\n</search_results>\n\nWhy?`)).toEqual([compact])
    expect(behindLists(`<search_results>${json}</search_results>\nWhy?`)).toEqual(['\nWhy?'])
  })

  it('are found right behind the tag of their container', () => {
    for (const name of ['context', 'documents', 'search_results']) {
      const text = `<${name}>${JSON.stringify(results)}</${name}>\n\nWhy?`
      expect(contentsOf(text)).toEqual([compact])
      expect(behindLists(text)).toEqual(['\n\nWhy?'])
    }
    expect(contentsOf(`<data><documents type="json"> ${JSON.stringify({ results })}</documents></data>`)).toEqual([
      compact,
    ])
  })

  it('may be short where the line in front, their name, a field or the question says what they are', () => {
    const short = [{ text: 'Rain' }, { text: 'Sun' }]
    const sourced = short.map((result, i) => ({ ...result, url: `https://a.example/${i}` }))
    const scored = short.map((result) => ({ ...result, similarity: 0.5 }))
    for (const text of [
      `Context: ${JSON.stringify(short)}\n\nWhy?`,
      `${JSON.stringify(sourced)}\n\nQuestion: why?`,
      JSON.stringify({ results: sourced }),
      JSON.stringify({ documents: scored }),
      JSON.stringify(scored),
      JSON.stringify([{ page_content: 'Rain' }, { page_content: 'Sun' }]),
    ]) {
      expect(contentsOf(text)[0]).toHaveLength(2)
    }
    expect(contentsOf(`${JSON.stringify(short)}\n\nWhy?`)).toEqual([])
    expect(contentsOf(JSON.stringify({ results: short }))).toEqual([])
    expect(contentsOf(JSON.stringify({ items: short }))).toEqual([])
    expect(contentsOf(JSON.stringify({ documents: short }))).toEqual([])
    expect(contentsOf(JSON.stringify({ documents: short }), { whole: true, tool: 'search' })[0]).toHaveLength(2)
    expect(contentsOf(`Context: ${JSON.stringify([{ text: '' }, { text: 'Sun' }])}\n\nWhy?`)).toEqual([])
  })

  it('are memories as they are searched', () => {
    const memories = [
      { id: 'a7', memory: 'Owns a wooden boat', score: 0.1 },
      { id: 'f2', memory: 'Lives at the harbour', score: 0.2 },
    ]
    expect(labelsOf(JSON.stringify({ results: memories }))).toEqual(['a7', 'f2'])
  })

  it('are the texts of an array when the line in front says so', () => {
    const texts = ['It rained all day in Oslo.', 'The sun shone in Rome.']
    expect(contentsOf(`[[ ## context ## ]]\n${JSON.stringify(texts)}\n\n[[ ## question ## ]]\nWhy?`)).toEqual([
      texts.map((text) => JSON.stringify(text)),
    ])
    expect(contentsOf(`Which is longer?\n${JSON.stringify(texts)}`)).toEqual([])
  })

  it('are not announced by the JSON in front of them', () => {
    const front = JSON.stringify([{ note: 'Context documents' }])
    const texts = ['It rained all day in Oslo.', 'The sun shone in Rome.']
    expect(contentsOf(`${front}\n${JSON.stringify(texts)}`)).toEqual([])
    expect(contentsOf(`[Context documents]\n${JSON.stringify(texts)}`)).toHaveLength(1)
  })

  it('are labelled by what counts or names them', () => {
    const numbered = results.map((result, i) => ({ ...result, id: i + 1 }))
    expect(labelsOf(JSON.stringify(numbered))).toEqual(['1', '2'])
    expect(findContextLists(JSON.stringify(numbered))).toMatchObject([{ positional: true, labelPrefix: '' }])
    const strings = results.map((result, i) => ({ index: `${i}`, ...result }))
    expect(labelsOf(JSON.stringify(strings))).toEqual(['0', '1'])
    const named = results.map((result, i) => ({ ...result, id: `doc-${9 - i}` }))
    expect(findContextLists(JSON.stringify(named))).toMatchObject([{ positional: false }])
    expect(labelsOf(JSON.stringify(results))).toEqual([undefined, undefined])
  })
})

describe('no results', () => {
  const json = JSON.stringify(results)
  it.each([
    ['a single one', JSON.stringify(results.slice(1))],
    ['JSON that does not parse', json.replace('}]', '},]')],
    ['JSON with a broken escape', json.replace('Oslo', '\\x')],
    ['JSON that is cut off', json.slice(0, -1)],
    ['fenced code', `\`\`\`json\n${json}\n\`\`\``],
    ['source code', `const results = ${json}\nuse(results)`],
    ['code that goes on', `${json}.map(show)`],
    [
      'what another document holds',
      JSON.stringify({ anyOf: results.map(({ content: description }) => ({ description })) }),
    ],
    ['numbers', '[1, 2, 3]\n[[1, 2], [3, 4]]'],
    ['records without a text', '[{"name":"Ada","age":36},{"name":"Alan","age":41}]'],
    [
      'a conversation',
      '[{"role":"user","content":"What is the weather?"},{"role":"assistant","content":"It will rain today."}]',
    ],
    [
      'parts of a content, which may be one text',
      '{"content":[{"type":"text","text":"It rained all day."},{"type":"text","text":"The sun shone."}]}',
    ],
    ['chunks of one text', JSON.stringify({ chunks: results.map(({ content }) => ({ text: content })) })],
    ['pages', JSON.stringify({ results: results.map(({ content }, page) => ({ page, text: content })) })],
    [
      'a feed',
      JSON.stringify({
        items: results.map(({ content }, i) => ({ url: `u${i}`, created_at: `2026-01-0${i}`, body: content })),
      }),
    ],
    ['commits', JSON.stringify({ results: results.map(({ content }, i) => ({ sha: `a${i}`, description: content })) })],
    ['steps', '[{"step":1,"text":"Open the file that I sent"},{"step":2,"text":"Read it from the front"}]'],
    ['texts among other things', '["It rained all day in Oslo.", "The sun shone in Rome.", 3]'],
    ['JSON in the middle of a line', `He said ${json}`],
  ])('are %s', (_, text) => {
    expect(contentsOf(text)).toEqual([])
  })
})
