import { expect, test } from 'vitest'
import { Sender } from '../request/sender.fixture.ts'

const promptOf = (question: string, ...blocks: string[]): string =>
  `Answer.\n\n${blocks.map((text, i) => `<document index="${i + 1}">${text}</document>`).join('\n')}\n\nQuestion: ${question}`
const blocksOf = (prompt: string): string[] => [...prompt.matchAll(/>(\w+)<\/document>/g)].map(([, text]) => text!)

test('the prompts of one body share what the first of them begins with', () => {
  const prompt = [promptOf('1', 'a', 'b', 'c'), promptOf('2', 'd', 'b', 'a'), promptOf('3', 'c', 'b', 'a')]
  const sent = new Sender().sendBody({ prompt }, { api: 'completions' })
  expect(sent.prompt.map(blocksOf)).toEqual([
    ['a', 'b', 'c'],
    ['a', 'b', 'd'],
    ['a', 'b', 'c'],
  ])
  expect(sent.prompt[2]).toContain('priority order: [3] > [2] > [1]')
  const text = new Sender().sendBody({ text: prompt }, { api: 'generate' }).text
  expect(text).toEqual(sent.prompt)
})

test('what the engine holds goes before what other prompts of the body begin with', () => {
  const sender = new Sender()
  sender.sendBody({ prompt: promptOf('1', 'b', 'a') }, { api: 'completions' })
  const prompt = [promptOf('2', 'c', 'x', 'y'), promptOf('3', 'a', 'b', 'c')]
  const sent = sender.sendBody({ prompt }, { api: 'completions' })
  expect(sent.prompt.map(blocksOf)).toEqual([
    ['c', 'x', 'y'],
    ['b', 'a', 'c'],
  ])
})

test('a body that comes again is sent as it was, and prompts behind other texts share nothing', () => {
  const sender = new Sender()
  const prompt = [promptOf('1', 'a', 'b'), promptOf('2', 'b', 'a'), `Other. ${promptOf('3', 'b', 'a')}`]
  const first = sender.sendBody({ prompt }, { api: 'completions' })
  expect(first.prompt.map(blocksOf)).toEqual([
    ['a', 'b'],
    ['a', 'b'],
    ['b', 'a'],
  ])
  expect(sender.sendBody({ prompt }, { api: 'completions' })).toEqual(first)
})
