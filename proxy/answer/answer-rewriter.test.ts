import fc from 'fast-check'
import { describe, expect, it, test } from 'vitest'
import type { PromptApi } from '#engine-adapters/prompt-api.ts'
import {
  type AnswerRewriter,
  BodyRewriter,
  choicesEach,
  createAnswerRewriter,
  type LabelsOf,
  labelsOfChoices,
} from './answer-rewriter.ts'
import type { CitationMap } from './citations/citation-labels.ts'

const map: CitationMap = [
  {
    prefix: 'Doc_',
    labels: new Map([
      ['1', '2'],
      ['2', '1'],
    ]),
  },
]

function create(api: PromptApi): AnswerRewriter {
  return createAnswerRewriter(api, 'application/json', labelsOfChoices([map], 1)!)!
}

function rewrite(rewriter: AnswerRewriter, body: Buffer): Buffer {
  const middle = Math.floor(body.length / 2)
  return Buffer.concat([rewriter.push(body.subarray(0, middle)), rewriter.push(body.subarray(middle)), rewriter.end()])
}

// «…» marks a text that is mapped; everything else stays
const bodies: [string, PromptApi, string][] = [
  [
    'a chat completion',
    'chat_completions',
    '{ "id":"[Doc_1]", "choices":[{"index":0,"message":{"role":"assistant","content":"«\\u00e9 \\/ [Doc_1] x Doc_2»","reasoning_content":"«Doc_1»","reasoning":"«Doc_2»","refusal":"Doc_1","tool_calls":[{"function":{"arguments":"{\\"a\\":\\"Doc_1\\"}"}}]},"logprobs":{"content":[{"token":"Doc_1"}]}},{"message":{"content":null}},{"message":{"content":"«[Doc_2]»"}},{"message":{"content":[{"type":"text","text":"«[Doc_2]»"}]}}],"n":1e3 }\n',
  ],
  ['a completion', 'completions', '{"choices":[{"text":"«[Doc_1]»"},{"text":"«Doc_2 `Doc_1`»"}]}'],
  [
    'a response',
    'responses',
    '{"instructions":"Doc_1","output":[{"type":"reasoning","summary":[{"type":"summary_text","text":"«Doc_2»"}],"content":[{"type":"reasoning_text","text":"«Doc_1»"}]},{"type":"function_call","arguments":"Doc_1"},{"type":"message","content":[{"type":"output_text","text":"«Doc_1»"},{"type":"refusal","refusal":"Doc_1"}]}]}',
  ],
  [
    'a message',
    'messages',
    '{"content":[{"type":"thinking","thinking":"«Doc_1»","signature":"Doc_1"},{"type":"text","text":"«Doc_1»"},{"type":"tool_use","input":{"text":"Doc_1"}}]}',
  ],
  ['a generation', 'generate', '{"text":"«Doc_1»","meta_info":{"id":"Doc_1"}}'],
  ['generations', 'generate', '[{"text":"«Doc_1»"},{"text":"«Doc_2»"},3]'],
]

