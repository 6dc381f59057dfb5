import { expect, test } from 'vitest'
import { readScoredPrompt } from './scored-prompt.ts'

const read = (api: Parameters<typeof readScoredPrompt>[0]['api'], members: object, answer = 'Yes.'): unknown =>
  readScoredPrompt({ api, members: members as Record<string, unknown>, answer, promptTokens: undefined })
const user = { role: 'user', content: 'Is it?' }

test('a chat keeps what decides its prompt, and nothing else', () => {
  const members = {
    model: 'm',
    messages: [user],
    tools: [{}],
    temperature: 1,
    response_format: {},
    rid: 'r',
    stream: true,
  }
  expect(read('chat_completions', members)).toEqual({
    chat: { model: 'm', messages: [user], tools: [{}] },
    answer: 'Yes.',
  })
})

test('no tools are as good as none', () => {
  expect(read('chat_completions', { messages: [user], tools: [] })).toEqual({
    chat: { messages: [user] },
    answer: 'Yes.',
  })
  expect(read('responses', { input: 'Is it?', tools: [] })).toMatchObject({ chat: { messages: [user] } })
})

test('responses and messages are written as the chat that engines make of them', () => {
  const parts = [{ type: 'input_text', text: 'Is it?' }]
  const messages = [
    { role: 'system', content: 'Be brief.' },
    { role: 'user', content: [{ type: 'text', text: 'Is it?' }] },
  ]
  const item = { type: 'message', role: 'user', content: parts }
  expect(read('responses', { model: 'm', instructions: 'Be brief.', input: [item] })).toMatchObject({
    chat: { messages },
  })
  const message = { role: 'user', content: [{ type: 'text', text: 'Is it?', cache_control: {} }] }
  expect(read('messages', { model: 'm', system: 'Be brief.', messages: [message] })).toMatchObject({
    chat: { messages },
  })
})

test.each([
  ['no answer', 'chat_completions', { messages: [user] }, ' \n'],
  ['not text', 'chat_completions', { messages: [{ role: 'user', content: [{ type: 'image_url' }] }] }],
  ['not text', 'chat_completions', {}],
  ['not text', 'responses', { input: 'Is it?', tools: [{}] }],
  ['not text', 'responses', { input: 'Is it?', previous_response_id: 'r' }],
  ['not text', 'responses', { input: [{ type: 'function_call_output', output: 'x' }] }],
  ['not text', 'messages', { messages: [user], tools: [{}] }],
  ['not text', 'messages', { messages: [{ role: 'user', content: [{ type: 'tool_result' }] }] }],
  ['continued', 'chat_completions', { messages: [user, { role: 'assistant', content: 'It' }] }],
  ['several prompts', 'completions', { prompt: ['a', 'b'] }],
  ['not text', 'completions', {}],
  ['not text', 'generate', { input_embeds: [] }],
] as const)('nothing is scored of what is %s: %s %j', (_, api, members, answer?: string) => {
  expect(read(api, members, answer)).toBeUndefined()
})

test('a list of one prompt is that prompt, as text or as tokens', () => {
  expect(read('completions', { prompt: ['Is it?'] })).toEqual({ text: 'Is it?', answer: 'Yes.' })
  expect(read('completions', { prompt: [[1, 2]] })).toEqual({ ids: [1, 2], answer: 'Yes.' })
  expect(read('generate', { input_ids: [1, 2] })).toEqual({ ids: [1, 2], answer: 'Yes.' })
})

test('of a long answer, whole words of its beginning are scored', () => {
  const { answer } = read('generate', { text: 'x' }, 'word '.repeat(1_000)) as { answer: string }
  expect(answer).toBe('word '.repeat(400).trimEnd())
  const { answer: unbroken } = read('generate', { text: 'x' }, '😀'.repeat(2_000)) as { answer: string }
  expect(unbroken).toBe('😀'.repeat(1_000))
})
