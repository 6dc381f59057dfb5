import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { PromptApi } from '#engine-adapters/prompt-api.ts'
import { readPromptBody } from '../formats/read-prompt-body.ts'
import { placeBehindHistory } from './place-behind-history.ts'

interface Message {
  readonly role: string
  readonly content: unknown
}

/** As AnythingLLM 1.9 writes it. */
const anythingLlm: string = '\nContext:\n[CONTEXT 0]:\n'
const retrieved = (texts: readonly string[]): string =>
  `\nContext:\n${texts.map((text, i) => `[CONTEXT ${i}]:\n${text}\n[END CONTEXT ${i}]\n\n`).join('')}`
/** As Open WebUI writes it with RAG_SYSTEM_CONTEXT. */
const openWebUi: string = '### Task:\nRespond to the user query{any}</context>\n'

const system = 'You are kind.'
const turns = (count: number, texts: readonly string[] = ['alpha', 'beta']): Message[] => [
  { role: 'system', content: system + retrieved(texts) },
  ...Array.from({ length: count - 1 }, (_, i) => [
    { role: 'user', content: `Question ${i}?` },
    { role: 'assistant', content: `Answer ${i}.` },
  ]).flat(),
  { role: 'user', content: `Question ${count - 1}?` },
]

function place(
  body: object | string,
  frames: readonly string[] = [anythingLlm],
  api: PromptApi = 'chat_completions',
): string | undefined {
  const json = typeof body === 'string' ? body : JSON.stringify(body)
  return placeBehindHistory(api, readPromptBody(api, Buffer.from(json))!, frames)?.json
}
function placed(messages: readonly Message[], frames?: readonly string[]): Message[] {
  return (JSON.parse(place({ messages }, frames)!) as { messages: Message[] }).messages
}

test('what was retrieved goes in front of the newest question, and nothing else changes', () => {
  const sent = placed(turns(3))
  expect(sent[0]).toEqual({ role: 'system', content: system })
  expect(sent.at(-1)).toEqual({ role: 'user', content: `${retrieved(['alpha', 'beta'])}\n\nQuestion 2?` })
  expect(sent.slice(1, -1)).toEqual(turns(3).slice(1, -1))
})

