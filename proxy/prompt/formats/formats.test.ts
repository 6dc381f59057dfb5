import { describe, expect, test } from 'vitest'
import type { PromptApi } from '#engine-adapters/prompt-api.ts'
import { assistantMessage as assistant, Sender } from '../../request/sender.fixture.ts'
import { readJson, writeTexts } from '../body/prompt-body.fixture.ts'
import type { PromptBody } from '../body/prompt-body.ts'

const read = (api: PromptApi, body: unknown): PromptBody =>
  readJson(api, typeof body === 'string' ? body : JSON.stringify(body))!
const textsOf = (body: PromptBody): string[] | undefined => body.set?.texts.map(({ text }) => text)
const rolesOf = (body: PromptBody): string[][] | undefined =>
  body.set?.prompts.map(({ messages }) => messages.map(({ role }) => role))
const list = (...blocks: string[]): string =>
  `${blocks.map((text, i) => `[Doc_${i + 1}] ${text}`).join('\n')}\n\nQuestion: what?`

describe('completions', () => {
  test('a text is one prompt, several texts are a prompt each', () => {
    expect(rolesOf(read('completions', { prompt: 'a' }))).toEqual([['user']])
    const several = read('completions', { prompt: ['a', 'b'] })
    expect(rolesOf(several)).toEqual([['user'], ['user']])
    expect(writeTexts(several, ['a', 'x'])).toBe('{"prompt":["a","x"]}')
  })

  test.each([[{ prompt: [1, 2] }], [{ prompt: [[1], [2]] }], [{ prompt: [] }], [{ prompt: ['a', 1] }], [{}]])(
    'what holds no texts is left to the engine: %j',
    (body) => {
      expect(read('completions', body).set).toBeUndefined()
    },
  )

  test('blocks of each prompt are ordered by what stands in front of them there', () => {
    const sender = new Sender()
    const api = 'completions' as const
    sender.sendBody({ prompt: list('one', 'two') }, { api })
    const sent = sender.sendBody({ prompt: [list('three', 'two', 'one'), 'no blocks'] }, { api })
    expect(sent.prompt[0]).toMatch(/^\[Doc_1\] one\n\[Doc_2\] two\n\[Doc_3\] three\n/)
    expect(sent.prompt[1]).toBe('no blocks')
    expect(sender.decide({ prompt: ['a', 'b'] }, { api }).sent).toHaveLength(2)
  })
})

describe('generate', () => {
  test('text and texts are prompts, token ids are left to the engine', () => {
    expect(textsOf(read('generate', { text: 'a', sampling_params: {} }))).toEqual(['a'])
    expect(rolesOf(read('generate', { text: ['a', 'b'] }))).toHaveLength(2)
    expect(read('generate', { input_ids: [1, 2] }).set).toBeUndefined()
  })
})

describe('responses', () => {
  test('instructions and an input text', () => {
    const body = read('responses', { instructions: 'be brief', input: 'hello' })
    expect(rolesOf(body)).toEqual([['system', 'user']])
    expect(writeTexts(body, ['be brief', 'bye'])).toBe('{"instructions":"be brief","input":"bye"}')
  })

  test('messages, calls and what they gave', () => {
    const body = {
      input: [
        { role: 'developer', content: 'd' },
        { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'a' }, { type: 'input_image' }] },
        { type: 'function_call', call_id: '1', name: 'f', arguments: '{}' },
        { type: 'function_call_output', call_id: '1', output: 'result' },
        { type: 'function_call_output', call_id: '2', output: [{ type: 'input_text', text: 'part' }] },
        { role: 'assistant', content: [{ type: 'output_text', text: 'answer' }] },
      ],
    }
    const prompt = read('responses', body)
    expect(textsOf(prompt)).toEqual(['d', 'a', 'result', 'part', 'answer'])
    expect(rolesOf(prompt)).toEqual([['developer', 'user', 'function_call', 'tool', 'tool', 'assistant']])
    expect(JSON.parse(writeTexts(prompt, ['d', 'a', 'result', 'changed', 'answer'])).input[4].output).toEqual([
      { type: 'input_text', text: 'changed' },
    ])
  })

  test.each([[{}], [{ input: [] }], [{ input: 1 }], [{ input: ['a'] }], [{ input: 'a', instructions: [] }]])(
    'another shape is left to the engine: %j',
    (body) => {
      expect(read('responses', body).set).toBeUndefined()
    },
  )

  test('blocks are ordered', () => {
    const sender = new Sender()
    const body = (...blocks: string[]) => ({ instructions: 's', store: false, input: list(...blocks) })
    sender.sendBody(body('one', 'two'), { api: 'responses' })
    const sent = sender.sendBody(body('two', 'one'), { api: 'responses' })
    expect(sent.input).toMatch(/^\[Doc_1\] one\n\[Doc_2\] two\n\nPlease read .* \[Doc_2\] > \[Doc_1\] and/)
  })
})

