import { createHash } from 'node:crypto'
import { expect, test } from 'vitest'
import type { PromptContext } from '../prompt/body/prompt-context.ts'
import { defaultWording } from '../prompt/wording.ts'
import { recordPrompt } from './recorded-prompt.ts'
import { weighText } from './weigh-text.ts'

const front = 'Answer from these:\n'
const contents = ['Whales are mammals.', 'Ships float.', 'Whales are mammals.']

/** Writes `[1] Whales are mammals.` and so on, a line each. */
function writeList(isSpokenOf = false): { texts: string[]; list: PromptContext } {
  let text = front
  const slots = contents.map((content, i) => {
    const start = text.length
    text += `[${i + 1}] ${content}`
    const at = start + 4
    const slot = { text: 0, start, end: text.length, content: { start: at, end: text.length } }
    text += '\n'
    return { ...slot, label: { start: start + 1, end: start + 2 } }
  })
  const list = {
    slots,
    positional: true,
    labelPrefix: '',
    isResult: false,
    isSpokenOf,
    annotateAt: { text: 0, offset: 0 },
  }
  return { texts: [`${text}\nWhich swim?`], list: list as unknown as PromptContext }
}

const hash = (text: string): string => createHash('sha256').update(text).digest('hex')
const way = { hash, hasText: true, wording: defaultWording, isChat: false }

test('a list is recorded with what marks it: what goes with a block, and what stays in its place', () => {
  const { texts, list } = writeList()
  const prompt = recordPrompt(texts, [0], [{ found: list }], way)
  const textOf = new Map(prompt.pieces.map(({ id, text }) => [id, text!]))
  const named = (ids: readonly string[]): string[] => ids.map((id) => textOf.get(id)!)
  expect(named(prompt.front)).toEqual([front])
  expect(named(prompt.blocks)).toEqual(contents)
  expect(prompt.list!.blocks.map((ids) => ids.map((id) => id && textOf.get(id)))).toEqual(
    contents.map((content) => ['[', null, '] ', content]),
  )
  expect(named(prompt.list!.labels)).toEqual(['1', '2', '3'])
  expect(prompt.list!.gaps.map(named)).toEqual([['\n'], ['\n']])
  expect(named(prompt.rest)).toEqual(['\n\nWhich swim?'])
  expect(prompt.characters).toBe(texts[0]!.length)
})

test('blocks that are sent with pointers are recorded in both ways, and weigh as they were received', () => {
  const { texts, list } = writeList()
  const words = 'Please refer to [2].'
  const target = list.contents?.[0]
  const pointer = { place: 0, start: 0, end: 6, text: words, target, label: '[2]', hint: {} }
  const order = [2, 0, 1]
  const sent = { found: list, order, pointers: [pointer] } as unknown as Parameters<typeof recordPrompt>[2][number]
  const prompt = recordPrompt(texts, [0], [sent], way)
  const textOf = new Map(prompt.pieces.map(({ id, text }) => [id, text!]))
  expect(prompt.list!.shortened!.map((ids) => ids?.map((id) => id && textOf.get(id)))).toEqual([
    undefined,
    undefined,
    ['[', null, '] ', words, ' are mammals.'],
  ])
  expect(prompt.weight).toBe(recordPrompt(texts, [0], [{ found: list }], way).weight)
})

test('the record of a prompt holds none of its text', () => {
  const { texts, list } = writeList()
  const prompt = recordPrompt(texts, [0], [{ found: list }], { ...way, hasText: false })
  const strings: unknown[] = []
  JSON.stringify(prompt, (_, value: unknown) => {
    if (typeof value === 'string') strings.push(value)
    return value
  })
  expect(strings.length).toBeGreaterThan(20)
  for (const string of strings) expect(string).toMatch(/^[0-9a-f]{64}$/)
})

test('words that tell of another order weigh something only where they are sent', () => {
  const { texts, list } = writeList()
  const weightOf = (wording: typeof defaultWording | undefined): number =>
    recordPrompt(texts, [0], [{ found: list }], { ...way, wording }).list!.orderWords
  const words = 'Please read the context in the following priority order: [3] > [2] > [1] and answer the question.'
  expect(weightOf(defaultWording)).toBe(weighText(words))
  expect(weightOf(undefined)).toBe(0)
})

test('a list whose places are spoken of stays', () => {
  for (const isSpokenOf of [true, false]) {
    const { texts, list } = writeList(isSpokenOf)
    expect(recordPrompt(texts, [0], [{ found: list }], way).list!.stays).toBe(isSpokenOf || undefined)
  }
})

test('a message weighs more than the same text as a prompt, and without a list everything is front', () => {
  const weightOf = (isChat: boolean): number => recordPrompt(['Hello'], [0], [], { ...way, isChat }).weight
  expect(weightOf(true)).toBeGreaterThan(weightOf(false) + 4)
  const prompt = recordPrompt(['Hello', 'there'], [0, 1], [], way)
  expect(prompt).toMatchObject({ front: [hash('Hello'), hash('there')], blocks: [], rest: [], list: undefined })
})
