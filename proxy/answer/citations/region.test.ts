import { describe, expect, it, test } from 'vitest'
import { CitationLabels } from './citation-labels.ts'
import { PieceMapper } from './piece-mapper.fixture.ts'

const swapped = new Map([
  ['1', '2'],
  ['2', '1'],
])
const labels = new CitationLabels([
  { prefix: '', labels: swapped },
  { prefix: 'Doc_', labels: swapped },
])

function mapAll(pieces: readonly string[]): string {
  const mapper = new PieceMapper(labels)
  return pieces.map((piece) => mapper.push(piece)).join('') + mapper.flush()
}

function expectMapped(text: string, expected: string): void {
  expect(mapAll([text])).toBe(expected)
  expect(mapAll(text.split(''))).toBe(expected)
  for (let cut = 1; cut < text.length; cut++) expect(mapAll([text.slice(0, cut), text.slice(cut)])).toBe(expected)
}

describe('an answer that is JSON stays as it is', () => {
  it.each([
    '{"answer":"x","scores":[1, 2]}',
    '{"answer":"as [1] and Doc_2 say"}',
    '\n {\n  answer: [1]\n}\n[2]',
    '[{"a":[1]}]',
    '[[1,2],[2,1]]',
    '["as [1] says"]',
    '[\n  "as [1] says"\n]',
    '[1, 2]',
    ' [1, 2] \n',
    '[1, [1, 2]]',
    '[-1, 2, "[1]"]',
    '[1, "as [1] says"]',
  ])('%j', (text) => expectMapped(text, text))
})

test.each([
  ['[1]', '[2]'],
  ['[1, 2] say so', '[2, 1] say so'],
  ['[1, 2].', '[2, 1].'],
  ['[1, 2] and {', '[2, 1] and {'],
  ['[1', '[1'],
  ['[1,', '[1,'],
  ['\n\n[1] says', '\n\n[2] says'],
  ['[[1](https://a.example)] says', '[[2](https://a.example)] says'],
])('an answer that begins with a citation is no JSON: %j', (text, expected) => expectMapped(text, expected))

describe('calls of tools that are told in the text stay as they are', () => {
  it.each([
    '<tool_call>{"name":"f","arguments":{"ids":[1,2], "q": "see [1] or Doc_1"}}</tool_call>',
    '<tool_call>\n<function=f>\n<parameter=ids>\n[1, 2]\n</parameter>\n</function>\n</tool_call>',
    '<function=f>{"x": "[1]"}</function>',
    '<function_calls><invoke name="f"><parameter name="x">[1]</parameter></invoke></function_calls>',
    '<|python_tag|>f.call(q="see [1]")',
    'As said:\n[TOOL_CALLS]f{"q": "see [1]"} [1]',
    'So.\n[TOOL_CALLS] [{"name": "f", "arguments": {"q": [1]}}]',
    '<|tool_calls_section_begin|>see [1]',
    '<｜tool▁calls▁begin｜>see [1]',
    '<|channel|>commentary',
    'functools[{"name": "f", "arguments": {"q": [1]}}]',
    'I call it. <tool_call>{"q": "[1]',
  ])('%j', (text) => expectMapped(text, text))
})

test.each([
  ['<tool_call>{"x":[1]}</tool_call> as [1] says', '<tool_call>{"x":[1]}</tool_call> as [2] says'],
  ['<code>a [1]</code> [1]', '<code>a [1]</code> [2]'],
  ['<think>see [1]</think> so [1]', '<think>see [2]</think> so [2]'],
  ['a <b>[1]</b> < [1] <|im_end|> [1]', 'a <b>[2]</b> < [2] <|im_end|> [2]'],
  ['So:\n{"ids": [1, 2], "t": "}] [1]"}\nas in [1].', 'So:\n{"ids": [1, 2], "t": "}] [1]"}\nas in [2].'],
  ['it is {\'ids\': [1], "s": "\\"[1]"} [1]', 'it is {\'ids\': [1], "s": "\\"[1]"} [2]'],
  ['[Doc_1]: the rows are [\n  [1, 2],\n  [2, 1]\n] [1].', '[Doc_2]: the rows are [\n  [1, 2],\n  [2, 1]\n] [2].'],
  ['He said {"so\nand [1].', 'He said {"so\nand [2].'],
  ['a {b} [1] and ["so" they say] [1]', 'a {b} [2] and ["so" they say] [2]'],
])('citations beside data are mapped: %j', (text, expected) => expectMapped(text, expected))
