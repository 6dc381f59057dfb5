import { expect, test } from 'vitest'
import { checkPrompt, samplePrompt } from './check-prompt.ts'

const documents =
  '<documents>\n<document>\nA\n</document>\n<document>\nB\n</document>\n</documents>\n\nQuestion: which?'

function check(body: unknown): [string, string, string][] {
  const json = typeof body === 'string' ? body : JSON.stringify(body)
  return checkPrompt({ json, file: 'request.json' }).map(({ check, level, found, fix }) => [
    check,
    level,
    `${found} → ${fix}`,
  ])
}

const chat = (system: string, user = documents): object => ({
  messages: [
    { role: 'system', content: system },
    { role: 'user', content: user },
  ],
})

test('the built-in sample holds blocks, and says that it is not the own prompt', () => {
  expect(checkPrompt({ json: samplePrompt, file: undefined })).toEqual([
    { check: 'blocks', level: 'ok', found: expect.stringMatching(/3 blocks in 1 list; .*--prompt FILE/) },
  ])
})

test('of an agent it is said that what its tools return stands behind a question', () => {
  const call = { id: 'c', type: 'function', function: { name: 'search_docs', arguments: '{}' } }
  const result = JSON.stringify(['one', 'two'].map((title) => ({ title, content: `What ${title} says. `.repeat(20) })))
  const asked = [
    { role: 'user', content: 'When does the ferry leave?' },
    { role: 'assistant', content: null, tool_calls: [call] },
    { role: 'tool', tool_call_id: 'c', content: result },
  ]
  expect(check({ messages: asked })).toContainEqual([
    'volatile_text',
    'warning',
    expect.stringMatching(/messages\.2\.content is the result of a tool, behind a question: .*docs\/apps\.md/),
  ])
})

test.each([
  ['chat completions', chat('Answer.')],
  ['completions', { prompt: documents }],
  ['responses', { instructions: 'Answer.', input: documents }],
  ['messages', { system: [{ type: 'text', text: 'Answer.' }], messages: [{ role: 'user', content: documents }] }],
  ['generate', { text: documents, sampling_params: {} }],
])('blocks are found in a body of %s', (_, body) => {
  expect(check(body)).toEqual([
    ['blocks', 'ok', expect.stringContaining('2 blocks in 1 list')],
    ['volatile_text', 'ok', expect.any(String)],
  ])
})

test('explicit blocks count', () => {
  const body = { ...chat('Answer.', '{{context}}\n\nWhich?'), reprise: { blocks: [{ text: 'A' }, { text: 'B' }] } }
  expect(check(body)[0]).toEqual(['blocks', 'ok', expect.stringContaining('2 blocks')])
})

test('a prompt without blocks is a warning that says how to mark them', () => {
  expect(check(chat('Answer.', 'What is a ferry?'))[0]).toEqual([
    'blocks',
    'warning',
    expect.stringContaining('<document>…</document>'),
  ])
})

test.each([
  ['{', /not valid JSON/],
  ['[]', /no request that is known/],
  ['{"model":"m"}', /no request that is known/],
  ['{"messages":[{"role":"user","content":"x"}],"reprise":{"blocks":1}}', /reprise/],
])('what is no request is fatal: %s', (body, message) => {
  expect(check(body)).toEqual([['blocks', 'fatal', expect.stringMatching(message)]])
})

test('volatile text in the system prompt is named with its place, its words and a fix', () => {
  const [, first, second] = check(chat('Current time: 14:03\nYou help. Session ID: ab-12345. Be brief.'))
  expect(first).toEqual([
    'volatile_text',
    'warning',
    expect.stringMatching(/messages\.0\.content.*'Current time: 14:03'/),
  ])
  expect(second).toEqual(['volatile_text', 'warning', expect.stringContaining("'Session ID: ab-12345'")])
})

test("the header of Claude Code is named with the client's own switch", () => {
  const system = [
    { type: 'text', text: 'x-anthropic-billing-header: cc_version=2.1; cch=0aaa9;' },
    { type: 'text', text: 'You are helpful.' },
  ]
  const found = check({ system, messages: [{ role: 'user', content: documents }] })
  expect(found[1]).toEqual(['volatile_text', 'warning', expect.stringContaining('CLAUDE_CODE_ATTRIBUTION_HEADER=0')])
})

test('volatile text in front of the blocks of the same message is named, behind them it is where it belongs', () => {
  expect(check(chat('Answer.', `Today is 2026-11-21.\n${documents}`))[1]!.slice(0, 2)).toEqual([
    'volatile_text',
    'warning',
  ])
  expect(check(chat('Answer.', `${documents}\nToday is 2026-11-21.`))[1]!.slice(0, 2)).toEqual(['volatile_text', 'ok'])
})

test('what stands in earlier turns was sent before and is no fault', () => {
  const messages = [
    { role: 'user', content: 'Today is 2026-11-20. Hello.' },
    { role: 'assistant', content: 'Hello. It is now 14:03.' },
    { role: 'user', content: documents },
  ]
  expect(check({ messages })[1]!.slice(0, 2)).toEqual(['volatile_text', 'ok'])
})

test.each([
  ['behind them', `Use the context.\n${documents}`, 'ok'],
  [
    'in front, as a line',
    documents.replace(/^(.*)\n\n(Question: .*)$/s, 'Use the context.\n$2\nContext:\n$1\nAnswer:'),
    'warning',
  ],
  ['in front, as words', documents.replace(/^(.*)\n\nQuestion: (.*)$/s, 'When does it open?\n\n$1'), 'warning'],
  ['in front, and asked again', `When does it open?\n\n${documents}`, 'ok'],
])('a question %s', (_, user, level) => {
  expect(check(chat('Answer.', user)).find(([name]) => name === 'volatile_text')![1]).toBe(level)
})

test('of many only the first few are listed', () => {
  const system = Array.from({ length: 9 }, (_, i) => `Request ID: req_00${i}`).join('\n')
  const found = check(chat(system)).filter(([name]) => name === 'volatile_text')
  expect(found).toHaveLength(6)
  expect(found.at(-1)![2]).toContain('4 more')
})

test('what looks like a list and is left alone is named with its reason, its place and a remedy', () => {
  const [blocks, leftAlone] = check(chat('Answer.', 'Hello.\n\n[1] It rained in Oslo.\n[2] The sun shone in Rome.'))
  expect(blocks!.slice(0, 2)).toEqual(['blocks', 'warning'])
  expect(leftAlone).toEqual([
    'left_alone',
    'warning',
    expect.stringMatching(/messages\.1\.content, line 3: '\[1\] It rained.*no_evidence → announce the list/),
  ])
})

test('what is the own work of whoever asks is named so, not told how to be taken for retrieved texts', () => {
  const texts = 'Document 1: It rained.\n\nDocument 2: The sun shone.'
  const [, leftAlone] = check(chat('Help.', `My novel:\n\n${texts}\n\nPlease proofread it.`))
  expect(leftAlone![2]).toMatch(/own_work/)
})

test('scores in blocks are named with what would help', () => {
  const scored = [1, 2].map((n) => `<document score="0.${n}">${'A'.repeat(n)}</document>`).join('\n')
  expect(check(chat('Answer.', `${scored}\n\nQuestion: which?`))[1]).toEqual([
    'volatile_fields',
    'warning',
    expect.stringMatching(/'score', which changes.*leave scores out/),
  ])
})
