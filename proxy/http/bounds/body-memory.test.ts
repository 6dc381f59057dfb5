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
  memory.limit = 10
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

test('clients that do not finish large bodies leave room for small ones', () => {
  const megabyte = 1024 * 1024
  const memory = new BodyMemory(64 * megabyte)
  for (let i = 0; i < 6; i++) memory.begin(`t${i}`).grow(10 * megabyte)
  const large = memory.begin('large')
  large.grow(megabyte / 2)
  expect(() => large.grow(megabyte)).toThrowError(/of requests in flight take 62914560 bytes/)
  large.release()
  const small = Array.from({ length: 4 }, (_, i) => memory.begin(`s${i}`))
  for (const share of small) share.grow(megabyte)
  expect(() => memory.begin('another').grow(1)).toThrowError(/take 67108864 bytes/)
})
