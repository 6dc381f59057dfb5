import { expect, test } from 'vitest'
import { Sender, type SendOptions, userMessage } from '../sender.fixture.ts'
import { type Border, findBorders } from './border-positions.ts'

const words = (name: string): string => Array.from({ length: 200 }, (_, i) => `${name}${i}`).join(' ')
const chat = (question: string, ...blocks: string[]) => ({ messages: [userMessage(question, ...blocks.map(words))] })
const kept = { unit: 16, room_tokens: 16 }

function bordersOf(sender: Sender, body: object, checkpoints = kept, options: SendOptions = {}): Border[] {
  return findBorders(sender.decide(body, options), sender.mirror, checkpoints, () => false).borders as Border[]
}

test('a border lies where the requests of the past part', () => {
  const sender = new Sender()
  for (let i = 0; i < 6; i++) sender.sendBody(chat(`Question ${i}?`, 'alpha', 'beta', `own${i}`, `other${i}`))
  const borders = bordersOf(sender, chat('And now?', 'alpha', 'beta', 'gamma', 'delta'), {
    unit: 16,
    room_tokens: 5_000,
  })
  expect(borders[0]).toMatchObject({ context: 0, place: 1 })
  const second = sender.decide(chat('And now?', 'alpha', 'beta', 'gamma', 'delta'))
  expect(second.sent[0]!.prefixes).toContain(borders[0]!.prefix)
})

test('at most four, one where a checkpoint takes much room, and none closer than a unit', () => {
  const names = ['alpha', 'beta', 'gamma', 'delta', 'eta', 'theta', 'iota', 'kappa']
  const count = (unit: number, room_tokens: number): number =>
    bordersOf(new Sender(), chat('Why?', ...names), { unit, room_tokens }).length
  expect([count(16, 128), count(16, 3_168), count(16, 6_144)]).toEqual([4, 4, 1])
  const units = [100, 1_000, 2_000, 100_000].map((unit) => count(unit, 128))
  expect(units[0]).toBe(4)
  expect(units.at(-1)).toBe(0)
  expect(units).toEqual(units.toSorted((a, b) => b - a))
})

test('none in shadow mode, without blocks, and for several prompts', () => {
  const sender = new Sender()
  expect(bordersOf(sender, chat('Why?', 'alpha', 'beta'), kept, { mode: 'shadow' })).toEqual([])
  expect(bordersOf(sender, chat('Why?', 'alpha', 'beta'), kept, { mode: 'off' })).toEqual([])
  expect(bordersOf(sender, { messages: [{ role: 'user', content: words('alpha') }] })).toEqual([])
  const prompts = ['a', 'b'].map((name) => String(userMessage('Why?', words(name), words(`${name}${name}`)).content))
  expect(bordersOf(sender, { prompt: prompts }, kept, { api: 'completions' })).toEqual([])
})

test('what is kept already is not asked for again, while it is cached: borders lie behind it', () => {
  const sender = new Sender()
  const body = chat('Why?', 'alpha', 'beta', 'gamma', 'delta', 'eta', 'theta')
  const first = bordersOf(sender, body)
  sender.sendBody(body)
  const kept = new Set(first.slice(0, 2).map(({ prefix }) => prefix))
  const isKept = (prefix: Border['prefix']): boolean => kept.has(prefix)
  const again = findBorders(sender.decide(body), sender.mirror, { unit: 16, room_tokens: 16 }, isKept)
  expect(again.held?.prefix).toBe(first[1]!.prefix)
  expect(Math.min(...again.borders.map(({ tokens }) => tokens))).toBeGreaterThan(first[1]!.tokens)
  sender.mirror.apply({ type: 'cleared' })
  expect(findBorders(sender.decide(body), sender.mirror, { unit: 16, room_tokens: 16 }, isKept).held).toBeUndefined()
})