describe('messages', () => {
  test('system, texts, and tool results as messages of their own', () => {
    const body = {
      system: [{ type: 'text', text: 's', cache_control: { type: 'ephemeral' } }],
      messages: [
        { role: 'user', content: 'u' },
        { role: 'assistant', content: [{ type: 'tool_use', id: '1', name: 'f', input: {} }] },
        {
          role: 'user',
          content: [
            { type: 'tool_result', tool_use_id: '1', content: 'r' },
            { type: 'tool_result', tool_use_id: '2', content: [{ type: 'text', text: 'p' }, { type: 'image' }] },
            { type: 'text', text: 'and now?' },
          ],
        },
      ],
    }
    const prompt = read('messages', body)
    expect(textsOf(prompt)).toEqual(['s', 'u', 'r', 'p', 'and now?'])
    expect(rolesOf(prompt)).toEqual([['system', 'user', 'assistant', 'tool', 'tool', 'user']])
    const written = JSON.parse(writeTexts(prompt, ['s', 'u', 'r', 'changed', 'then?']))
    expect(written.messages[2].content[1].content[0].text).toBe('changed')
    expect(written.messages[2].content[2].text).toBe('then?')
    expect(written.system).toEqual(body.system)
  })

  test.each([
    [{}],
    [{ messages: [] }],
    [{ messages: [{ role: 'user' }] }],
    [{ system: 1, messages: [{ role: 'user', content: 'a' }] }],
  ])('another shape is left to the engine: %j', (body) => {
    expect(read('messages', body).set).toBeUndefined()
  })

  test('what a tool said before is pointed to when it says it again, and is full again when that turn is dropped', () => {
    const sender = new Sender()
    const file = 'line of a file that a tool has read for the model\n'.repeat(5)
    const result = (id: string): object => ({ type: 'tool_result', tool_use_id: id, content: file })
    const first = [{ role: 'user', content: 'read it' }, assistant('x'), { role: 'user', content: [result('1')] }]
    const again = [assistant('y'), { role: 'user', content: [result('2')] }]
    const sent = sender.sendBody({ messages: [...first, ...again] }, { api: 'messages' })
    expect(JSON.stringify(sent.messages.slice(0, 4))).toBe(JSON.stringify([...first, assistant('y')]))
    expect(JSON.stringify(sent.messages[4])).toContain('Please refer to [Doc_1] in the previous conversation.')
    expect(sender.sendBody({ messages: again }, { api: 'messages' }).messages).toEqual(again)
  })
})

describe('documents of vLLM', () => {
  const body = (...names: string[]): string =>
    `{"documents": [ ${names.map((name) => `{"title":"${name}",  "text":"about ${name}"}`).join(',\n  ')} ],"messages":[{"role":"user","content":"q"}]}`

  test('they are ordered in place, each as it was written, where the sender says that they are a set', () => {
    const sender = new Sender()
    const options = { set: true }
    sender.sendBody({ ...JSON.parse(body('a', 'b')) }, { options })
    const compact = (text: string): string => JSON.stringify(JSON.parse(text))
    expect(sender.decide(compact(body('b', 'a', 'c')), { options }).body).toBe(compact(body('a', 'b', 'c')))
  })

  test('otherwise they are found and stay: a chat template numbers them, and nobody knows how', () => {
    const sender = new Sender()
    sender.sendBody({ ...JSON.parse(body('a', 'b')) })
    expect(sender.decide(body('b', 'a', 'c'))).toMatchObject({ body: undefined, blocks: 3, skipped: 'spoken_of' })
  })

  test('no words are put between them', () => {
    const sender = new Sender()
    sender.sendBody(JSON.parse(body('a', 'b')))
    expect(sender.decide(JSON.stringify(JSON.parse(body('b', 'a')))).contexts[0]!.annotation).toBeUndefined()
  })
})

describe('the tool whose result a message is', () => {
  const call = { id: 'c1', type: 'function', function: { name: 'search', arguments: '{}' } }
  const toolsOf = (body: PromptBody): (string | undefined)[] =>
    body.set!.prompts[0]!.messages.filter(({ role }) => role === 'tool').map(({ tool }) => tool)

  test('is named by its call, in every API', () => {
    const chat = {
      messages: [
        { role: 'assistant', tool_calls: [call] },
        { role: 'tool', tool_call_id: 'c1', content: 'a' },
      ],
    }
    expect(toolsOf(read('chat_completions', chat))).toEqual(['search'])
    const messages = {
      messages: [
        { role: 'assistant', content: [{ type: 'tool_use', id: 'c1', name: 'search', input: {} }] },
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'c1', content: 'a' }] },
      ],
    }
    expect(toolsOf(read('messages', messages))).toEqual(['search'])
    const input = [
      { type: 'function_call', call_id: 'c1', name: 'search', arguments: '{}' },
      { type: 'function_call_output', call_id: 'c1', output: 'a' },
    ]
    expect(toolsOf(read('responses', { input }))).toEqual(['search'])
  })

  test('is unknown without it, and no name of a user', () => {
    const messages = [
      { role: 'tool', tool_call_id: 'c2', content: 'a' },
      { role: 'user', name: 'read', content: 'b' },
    ]
    const body = read('chat_completions', { messages })
    expect(body.set!.prompts[0]!.messages.map(({ tool }) => tool)).toEqual([undefined, undefined])
  })
})
