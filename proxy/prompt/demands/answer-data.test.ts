import { expect, test } from 'vitest'
import { asksForData } from './demands.ts'

const prefill = (content: unknown): object => ({
  messages: [
    { role: 'user', content: 'q' },
    { role: 'assistant', content },
  ],
})

test.each<object>([
  { response_format: { type: 'json_object' } },
  { response_format: { type: 'json_schema', json_schema: { name: 's', schema: {} } } },
  { response_format: { type: 'structural_tag' } },
  { text: { format: { type: 'json_schema', name: 's', schema: {} } } },
  { output_config: { effort: 'low', format: { type: 'json_schema', schema: {} } } },
  { output_format: { type: 'json_schema', schema: {} } },
  { guided_json: {} },
  { guided_regex: '\\d+' },
  { guided_choice: ['a'] },
  { guided_grammar: 'root ::= "a"' },
  { structured_outputs: { json: {} } },
  { grammar: 'root ::= "a"' },
  { regex: '\\d+' },
  { ebnf: 'root ::= "a"' },
  { text: 'q', sampling_params: { json_schema: '{}' } },
  { text: ['q'], sampling_params: [{}, { regex: 'a' }] },
  prefill('{'),
  prefill('Here it is:\n```json\n'),
  prefill('{"answer": "'),
  prefill([{ type: 'text', text: '[' }]),
  { prompt: 'q\n\nAnswer: {' },
  { prompt: ['q', 'q ['] },
])('an answer for a program is asked for by %j', (members) => {
  expect(asksForData(members as Record<string, unknown>)).toBe(true)
})

test.each<object>([
  {},
  { response_format: { type: 'text' }, text: { format: { type: 'text' }, verbosity: 'low' } },
  { response_format: null, guided_json: null, regex: '', structured_outputs: undefined },
  { sampling_params: { temperature: 0, regex: null } },
  { output_config: { effort: 'low' } },
  { messages: [{ role: 'user', content: 'as {' }] },
  prefill('As [1] says'),
  prefill([{ type: 'text', text: 'As' }, null]),
  { prompt: 'q\n\nAnswer:' },
  { prompt: '[1] a\n```\nx\n```\n' },
  { prompt: '{"a": 1}\n\nWhat is it?' },
  { prompt: [1, 2], text: 3, messages: 'q', response_format: { type: 'text' } },
])('an answer in words is asked for by %j', (members) => {
  expect(asksForData(members as Record<string, unknown>)).toBe(false)
})
