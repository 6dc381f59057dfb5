import { describe, expect, test } from 'vitest'
import { expectLinear } from '../../http/bounds/linear-time.fixture.ts'
import { readDemands } from './demands.ts'

type Body = Record<string, unknown>
const schema = (properties: Body): Body => ({
  type: 'json_schema',
  json_schema: { name: 's', schema: { type: 'object', properties } },
})
const tool = (properties: Body): Body => ({
  type: 'function',
  function: { name: 'f', parameters: { type: 'object', properties } },
})
const read = (body: object): ReturnType<typeof readDemands> => readDemands('chat_completions', body as Body)

describe('a request goes as received', () => {
  test.each<object>([
    { echo: true },
    { prompt_logprobs: 0 },
    { sampling_params: { prompt_logprobs: 1 } },
    { return_logprob: true },
    { return_logprob: true, logprob_start_len: 3 },
    { return_token_ids: true },
    { return_tokens_as_token_ids: true },
    { return_prompt_token_ids: true },
    { return_hidden_states: true },
    { include_input_logprobs: true },
    { truncate_prompt_tokens: 100 },
    { truncation: 'auto' },
    { max_prompt_tokens: 1000 },
    { context_management: { edits: [] } },
    { session_params: { id: 's' } },
  ])('measured, with %j', (members) => expect(read(members).asReceived).toBe('measured'))

  test.each<object>([
    { text: 'q', image_data: ['a.png'] },
    { text: 'q', audio_data: 'a.wav' },
    { text: 'q', video_data: ['a.mp4'] },
    { prompt: 'q', multi_modal_data: { image: 'a' } },
    { prompt: 'q', images: ['a'] },
    { prompt: 'q', prompt_embeds: 'a' },
  ])('with media, in %j', (members) => expect(read(members).asReceived).toBe('media'))

  test.each<object>([
    {},
    { echo: false, prompt_logprobs: null, return_logprob: false, truncation: 'disabled', image_data: [] },
    { text: 'q', image_data: null },
    { messages: [], audio: { voice: 'a' }, modalities: ['text', 'audio'] },
    { input: 'q', include: ['reasoning.encrypted_content'] },
    { logprobs: true, max_tokens: 100, stream_options: { include_usage: true }, prompt_cache_key: 'a' },
  ])('but not with %j', (members) => expect(read(members).asReceived).toBeUndefined())
})

