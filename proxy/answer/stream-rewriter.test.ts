import { createParser } from 'eventsource-parser'
import fc from 'fast-check'
import { describe, expect, it, test } from 'vitest'
import type { PromptApi } from '#engine-adapters/prompt-api.ts'
import { type AnswerRewriter, createAnswerRewriter, labelsOfChoices, StreamRewriter } from './answer-rewriter.ts'
import {
  generate,
  generateSegments,
  messages,
  openAiChat,
  responses,
  type StreamOf,
  vllmChat,
  vllmCompletion,
} from './answer-streams.fixture.ts'
import { CitationLabels, type CitationMap } from './citations/citation-labels.ts'
import { mapCitations } from './citations/map-citations.ts'

const map: CitationMap = [
  {
    prefix: '',
    labels: new Map([
      ['1', '3'],
      ['2', '1'],
      ['3', '2'],
      ['12', '7'],
      ['7', '12'],
    ]),
  },
]

function create(api: PromptApi): AnswerRewriter {
  return createAnswerRewriter(api, 'text/event-stream; charset=utf-8', labelsOfChoices([map], 1)!)!
}

function rewrite(rewriter: AnswerRewriter, chunks: readonly Buffer[]): string {
  return Buffer.concat([...chunks.map((chunk) => rewriter.push(chunk)), rewriter.end()]).toString()
}

function bytewise(stream: string): Buffer[] {
  return [...Buffer.from(stream)].map((byte) => Buffer.from([byte]))
}

function cutAt(stream: Buffer, cuts: readonly number[]): Buffer[] {
  const bounds = [0, ...cuts.map((cut) => cut % (stream.length + 1)).sort((a, b) => a - b), stream.length]
  return bounds.slice(1).map((end, i) => stream.subarray(bounds[i], end))
}

function mapAll(text: string): string {
  return mapCitations(new CitationLabels(map), text)
}

const streams: [string, PromptApi, StreamOf][] = [
  ['vLLM chat', 'chat_completions', vllmChat],
  ['OpenAI chat', 'chat_completions', openAiChat],
  ['completions', 'completions', vllmCompletion],
  ['responses', 'responses', responses],
  ['messages', 'messages', messages],
  ['generate', 'generate', generate],
  ['generate in segments', 'generate', generateSegments],
]

const textsWithReasoning = new Map([
  ['vLLM chat', 3],
  ['responses', 3],
  ['messages', 2],
])

describe.each(streams)('%s', (name, api, streamOf) => {
  // pieces of the answer, and what they become
  const cases: [string, string[], string[]][] = [
    ['whole citations', ['Rain [1].', ' Snow [2][3]', ' end'], ['Rain [3].', ' Snow [1][2]', ' end']],
    ['a citation cut in pieces', ['é "Rain" [', '1', ']', '.\n'], ['é "Rain" [', '3', ']', '.\n']],
    ['a citation at the very end', ['Rain ', '[2', ']'], ['Rain ', '[1', ']']],
    ['the beginning of a citation at the very end', ['Rain ', '[2', ''], ['Rain ', '[2', '']],
    ['wide brackets and astral signs', ['😀【', '3', '】😀'], ['😀【', '2', '】😀']],
    ['nothing to map', ['Rain [9] \u2028\\ ', '`[1]`', ' a[1]'], ['Rain [9] \u2028\\ ', '`[1]`', ' a[1]']],
  ]

  it.each(cases)('with %s differs in the labels of its text only, whatever the chunks', (_, pieces, mapped) => {
    const stream = streamOf(pieces)
    const expected = streamOf(mapped)
    expect(rewrite(create(api), [Buffer.from(stream)])).toBe(expected)
    expect(rewrite(create(api), bytewise(stream))).toBe(expected)
    for (let cut = 1; cut < Buffer.byteLength(stream); cut += 5) {
      expect(rewrite(create(api), cutAt(Buffer.from(stream), [cut]))).toBe(expected)
    }
  })

  it('at any split of text and stream tells the mapped text', () => {
    const piece = fc.constantFrom(
      '[',
      '1',
      '2',
      ']',
      '[3]',
      '【12】',
      '[7',
      ', ',
      'rain',
      '\n',
      '`',
      'é',
      '😀',
      '"',
      '',
      '{"a":',
      '}',
      '<tool_call>',
      '</tool_call>',
      'x = ',
      'vector ',
      ' has',
    )
    fc.assert(
      fc.property(
        fc.array(piece, { minLength: 1, maxLength: 12 }),
        fc.array(fc.nat(), { maxLength: 8 }),
        (drawn, cuts) => {
          // so that no segment is mistaken for the text so far
          const pieces = ['§§§§', ...drawn]
          const stream = streamOf(pieces)
          const rewriter = create(api)
          const rewritten = rewrite(rewriter, cutAt(Buffer.from(stream), cuts))
          expect(rewriter.fault).toBe(undefined)
          const texts = piecesOf(api, rewritten)
          expect(texts.length).toBe(pieces.length)
          const told = streamOf === generate ? texts.at(-1) : texts.join('')
          expect(told).toBe(mapAll(pieces.join('')))
          expect(rewritten).toBe(streamOf(streamOf === generate ? segmentsOf(texts) : texts))
        },
      ),
      { numRuns: 50 },
    )
  })

  it('counts every citation once, in reasoning too', () => {
    const rewriter = create(api)
    rewrite(rewriter, [Buffer.from(streamOf(['[1] and [2', '] and [9]']))])
    expect(rewriter.remapped).toBe(2 * (textsWithReasoning.get(name) ?? 1))
  })
})

