import fc from 'fast-check'
import { expect, test } from 'vitest'
import { GatheredBytes } from './gathered-bytes.ts'

const lengths = fc.array(fc.oneof(fc.integer({ min: 0, max: 90 }), fc.integer({ min: 1, max: 200_000 })), {
  maxLength: 40,
})

test('gives back what it was given, in order, once, whatever was announced', () => {
  fc.assert(
    fc.property(lengths, fc.nat(8_000_000), fc.boolean(), (sizes, announced, isTrue) => {
      const given = sizes.map((length, i) => Buffer.alloc(length, i))
      const whole = Buffer.concat(given)
      const gathered = new GatheredBytes()
      for (const chunk of given) gathered.add(chunk, isTrue ? whole.length : announced)
      expect(gathered.length).toBe(whole.length)
      expect(gathered.take().equals(whole)).toBe(true)
      expect(gathered.take()).toHaveLength(0)
    }),
    { numRuns: 50 },
  )
})

test('takes the memory of what is announced only once a megabyte of it is there', () => {
  const gathered = new GatheredBytes()
  for (let i = 0; i < 2; i++) gathered.add(Buffer.alloc(1_000), 60_000_000)
  expect(gathered.take().buffer.byteLength).toBeLessThan(1_000_000)
  for (let i = 0; i < 5; i++) gathered.add(Buffer.alloc(400_000), 60_000_000)
  expect(gathered.take().buffer.byteLength).toBe(60_000_000)
})

test('the memory of a body of tiny chunks grows with its bytes', () => {
  const gathered = new GatheredBytes()
  for (let i = 0; i < 400_000; i++) gathered.add(Buffer.from('x'))
  expect(gathered.take().buffer.byteLength).toBeLessThan(1_000_000)
})
