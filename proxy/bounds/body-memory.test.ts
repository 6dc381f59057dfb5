import { expect, test } from 'vitest'
import { BodyMemory } from './body-memory.ts'

test('bodies take no more together than the limit, and what is given back can be taken again', () => {
  const memory = new BodyMemory(100)
  const [first, second] = [memory.begin(), memory.begin()]
  first.grow(60)
  second.grow(40)
  expect(() => second.grow(1)).toThrowError(expect.objectContaining({ code: 'queue_full', status: 429 }))
  first.release()
  first.release()
  expect(memory.bytes).toBe(40)
  second.grow(60)
  second.release()
  expect(memory.bytes).toBe(0)
})

test('one that is refused is told when to come back', () => {
  const refuse = (): void => new BodyMemory(1).begin().grow(2)
  expect(refuse).toThrowError(expect.objectContaining({ headers: { 'retry-after': '1' } }))
})

test('a new limit holds for what comes from then on', () => {
  const memory = new BodyMemory(1)
  memory.setLimit(10)
  memory.begin().grow(10)
  expect(memory.bytes).toBe(10)
})