describe('numbers may come back unmapped', () => {
  test.each<object>([
    { tools: [tool({})] },
    { functions: [{ name: 'f' }], function_call: 'auto' },
    { tools: [tool({})], tool_choice: 'auto' },
    { response_format: { type: 'json_object' } },
    { max_tokens: 1 },
    { stop: [']'] },
    { sampling_params: { stop: '.)' } },
    { stop_sequences: ['3'] },
    { prompt: 'q', suffix: ' says so.' },
    { prompt: 'q?\nAnswer: According to document' },
    { text: ['q?\n答案：根据文档'] },
    { prompt: 'q?\nMost relevant document:' },
    { prompt: 'q?\nSource used: [Doc' },
    { messages: [{ role: 'user', content: 'q?\n\nDoc ID:' }] },
    { messages: [{ role: 'user', content: 'q?\n\nBest:' }] },
    { input: 'q?\n\n证据：' },
    { messages: [{ role: 'user', content: 'q?\n\nDoc ID:' }] },
    { messages: [{ role: 'user', content: 'q?\n\nBest:' }] },
    { input: 'q?\n\n证据：' },
    { messages: [{ role: 'user', content: 'q?\n\nSource:' }] },
    { messages: [{ role: 'user', content: [{ type: 'text', text: 'q?\n\nSource:' }] }] },
    {
      messages: [
        { role: 'user', content: 'q' },
        { role: 'assistant', content: 'It is in document' },
      ],
    },
    { max_completion_tokens: 4 },
    { max_output_tokens: 4 },
    { text: 'q', sampling_params: { max_new_tokens: 2 } },
    { text: ['q'], sampling_params: [{ max_new_tokens: 2 }] },
    { store: true },
    { background: true },
    { previous_response_id: 'resp_1' },
    { conversation: 'conv_1' },
    { logprobs: true, top_logprobs: 5 },
    { prompt: 'q', logprobs: 0 },
    { allowed_token_ids: [1, 2] },
    { logit_bias: { 16: 5 } },
  ])('with %j', (members) => expect(read(members).areNumbersData).toBe(true))

  test.each<object>([
    {},
    { tools: [], functions: null },
    { tools: [tool({})], tool_choice: 'none' },
    { tools: [{ name: 'f', input_schema: {} }], tool_choice: { type: 'none' } },
    { max_tokens: 5, store: false, logprobs: false, n: 2 },
    { logprobs: true },
    { stop: ['###', '\nObservation:', '</s>', '<|im_end|>'], suffix: '' },
    { prompt: 'q?\nAnswer: ' },
    { prompt: ['Answer: no\nq?', "q?\nAnswer: Let's think step by step."] },
    { prompt: 'Documents:\nQuestion: Where is it' },
    { messages: [{ role: 'user', content: 'Sources:\n[1] a\n\nWhat is in this document?' }] },
    { messages: [{ role: 'user', content: 'q?\n\nAnswer with sources:' }] },
    { messages: [{ role: 'user', content: 'q?\n\nHelpful Answer:' }] },
    { prompt: 'Q: q?\nA:' },
    { input: 'q?\n\n### Zusammenfassung:' },
    { messages: [{ role: 'user', content: 'q?\n\nSay nothing of the people, but much of the town:' }] },
    { messages: [{ role: 'user', content: 'q?\n\nHelpful Answer:' }] },
    { prompt: 'Q: q?\nA:' },
    { input: 'q?\n\n### Zusammenfassung:' },
    { messages: [{ role: 'user', content: 'q?\n\nWhat you say must be true of the people in these words:' }] },
    { prompt: '问题\n\n回答并注明出处：' },
  ])('but not with %j', (members) => expect(read(members).areNumbersData).toBe(false))

  test('in responses, which are stored unless they say otherwise', () => {
    expect(readDemands('responses', { input: 'q' }).areNumbersData).toBe(true)
    expect(readDemands('responses', { input: 'q', store: null }).areNumbersData).toBe(true)
    expect(readDemands('responses', { input: 'q', store: false }).areNumbersData).toBe(false)
  })
})