/** The texts of a stream's text events. */
function piecesOf(api: PromptApi, stream: string): string[] {
  const pieces: string[] = []
  const parser = createParser({
    onEvent: ({ data }) => {
      if (data === '[DONE]') return
      const event = JSON.parse(data)
      const choice = event.choices?.[0]
      if (api === 'generate') pieces.push(event.text)
      if (api === 'completions') pieces.push(choice.text)
      if (choice?.delta?.content !== undefined) pieces.push(choice.delta.content)
      if (event.type === 'response.output_text.delta') pieces.push(event.delta)
      if (event.delta?.type === 'text_delta') pieces.push(event.delta.text)
    },
  })
  parser.feed(stream)
  // vLLM's first and last events have an empty text
  return stream.includes('chatcmpl-') ? pieces.slice(1, -1) : pieces
}

function segmentsOf(texts: readonly string[]): string[] {
  return texts.map((text, i) => text.slice(texts[i - 1]?.length ?? 0))
}

function chunk(...choices: object[]): string {
  return `data: ${JSON.stringify({ choices })}\n\n`
}

function delta(index: number, content: string): object {
  return { index, delta: { content } }
}

function data(type: string, more: object = {}): string {
  return `event: ${type}\ndata: ${JSON.stringify({ type, ...more })}\n\n`
}

function textDelta(type: string, delta: unknown): string {
  return data(type, { delta })
}

