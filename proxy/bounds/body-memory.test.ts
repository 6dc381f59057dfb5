import { expect, test } from 'vitest'
import { BodyMemory } from './body-memory.ts'

test('bodies take no more together than the limit, and what is given back can be taken again', () => {
  const memory = new BodyMemory(100)
  const [first, second] = [memory.begin('a'), memory.begin('b')]
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
  const refuse = (): void => new BodyMemory(1).begin('a').grow(2)
  expect(refuse).toThrowError(expect.objectContaining({ headers: { 'retry-after': '1' } }))
})

test('a new limit holds for what comes from then on', () => {
  const memory = new BodyMemory(1)
  memory.setLimit(10)
  memory.begin('a').grow(10)
  expect(memory.bytes).toBe(10)
})

test('bodies of one tenant take half of the limit, or are one, so that others can send', () => {
  const memory = new BodyMemory(100)
  const [first, second, other] = [memory.begin('a'), memory.begin('a'), memory.begin('b')]
  first.grow(40)
  expect(() => second.grow(11)).toThrowError(/your requests in flight take 50 bytes/)
  second.grow(10)
  other.grow(50)
  other.release()
  second.release()
  first.grow(30)
  expect(() => second.grow(1)).toThrowError(expect.objectContaining({ code: 'queue_full' }))
  first.release()
  second.grow(100)
})
