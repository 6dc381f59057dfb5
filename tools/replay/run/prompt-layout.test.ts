import fc from 'fast-check'
import { expect, test } from 'vitest'
import { anyRequests, requestsOf } from '../requests.fixture.ts'
import { PromptLayout } from './prompt-layout.ts'

const frame = { systemTokens: 10, questionTokens: 3 }

test('a block is within a prefix when its last token is', () => {
  const [request] = requestsOf([
    [
      ['a', 5],
      ['b', 7],
    ],
  ])
  const layout = new PromptLayout([request!], frame)
  const within = (tokens: number): number => layout.blocksWithin(request!, [1, 0], tokens)
  expect([16, 17, 21, 22, 25].map(within)).toEqual([0, 1, 1, 2, 2])
})

test('token ids are equal exactly where texts are', () => {
  fc.assert(
    fc.property(anyRequests, (requests) => {
      const layout = new PromptLayout(requests, frame)
      const textOf = new Map<number, string>()
      for (const request of requests) {
        const order = request.context.map((_, place) => place).reverse()
        const texts = [
          ...Array.from({ length: 10 }, (_, i) => `system ${i}`),
          ...order.flatMap((p) => Array.from({ length: request.sizes[p]! }, (_, i) => `${request.context[p]} ${i}`)),
          ...Array.from({ length: 3 }, (_, i) => `question ${request.number} ${i}`),
        ]
        const tokens = layout.tokensOf(request, order)
        expect(tokens).toHaveLength(texts.length)
        tokens.forEach((token, at) => {
          expect(textOf.get(token) ?? texts[at]).toBe(texts[at])
          textOf.set(token, texts[at]!)
        })
      }
      expect(new Set(textOf.values()).size).toBe(textOf.size)
    }),
    { numRuns: 30 },
  )
})
