import { describe, expect, test } from 'vitest'
import type { PromptApi } from '#engine-adapters/prompt-api.ts'
import type { RequestOptions } from '../common/request-options.ts'
import { type Message, Sender } from '../request/sender.fixture.ts'

const [peru, nile] = ['The Amazon rises in the mountains of Peru.', 'The Nile flows through eleven countries.']
const user = (content: unknown): Message => ({ role: 'user', content })
const numbered = (...blocks: string[]): string =>
  `<documents>\n${blocks.map((text, i) => `<document index="${i + 1}">\n${text}\n</document>`).join('\n')}\n</documents>\n\nQuestion: why?`
const plain = (...blocks: string[]): string => numbered(...blocks).replaceAll(/ index="\d"/g, '')

/** Returns what is decided about two blocks whose order the engine holds the other way round. */
function decideFor(
  write: (...blocks: string[]) => object,
  { api, options = {} }: { api?: PromptApi; options?: RequestOptions } = {},
): ReturnType<Sender['decide']> {
  const sender = new Sender()
  sender.sendBody(write(peru, nile), { options, ...(api && { api }) })
  return sender.decide(write(nile, peru), { options, ...(api && { api }) })
}

const asked: [PromptApi, (content: string) => object][] = [
  ['chat_completions', (content) => ({ messages: [user(content)] })],
  ['completions', (prompt) => ({ prompt })],
  ['messages', (content) => ({ messages: [user(content)] })],
  ['responses', (input) => ({ input, store: false })],
  ['generate', (text) => ({ text })],
]

describe.each(asked)('in %s', (api, write) => {
  const decide = (more: object, list = numbered): ReturnType<Sender['decide']> =>
    decideFor((...blocks) => ({ ...write(list(...blocks)), ...more }), { api })

  test('blocks move', () => expect(decide({}).moved).toBe(2))

  test('a request that measures its prompt goes as received, and says so', () => {
    expect(decide({ prompt_logprobs: 1 })).toMatchObject({ body: undefined, blocks: 2, moved: 0, skipped: 'measured' })
  })

  test('numbers stay where an answer of few tokens may be one', () => {
    const limit = api === 'responses' ? 'max_output_tokens' : 'max_tokens'
    expect(decide({ [limit]: 2 })).toMatchObject({ body: undefined, skipped: 'spoken_of' })
    expect(decide({ [limit]: 2 }, plain).moved).toBe(2)
  })

  test('all stay where data may hold a value for each', () => {
    expect(decide({ guided_json: { type: 'array' } }, plain)).toMatchObject({ body: undefined, skipped: 'spoken_of' })
  })
})

test('a stored response keeps its numbers, and its names move', () => {
  const write =
    (list: typeof numbered) =>
    (...blocks: string[]) => ({ input: list(...blocks) })
  expect(decideFor(write(numbered), { api: 'responses' }).moved).toBe(0)
  expect(decideFor(write(plain), { api: 'responses' }).moved).toBe(2)
})

test('media given beside a plain prompt leave it as received', () => {
  const write = (...blocks: string[]): object => ({ text: numbered(...blocks), image_data: ['a.png', 'b.png'] })
  expect(decideFor(write, { api: 'generate' })).toMatchObject({ body: undefined, skipped: 'media' })
})

test('blocks with placeholders of media stay beside pictures, and move without any', () => {
  const picture = { type: 'image_url', image_url: { url: 'data:,' } }
  const write =
    (...more: object[]) =>
    (...blocks: string[]): object => ({
      messages: [user([{ type: 'text', text: plain(...blocks.map((text) => `<image>\n${text}`)) }, ...more])],
    })
  expect(decideFor(write(picture)).moved).toBe(0)
  expect(decideFor(write()).moved).toBe(2)
})

test.each([
  [{ metadata: { source: 'a' } }, 0],
  [{ id: 'a' }, 0],
  [{ cache_control: { type: 'ephemeral' } }, 2],
  [{ annotations: [], metadata: null }, 2],
])('text parts with %j of their own: %d move', (own, moved) => {
  const write = (...blocks: string[]): object => ({
    messages: [
      user([
        ...blocks.map((text, i) => ({ type: 'text', text: `Document ${i + 1}: ${text}`, ...own })),
        { type: 'text', text: 'Question: why?' },
      ]),
    ],
  })
  expect(decideFor(write).moved).toBe(moved)
})

test('a measured request is sent as received though its turns were sent otherwise, and changes none of them', () => {
  const sender = new Sender()
  sender.sendBody({ messages: [user(numbered(peru, nile))] })
  const turns = [user(numbered(nile, peru))]
  const [moved] = sender.send(turns)
  expect(moved).not.toEqual(turns[0])
  const later = [...turns, { role: 'assistant', content: 'It is Peru [2].' }, user('And?')]
  expect(sender.decide({ messages: later, return_token_ids: true })).toMatchObject({
    body: undefined,
    skipped: 'measured',
  })
  sender.sendBody({ messages: later, return_token_ids: true })
  expect(sender.send(later)[0]).toEqual(moved)
})

describe('a sender who states that lists are sets', () => {
  const options = { set: true }
  const documents = (...blocks: string[]): object => ({
    documents: blocks.map((text) => ({ text })),
    messages: [user('why?')],
  })
  const data =
    (list: typeof plain) =>
    (...blocks: string[]) => ({
      messages: [user(list(...blocks))],
      response_format: { type: 'json_object' },
    })
  const ruled = (...blocks: string[]): object => ({
    messages: [{ role: 'system', content: 'The order of the documents matters.' }, user(plain(...blocks))],
  })

  test.each([
    ['documents of vLLM', documents],
    ['lists whose answer is data', data(plain)],
    ['lists whose order a system prompt speaks of', ruled],
  ])('has %s moved', (_, write) => {
    expect(decideFor(write).moved).toBe(0)
    expect(decideFor(write, { options }).moved).toBe(2)
  })

  test('keeps numbers that may come back unmapped', () => {
    expect(decideFor(data(numbered), { options }).moved).toBe(0)
  })
})

describe('nothing is left out of texts', () => {
  const file = 'A line of a contract that both of them have, word for word.\n'.repeat(8)
  const list = (words: string): string => `Sources:\n[Doc_1] ${file}\n[Doc_2] other\n[Doc_3] ${file}\n\n${words}`

  test.each([
    ['How often does the word `court` occur in all the documents?', 0],
    ['Quote what the documents say, word for word.', 0],
    ['Count the words of the documents.', 0],
    ['Is Doc_3 identical to Doc_1?', 0],
    ['Where do they differ?', 0],
    ['Which error occurs most often?', 0],
    ['Which entries are unique?', 0],
    ['Question: why?', 1],
  ])('%s', (words, deduplicated) => {
    expect(new Sender().decide({ messages: [user(list(words))] }).deduplicated).toBe(deduplicated)
  })
})