describe('an event', () => {
  it('is sent on at once when its text is decided', () => {
    const rewriter = create('chat_completions')
    const event = chunk(delta(0, 'Rain [1], '))
    expect(String(rewriter.push(Buffer.from(event)))).toBe(event.replace('[1]', '[3]'))
    expect(String(rewriter.push(Buffer.from(': ping\n\n')))).toBe(': ping\n\n')
  })

  it('waits with those behind it while its text ends in what may be a citation', () => {
    const rewriter = create('chat_completions')
    expect(String(rewriter.push(Buffer.from(chunk(delta(0, 'Rain [1')))))).toBe('')
    expect(String(rewriter.push(Buffer.from(': ping\n\n')))).toBe('')
    expect(String(rewriter.push(Buffer.from(chunk(delta(0, '] falls')))))).toBe(
      `${chunk(delta(0, 'Rain [3'))}: ping\n\n${chunk(delta(0, '] falls'))}`,
    )
  })

  it('with the first part of a label gets all of what takes its place', () => {
    const stream = chunk(delta(0, '[1')) + chunk(delta(0, '2]')) + chunk(delta(0, ' [7] '))
    const mapped = chunk(delta(0, '[7')) + chunk(delta(0, ']')) + chunk(delta(0, ' [12] '))
    expect(rewrite(create('chat_completions'), [Buffer.from(stream)])).toBe(mapped)
  })

  it('of one choice does not complete the citation of another', () => {
    const stream = chunk(delta(0, 'a ['), delta(1, 'b [')) + chunk(delta(1, '2] ')) + chunk(delta(0, '1] '))
    const mapped = chunk(delta(0, 'a ['), delta(1, 'b [')) + chunk(delta(1, '1] ')) + chunk(delta(0, '3] '))
    expect(rewrite(create('chat_completions'), bytewise(stream))).toBe(mapped)
  })

  it('with the calls of a tool is not waited for, and its arguments stay', () => {
    const call = { index: 0, delta: { tool_calls: [{ index: 0, function: { arguments: '{"x":[1]}' } }] } }
    const rewriter = create('chat_completions')
    const events = chunk(delta(0, 'so [2]')) + chunk(call)
    expect(String(rewriter.push(Buffer.from(events)))).toBe(chunk(delta(0, 'so [1]')) + chunk(call))
  })

  it.each<[PromptApi, string, string]>([
    ['chat_completions', chunk(delta(0, '[1]')), 'data: [DONE]\n\n'],
    ['chat_completions', chunk(delta(0, '[1]')), chunk({ index: 0, delta: {}, finish_reason: 'stop' })],
    ['completions', chunk({ index: 0, text: '[1]' }), chunk({ index: 0, text: '', finish_reason: 'length' })],
    ['messages', textDelta('content_block_delta', { type: 'text_delta', text: '[1]' }), data('content_block_stop')],
    ['messages', textDelta('content_block_delta', { type: 'text_delta', text: '[1]' }), data('message_delta')],
    ['responses', textDelta('response.output_text.delta', '[1]'), data('response.output_text.done')],
    ['responses', textDelta('response.output_text.delta', '[1]'), data('response.content_part.done')],
    ['responses', textDelta('response.output_text.delta', '[1]'), data('response.incomplete')],
    ['generate', 'data: {"text":"[1]"}\n\n', 'data: {"text":"[1]","meta_info":{"finish_reason":{"type":"stop"}}}\n\n'],
  ])('that ends a text of %s is not waited for: %#', (api, text, end) => {
    const rewriter = create(api)
    expect(String(rewriter.push(Buffer.from(text)))).toBe('')
    expect(String(rewriter.push(Buffer.from(end)))).toBe((text + end).replaceAll('[1]', '[3]'))
  })

  it('keeps the escapes of its text', () => {
    const event =
      'data: {"choices":[{"delta":{"content":"caf\\u00e9 \\/ [1] \\ud83d\\ude00\\n\\u005b2] \\ud83d"}}]}\n\n'
    expect(rewrite(create('chat_completions'), [Buffer.from(event)])).toBe(
      event.replace('[1]', '[3]').replace('\\u005b2]', '\\u005b1]'),
    )
  })

  it('may have its data on several lines', () => {
    const event =
      'data: {"choices":[{\r\ndata:"delta":{\r\n: note\r\nid: 1\r\ndata:  "content":"[1] x"}}\r\ndata: ]}\r\n\r\n'
    expect(rewrite(create('chat_completions'), bytewise(event))).toBe(event.replace('[1]', '[3]'))
  })

  it.each([
    ['no JSON', 'data: {"choices":[{"delta":{"content":"[1] x"}}\n\n'],
    ['another shape', 'data: {"choices":{"delta":{"content":"[1] x"}}}\n\ndata: [1]\n\ndata: null\n\ndata: "[1]"\n\n'],
    [
      'texts that are none',
      'data: {"choices":[{"delta":{"content":["[1]"]}},{"delta":{"content":null}},[1],null]}\n\n',
    ],
    ['an error', 'data: {"error":{"message":"[1] is too long","code":400}}\n\n'],
    ['no blank line', 'data: {"choices":[{"delta":{"content":"[1] x"}}]}\n'],
    ['data under another name', 'metadata: {"choices":[{"delta":{"content":"[1] x"}}]}\n\n'],
  ])('that has %s is passed on as it came', (_, stream) => {
    for (const api of ['chat_completions', 'completions', 'responses', 'messages', 'generate'] as const) {
      expect(rewrite(create(api), bytewise(stream))).toBe(stream)
    }
  })

  it('that is no UTF-8 is passed on byte for byte', () => {
    const event = Buffer.from([
      ...Buffer.from('data: {"choices":[{"delta":{"content":"[1] '),
      0xff,
      ...Buffer.from('"}}]}\n\n'),
    ])
    const rewriter = create('chat_completions')
    expect(Buffer.concat([rewriter.push(event), rewriter.end()])).toEqual(event)
  })

  it('that is too long is passed on as it comes, behind all that waited', () => {
    const rewriter = new StreamRewriter('chat_completions', labelsOfChoices([map], 1)!, 200)
    expect(String(rewriter.push(Buffer.from(chunk(delta(0, 'so [1]')))))).toBe('')
    const long = chunk(delta(0, `[1] ${'x'.repeat(300)}`))
    const sent = rewriter.push(Buffer.from(long.slice(0, 250)))
    expect(String(sent)).toBe(chunk(delta(0, 'so [3]')) + long.slice(0, 250))
    expect(String(rewriter.push(Buffer.from(long.slice(250) + chunk(delta(0, '[2], '))))).split('\n\n')[1]).toBe(
      chunk(delta(0, '[1], ')).trim(),
    )
    expect(rewriter.overflowed).toBe(true)
  })
})

