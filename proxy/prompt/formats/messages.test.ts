import { expect, test } from 'vitest'
import type { Json } from '#engine-adapters/json-object.ts'
import { assistantMessage as assistant, Sender } from '../../request/sender.fixture.ts'
import { PromptBuilder } from '../body/prompt-builder.ts'
import { readMessages } from './messages.ts'

const file = 'line of a file that a tool has read for the model\n'.repeat(5)
const result = (id: string, content: unknown = file): Json => ({ type: 'tool_result', tool_use_id: id, content })
const said = (text: string): Json => ({ type: 'text', text })
const list = (...blocks: string[]): string => blocks.map((text, i) => `[Doc_${i + 1}] ${text}`).join('\n')

function read(...messages: Json[]): { role: string; texts: string[] }[] {
  const builder = new PromptBuilder()
  expect(readMessages({ messages }, builder)).toBe(true)
  return builder.prompts[0]!.messages.map(({ role, texts }) => ({
    role,
    texts: texts.map((place) => builder.texts[place]!.text),
  }))
}

test('what a user says in front of a result is left alone: engines differ over which of them comes first', () => {
  const content = [said('before'), result('1', 'r1'), said('between'), result('2', [said('r2')]), said('after')]
  expect(read({ role: 'user', content })).toEqual([
    { role: 'user', texts: [] },
    { role: 'tool', texts: ['r1'] },
    { role: 'user', texts: [] },
    { role: 'tool', texts: ['r2'] },
    { role: 'user', texts: ['after'] },
  ])
})

test('no pointer leads from a result to what may stand behind it, nor the other way round', () => {
  const sender = new Sender()
  for (const content of [
    [said(`${list(file, 'other')}\n\nCompare.`), result('1')],
    [result('1'), said('x'), result('2', 'y')].toReversed(),
  ]) {
    const body = { messages: [{ role: 'user', content: 'read it' }, assistant('x'), { role: 'user', content }] }
    expect(sender.sendBody(body, { api: 'messages' })).toEqual(body)
  }
})

test('what follows the results points to them', () => {
  const content = [result('1'), said(`Sources:\n${list(file, 'other')}\n\nQuestion: why?`)]
  const body = { messages: [{ role: 'user', content }] }
  const [message] = new Sender().sendBody(body, { api: 'messages' }).messages
  expect(message!.content[0]).toEqual(content[0])
  expect(JSON.stringify(message!.content[1])).toContain('Please refer to')
  expect(JSON.stringify(message!.content[1])).not.toContain('for the model')
})

test('two messages that differ only in front of a result are told apart', () => {
  const restOf = (text: string): string => {
    const builder = new PromptBuilder()
    readMessages({ messages: [{ role: 'user', content: [said(text), result('1')] }] }, builder)
    return builder.prompts[0]!.messages[0]!.rest
  }
  expect(restOf('a')).not.toBe(restOf('b'))
})

test('results in what the assistant said are not read: engines put them in words of their own', () => {
  const content = [said('I ran it'), result('1')]
  expect(read({ role: 'assistant', content })).toEqual([{ role: 'assistant', texts: ['I ran it'] }])
})

test('what the system says between turns is not read: chat templates may want it in front of them', () => {
  const system = { role: 'system', content: `${list(file, 'other')}\n\nMind this.` }
  const user = { role: 'user', content: `${list('other', file)}\n\nQuestion: what?` }
  expect(read(system, user)).toEqual([
    { role: 'system', texts: [system.content] },
    { role: 'user', texts: [user.content] },
  ])
  expect(read(user, system, user)).toEqual([
    { role: 'user', texts: [user.content] },
    { role: 'system', texts: [] },
    { role: 'user', texts: [user.content] },
  ])
})