test('words around it stay where they are; it ends at the last of the words that end it', () => {
  const content = `Be kind.\n### Task:\nRespond to the user query.\n<context>\nsays </context>\nitself\n</context>\nBe brief.`
  const sent = placed([{ role: 'system', content }, ...turns(2).slice(1)], [anythingLlm, openWebUi])
  expect(sent[0]!.content).toBe('Be kind.\nBe brief.')
  expect(sent.at(-1)!.content).toMatch(/^### Task:[\s\S]*itself\n<\/context>\n\n\nQuestion 1\?$/)
})

test('a question that an agent is still working on keeps it while tools answer', () => {
  const working = [
    ...turns(2),
    { role: 'assistant', content: 'I look it up.' },
    { role: 'tool', content: 'found', tool_call_id: 'a' },
  ]
  const sent = placed(working)
  expect(sent.slice(0, 4)).toEqual(placed(turns(2)))
  expect(sent.slice(4)).toEqual(working.slice(4))
})

test('a turn begins as the one before it was sent, up to the question before', () => {
  for (let count = 2; count < 6; count++) {
    const [now, next] = [placed(turns(count, [`for ${count}`])), placed(turns(count + 1, [`for ${count + 1}`]))]
    expect(next.slice(0, now.length - 1)).toEqual(now.slice(0, -1))
    // as received, the turns differ at once
    expect(turns(count, ['a'])[0]).not.toEqual(turns(count + 1, ['b'])[0])
  }
})

describe('everything stays as received', () => {
  test.each<[string, unknown, string[]?]>([
    ['without frames', turns(2), []],
    ['without a history', turns(1)],
    ['without what was retrieved', [{ role: 'system', content: system }, ...turns(2).slice(1)]],
    ['if only the words that begin it are there', turns(2), ['\nContext:\n{any}</never>']],
    [
      'if nothing else would be left of the message',
      [{ role: 'system', content: retrieved(['a']) }, ...turns(2).slice(1)],
    ],
    ['if the words are in a question', [{ role: 'user', content: retrieved(['a']) }, ...turns(2).slice(2)]],
    [
      'if the words are in an answer',
      [
        { role: 'assistant', content: retrieved(['a']) },
        { role: 'user', content: 'b' },
      ],
    ],
    ['if the words are only those that end it', turns(2), ['[END CONTEXT 1]{any}[CONTEXT 0]']],
    ['if nobody asks', turns(2).slice(0, 1)],
    [
      'if the newest question has no text',
      [...turns(2).slice(0, 3), { role: 'user', content: [{ type: 'image_url', image_url: { url: 'data:' } }] }],
    ],
    [
      'if a client marks what is to be cached',
      [
        { role: 'system', content: [{ type: 'text', text: system + retrieved(['a']), cache_control: {} }] },
        ...turns(2).slice(1),
      ],
    ],
  ])('%s', (_, messages, frames) => {
    expect(place({ messages }, frames)).toBeUndefined()
  })

  test('if the client renders its prompt itself', () => {
    const prompt = `<|im_start|>system\n${system}${retrieved(['a'])}<|im_end|>\n<|im_start|>user\nb`
    expect(place({ prompt }, [anythingLlm], 'completions')).toBeUndefined()
  })
})

test.each<[PromptApi, object, (body: { [name: string]: unknown }) => unknown[]]>([
  [
    'messages',
    { system: system + retrieved(['a']), messages: turns(2).slice(1) },
    ({ system: own, messages }) => [own, (messages as Message[]).at(-1)!.content],
  ],
  [
    'responses',
    { instructions: system + retrieved(['a']), input: turns(2).slice(1) },
    ({ instructions, input }) => [instructions, (input as Message[]).at(-1)!.content],
  ],
])('%s: in its own form', (api, body, read) => {
  const sent = place(body, [anythingLlm], api)
  expect(read(JSON.parse(sent!))).toEqual([system, `${retrieved(['a'])}\n\nQuestion 1?`])
})

test('property: every character of a prompt is sent once, escapes as the client wrote them, and twice is once', () => {
  const text = fc.string({ unit: 'binary', maxLength: 30 })
  const escaped = (json: string): string => json.replaceAll('\\n', '\\u000a')
  fc.assert(
    fc.property(
      text,
      fc.array(text, { minLength: 1, maxLength: 3 }),
      fc.array(text, { maxLength: 6 }),
      (own, all, said) => {
        const history = ['question', ...said].map((content, i) => ({ role: i % 2 ? 'assistant' : 'user', content }))
        const messages = [
          { role: 'system', content: `x${own}${retrieved(all)}` },
          ...history,
          { role: 'user', content: 'q' },
        ]
        const json = escaped(JSON.stringify({ messages, seed: 1 }))
        const sent = place(json)
        if (sent === undefined) {
          expect(said.length).toBe(0)
          return
        }
        const sorted = (of: string): string => [...of].toSorted().join('')
        expect(sorted(sent)).toBe(sorted(json + JSON.stringify('\n\n').slice(1, -1)))
        const read = (JSON.parse(sent) as { messages: Message[] }).messages
        const front = `x${own}${retrieved(all)}`
        const at = front.indexOf(anythingLlm)
        expect(read[0]!.content).toBe(front.slice(0, at))
        expect(read.at(-1)!.content).toBe(`${front.slice(at)}\n\nq`)
        expect(read.slice(1, -1)).toEqual(history)
        if (!front.slice(0, at).includes(anythingLlm)) expect(place(sent)).toBeUndefined()
      },
    ),
  )
})