describe('the answer may hold a value for each document', () => {
  test.each<object>([
    { response_format: schema({ scores: { type: 'array', items: { type: 'integer' } } }) },
    { response_format: schema({ first: { type: 'number' } }) },
    { response_format: { type: 'json_object' } },
    { guided_json: '{"type": "array"}' },
    { guided_regex: '.*' },
    { guided_choice: ['1', '2'] },
    { grammar: 'root ::= "a"' },
    { structured_outputs: { json: {} } },
    { text: { format: { type: 'json_schema', schema: { type: 'object', properties: { a: { type: 'array' } } } } } },
    { messages: [{ role: 'assistant', content: '[' }] },
    { tools: [tool({ ids: { type: 'array' } })], tool_choice: 'required' },
    { tools: [tool({ ids: { type: 'array' } })], tool_choice: { type: 'function', function: { name: 'f' } } },
    { tools: [{ name: 'f', input_schema: { properties: { n: { type: 'integer' } } } }], tool_choice: { type: 'any' } },
    { functions: [{ name: 'f', parameters: {} }], function_call: { name: 'f' } },
    { tools: [tool({ index: { description: 'of the result', type: 'integer' } })] },
    { tools: [{ name: 'f', input_schema: { properties: { document_positions: { type: 'array' } } } }] },
    { tools: [tool({ documentIndex: { anyOf: [{ type: 'integer' }, { type: 'null' }] } })] },
    { tools: [tool({ of: { type: 'object', properties: { result_number: { enum: [1, 2] } } } })] },
    { tools: [tool({ choice: { type: 'integer' } })] },
    { tools: [tool({ docs: { type: 'array', items: { type: 'integer' } } })] },
    { tools: [tool({ n: { type: 'integer', description: 'Which result to open, 1-based.' } })] },
    {
      tools: [
        {
          name: 'f',
          description: 'Opens the n-th document.',
          input_schema: { properties: { n: { type: 'integer' } } },
        },
      ],
    },
    {
      tools: [
        {
          name: 'f',
          description: 'Opens a result by position.',
          parameters: { properties: { id: { type: 'integer' } } },
        },
      ],
    },
    { tools: [tool({ which: { type: 'string', description: '"first", "second" and so on' } })] },
    { guided_choice: ['first', 'second', 'third'] },
    { response_format: schema({ first_summary: { type: 'string' }, second_summary: { type: 'string' } }) },
    { response_format: schema({ document_index: { type: 'string' } }) },
    { response_format: schema({ source: { type: 'string', description: 'number of the document' } }) },
    { prompt: 'a\n\nb\n\nSummaries:\n1.' },
    { messages: [{ role: 'user', content: 'a\n\nb\n\nRatings:' }] },
    { prompt: 'a\n\nb\n**Keywords per document:**' },
    { input: '一\n\n二\n\n评分：' },
  ])('%j', (members) => expect(read(members).isOrderData).toBe(true))

  test.each<object>([
    {},
    { response_format: schema({ answer: { type: 'string' }, isKnown: { type: 'boolean' } }) },
    { guided_choice: ['yes', 'no'] },
    { messages: [{ role: 'user', content: 'Ratings:\n\na\n\nb\n\nWhy?' }] },
    { messages: [{ role: 'user', content: 'a\n\nb\n\nThe order of the court, in one sentence:' }] },
    { tools: [tool({ ids: { type: 'array' } })] },
    { tools: [tool({ ids: { type: 'array' } })], tool_choice: 'auto' },
    { tools: [tool({ index: { type: 'string' }, limit: { type: 'integer' } })] },
    { tools: [tool({ n: { type: 'integer', description: 'how many results' } })] },
    { tools: [tool({ documents: { type: 'array', items: { type: 'string' } } })] },
    { tools: [tool({ offset: { type: 'integer', description: '0-based line to start at' } })] },
    { tools: [tool({ options: { type: 'object', properties: { timeout: { type: 'integer' } } } })] },
    { tools: [tool({ source: { type: 'string', description: 'Which source to search' } })] },
    { tools: [tool({ results: { type: 'integer', description: 'how many' } })] },
    { tools: [tool({ items: { type: 'array', items: { properties: { quantity: { type: 'integer' } } } } })] },
    { tools: [tool({ index: { type: 'integer' } })], tool_choice: 'none' },
    { tools: [tool({ answer: { type: 'string' } })], tool_choice: 'required' },
    { tools: [tool({ first_name: { type: 'string' }, seconds: { type: 'integer', description: 'per second' } })] },
    { response_format: schema({ first_name: { type: 'string' }, last_name: { type: 'string' } }) },
    { response_format: schema({ автор: { type: 'string', description: 'en segundos, secondo i documenti' } }) },
    { response_format: schema({ source: { type: 'string', description: 'which document says so' } }) },
    { tools: [tool({ line2: { type: 'string', description: 'Second line of the address' } })] },
    {
      tools: [
        {
          name: 'f',
          description: 'Finds which document answers. Sorts documents by number of matches.',
          parameters: { properties: { k: { type: 'integer' } } },
        },
      ],
    },
  ])('not %j', (members) => expect(read(members).isOrderData).toBe(false))

  test('is read in linear time', () => {
    expectLinear((size) => read({ response_format: schema({ a: { description: 'document '.repeat(size) } }) }), 2_000)
  })

  test('of a depth that cannot be written again', () => {
    let deep: unknown = {}
    for (let i = 0; i < 20_000; i++) deep = { deep }
    expect(read({ guided_json: deep }).isOrderData).toBe(true)
  })
})

test('media are told from texts and tool calls', () => {
  const image = { type: 'image_url', image_url: { url: 'a' } }
  const said = { type: 'text', text: 'a' }
  expect(read({ messages: [{ role: 'user', content: [said, image] }] }).media).toBe(1)
  expect(read({ input: [{ role: 'user', content: [{ type: 'input_image' }] }] }).media).toBe(1)
  expect(read({ messages: [{ role: 'user', content: [said, { type: 'tool_result' }] }] }).media).toBe(0)
  expect(read({ messages: [{ role: 'user', content: 'a' }], input: 'b' }).media).toBe(0)
})
