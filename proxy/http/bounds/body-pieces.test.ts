import fc from 'fast-check'
import { expect, test } from 'vitest'
import { BodyPieces } from './body-pieces.ts'

const chunks = fc.array(
  fc.oneof(fc.integer({ min: 1, max: 90 }), fc.integer({ min: 1, max: 5_000 }), fc.integer({ min: 1, max: 70_000 })),
  { maxLength: 300 },
)

test('gives back what it was given, in order, once', () => {
  fc.assert(
    fc.property(chunks, (lengths) => {
      const given = lengths.map((length, i) => Buffer.alloc(length, i))
      const pieces = new BodyPieces()
      for (const chunk of given) pieces.push(chunk)
      expect(Buffer.concat(pieces.take()).equals(Buffer.concat(given))).toBe(true)
      expect(pieces.take()).toEqual([])
    }),
    { numRuns: 50 },
  )
})

test('keeps a body of tiny chunks in few buffers', () => {
  const pieces = new BodyPieces()
  for (let i = 0; i < 400_000; i++) pieces.push(Buffer.from('x'))
  expect(pieces.take().length).toBeLessThan(80)
})

test('keeps the chunks of ordinary bodies as they come', () => {
  const pieces = new BodyPieces()
  const given = Array.from({ length: 1_000 }, () => Buffer.alloc(65_536))
  for (const chunk of given) pieces.push(chunk)
  expect(pieces.take().every((piece, i) => piece === given[i])).toBe(true)
})