test('what waits is bounded', () => {
  const rewriter = create('chat_completions')
  const events = chunk(delta(0, '[1')) + chunk(delta(0, '')).repeat(1000)
  const sent = rewriter.push(Buffer.from(events))
  expect(String(sent)).toBe(events)
  expect(String(rewriter.push(Buffer.from(chunk(delta(0, ' [2], ')))))).toBe(chunk(delta(0, ' [1], ')))
})

test('a text that an engine takes back is read anew', () => {
  const message = (text: string, reason: unknown = null): string =>
    `data: ${JSON.stringify({ text, meta_info: { finish_reason: reason } })}\n\n`
  const stream = message('Rain [1] \ufffd') + message('Rain [1] é [2') + message('Rain [1] é [2] `[1]`', 'stop')
  const mapped = message('Rain [3] \ufffd') + message('Rain [3] é [1') + message('Rain [3] é [1] `[1]`', 'stop')
  expect(rewrite(create('generate'), bytewise(stream))).toBe(mapped)
})

test('several prompts of one generation are told apart by their index', () => {
  const message = (index: number, text: string): string => `data: ${JSON.stringify({ text, index, meta_info: {} })}\n\n`
  const stream = message(0, '[') + message(1, '[2') + message(0, '[1] ') + message(1, '[2] ')
  const mapped = message(0, '[') + message(1, '[1') + message(0, '[3] ') + message(1, '[1] ')
  expect(rewrite(create('generate'), bytewise(stream))).toBe(mapped)
})

test('each choice is mapped with the labels of its own prompt', () => {
  const maps = ['2', '3'].map((to): CitationMap => [{ prefix: '', labels: new Map([['1', to]]) }])
  const message = (index: number, text: string): string => `data: ${JSON.stringify({ choices: [{ index, text }] })}\n\n`
  const texts = (to: readonly string[]): string => to.map((text, index) => message(index, `so [${text}] `)).join('')
  const rewriter = createAnswerRewriter('completions', 'text/event-stream', labelsOfChoices(maps, 2)!)!
  expect(rewrite(rewriter, bytewise(texts(['1', '1', '1', '1'])))).toBe(texts(['2', '2', '3', '3']))
})

test.each(['reasoning', 'reasoning_content', 'content'])('a citation in the pieces of %s is mapped', (member) => {
  const spoken = (pieces: readonly string[]): string =>
    pieces
      .map((piece) => `data: ${JSON.stringify({ choices: [{ index: 0, delta: { [member]: piece } }] })}\n\n`)
      .join('')
  const rewriter = create('chat_completions')
  expect(rewrite(rewriter, [Buffer.from(spoken(['as [', '2', '] says']))])).toBe(spoken(['as [', '1', '] says']))
})

test('reasoning that is over holds nothing back', () => {
  const rewriter = create('chat_completions')
  const thought = 'data: {"choices":[{"index":0,"delta":{"reasoning":"as document 2"}}]}\n\n'
  const said = 'data: {"choices":[{"index":0,"delta":{"content":"So it is"}}]}\n\n'
  expect(String(rewriter.push(Buffer.from(thought)))).toBe('')
  expect(String(rewriter.push(Buffer.from(said)))).toBe(thought.replace('2', '1') + said)
})

test('after a fault of ours all goes on as it came, and nothing is lost', () => {
  let calls = 0
  const rewriter = new StreamRewriter('chat_completions', (choice) => {
    if (++calls > 1) throw new Error('a fault')
    return labelsOfChoices([map], 1)!(choice)
  })
  const first = chunk(delta(0, 'so ['))
  const second = chunk(delta(0, '1], ')) + chunk(delta(0, '[2], '))
  expect(String(rewriter.push(Buffer.from(first)))).toBe('')
  expect(String(rewriter.push(Buffer.from(second)))).toBe(first + second)
  expect(rewriter.fault).toEqual(new Error('a fault'))
  const rest = `${first}data: {"no blank line`
  expect(rewrite(rewriter, bytewise(rest))).toBe(rest)
})