it.each(bodies)('the texts of %s are mapped and all else stays', (_, api, marked) => {
  const body = marked.replace(/[«»]/g, '')
  const expected = marked.replace(/«([^»]*)»/g, (_, text: string) =>
    text.replace(/(?<!`)Doc_([12])/g, (_, label: string) => `Doc_${3 - Number(label)}`),
  )
  const rewriter = create(api)
  expect(String(rewrite(rewriter, Buffer.from(body)))).toBe(expected)
  expect(rewriter.remapped).toBe(expected.split('').filter((sign, i) => sign !== body[i]).length)
  expect(rewriter.remapped).toBeGreaterThan(0)
})

it.each([
  ['no JSON', '{"choices":[{"text":"Doc_1"}]'],
  ['nothing', ''],
  ['another shape', '{"choices":{"text":"Doc_1"},"output":1,"content":"Doc_1","text":["Doc_1"]}'],
  ['an error', '{"error":{"message":"Doc_1"}}'],
  ['a deep nest', `{"text":1,"x":${'['.repeat(200_000)}`],
])('%s passes as it is', (_, body) => {
  for (const api of ['chat_completions', 'completions', 'responses', 'messages', 'generate'] as const) {
    expect(String(rewrite(create(api), Buffer.from(body)))).toBe(body)
  }
})

test('a body that is no UTF-8 passes byte for byte', () => {
  const body = Buffer.concat([Buffer.from('{"text":"Doc_1 '), Buffer.from([0xff]), Buffer.from('"}')])
  expect(rewrite(create('generate'), body)).toEqual(body)
})

test('any bytes pass as they are', () => {
  fc.assert(
    fc.property(fc.uint8Array(), (bytes) => {
      expect(rewrite(create('generate'), Buffer.from(bytes))).toEqual(Buffer.from(bytes))
    }),
  )
})

test('of the text only the labels change, in any JSON', () => {
  const text = fc.array(fc.constantFrom('Doc_1', '[Doc_2]', '\n', '"', '\\', 'é', '😀', '\ud800', '/', '\u2028'))
  const style = fc.constantFrom<(json: string) => string>(
    (json) => json,
    (json) => json.replace(/[\u0080-\uffff]/g, (sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, '0')}`),
    (json) => json.replaceAll('/', '\\/'),
    (json) => JSON.stringify(JSON.parse(json), null, 2),
  )
  fc.assert(
    fc.property(text, fc.jsonValue(), style, (parts, other, restyle) => {
      const toJson = (text: string): string => restyle(JSON.stringify({ other, text, more: 'Doc_1' }))
      const swapped = parts.map((part) => part.replace(/\d/, (label) => `${3 - Number(label)}`))
      // a backslash before a blank escapes nothing
      const rewritten = rewrite(create('generate'), Buffer.from(toJson(parts.join(' '))))
      expect(String(rewritten)).toBe(toJson(swapped.join(' ')))
    }),
    { numRuns: 500 },
  )
})

test('a body that is too long passes as it is, all of it', () => {
  const rewriter = new BodyRewriter('generate', labelsOfChoices([map], 1)!, 20)
  expect(rewriter.push(Buffer.from('{"text":"Doc_1 ')).length).toBe(0)
  expect(String(rewriter.push(Buffer.from('and Doc_2")')))).toBe('{"text":"Doc_1 and Doc_2")')
  expect(String(rewriter.push(Buffer.from('}')))).toBe('}')
  expect(rewriter.end().length).toBe(0)
  expect(rewriter.overflowed).toBe(true)
})

test('after a fault of ours the body passes as it is', () => {
  const rewriter = new BodyRewriter('generate', () => {
    throw new Error('a fault')
  })
  expect(String(rewrite(rewriter, Buffer.from('{"text":"Doc_1"}')))).toBe('{"text":"Doc_1"}')
  expect(rewriter.fault).toEqual(new Error('a fault'))
})

it.each([
  ['application/json', true],
  ['Application/JSON; charset=UTF-8', true],
  ['application/problem+json', true],
  ['text/event-stream', true],
  ['text/event-stream;charset="utf-8"', true],
  ['application/json; charset=latin1', false],
  ['application/jsonl', false],
  ['text/html', false],
  ['', false],
])('an answer of type %j is read: %s', (contentType, isRead) => {
  expect(createAnswerRewriter('completions', contentType, labelsOfChoices([map], 1)!) !== undefined).toBe(isRead)
})

test('with nothing to map there is no rewriter', () => {
  const same = [{ prefix: '', labels: new Map([['1', '1']]) }]
  expect(labelsOfChoices([same], 1)).toBe(undefined)
  expect(labelsOfChoices([], 1)).toBe(undefined)
})

describe('each choice of an answer to several prompts is mapped with the labels of its own prompt', () => {
  const maps = ['2', '3', '4'].map((to): CitationMap => [{ prefix: '', labels: new Map([['1', to]]) }])
  const answer = (api: PromptApi, labels: LabelsOf, body: unknown): unknown =>
    JSON.parse(
      String(rewrite(createAnswerRewriter(api, 'application/json', labels)!, Buffer.from(JSON.stringify(body)))),
    )

  it('in completions, by its index', () => {
    const choices = [1, 0, 2].map((index) => ({ index, text: 'so [1]' }))
    expect(answer('completions', labelsOfChoices(maps, 1)!, { choices })).toEqual({
      choices: [
        { index: 1, text: 'so [3]' },
        { index: 0, text: 'so [2]' },
        { index: 2, text: 'so [4]' },
      ],
    })
  })

  it('if there are several choices for each', () => {
    const choices = Array.from({ length: 6 }, (_, index) => ({ index, text: '[1].' }))
    const { choices: mapped } = answer('completions', labelsOfChoices(maps, 2)!, { choices }) as {
      choices: { text: string }[]
    }
    expect(mapped.map(({ text }) => text)).toEqual(['[2].', '[2].', '[3].', '[3].', '[4].', '[4].'])
  })

  it('in generations, by place', () => {
    const body = [{ text: 'so [1]' }, { text: 'so [1]' }, { text: 'so [1]' }]
    expect(answer('generate', labelsOfChoices(maps, 1)!, body)).toEqual([
      { text: 'so [2]' },
      { text: 'so [3]' },
      { text: 'so [4]' },
    ])
  })

  it.each([
    [{}, 1],
    [{ n: 3 }, 3],
    [{ n: null }, 1],
    [{ n: 'x' }, 1],
    [{ sampling_params: { n: 2 } }, 2],
    [{ sampling_params: [{ n: 2 }, { n: 2 }] }, 2],
  ])('a request with %j asks for %i choices each', (members, count) => {
    expect(choicesEach(members)).toBe(count)
  })
})
