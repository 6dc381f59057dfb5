import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { Sender, userMessage } from './sender.fixture.ts'

const letters = Array.from('abcdefgh')
const textOf = (letter: string, times: number): string =>
  times === 0 ? letter : `${letter} is what stands here, said again. `.repeat(times)
const ask = (question: string, blocks: readonly string[], times: number) => ({
  messages: [
    { role: 'system', content: 'Answer.' },
    userMessage(question, ...blocks.map((letter) => textOf(letter, times))),
  ],
})
const mustPay = true

/**
 * The tokens that the engine computes for all these requests: everything it does not have cached, including
 * annotations.
 */
function computedTokens(contexts: readonly (readonly string[])[], times: number, pays: boolean): number {
  const sender = new Sender()
  let computed = 0
  for (const [i, blocks] of contexts.entries()) {
    const body = ask(`question ${i}`, blocks, times)
    const { promptTokens, predictedCachedTokens } = sender.decide(body, { mustPay: pays })
    computed += promptTokens - predictedCachedTokens
    sender.sendBody(body, { mustPay: pays })
  }
  return computed
}

describe('where moves must pay', () => {
  const histories = fc.array(fc.shuffledSubarray(letters, { minLength: 2, maxLength: 6 }), {
    minLength: 2,
    maxLength: 12,
  })

  test('a request is sent as without that rule, or as received where the annotation takes more than is saved now', () => {
    let left = 0
    let moved = 0
    fc.assert(
      fc.property(histories, fc.constantFrom(0, 1, 4, 16), (contexts, times) => {
        const sender = new Sender()
        for (const [i, blocks] of contexts.entries()) {
          const body = ask(`question ${i}`, blocks, times)
          const possible = sender.decide(body)
          const pays = sender.decide(body, { mustPay })
          expect(sender.decide(body, { mustPay }).body).toBe(pays.body)
          if (pays.moved > 0) {
            moved += 1
            expect(pays.body).toBe(possible.body)
          } else {
            expect(pays).toMatchObject({ body: undefined, skipped: 'nothing_to_gain' })
            if (possible.moved > 0) {
              left += 1
              const saved = possible.predictedCachedTokens - pays.predictedCachedTokens
              const annotation = possible.contexts.flatMap((context) => context.annotation ?? [])
              expect(saved).toBeLessThan(sender.mirror.estimateTokens(annotation.join('').length))
            }
          }
          sender.sendBody(body, { mustPay })
        }
      }),
      { numRuns: 80 },
    )
    expect(left).toBeGreaterThan(0)
    expect(moved).toBeGreaterThan(0)
  })

  test('tiny documents stay as received, and the engine computes less', () => {
    const contexts = fc.sample(fc.shuffledSubarray(letters, { minLength: 4, maxLength: 4 }), { numRuns: 60, seed: 7 })
    expect(computedTokens(contexts, 0, true)).toBeLessThan(computedTokens(contexts, 0, false))
  })

  test('long documents move as they did', () => {
    const contexts = fc.sample(fc.shuffledSubarray(letters, { minLength: 4, maxLength: 4 }), { numRuns: 60, seed: 7 })
    expect(computedTokens(contexts, 30, true)).toBeLessThanOrEqual(computedTokens(contexts, 30, false))
  })

  test('without an annotation there is nothing to pay for', () => {
    const sender = new Sender()
    sender.send([userMessage('first', 'a', 'b', 'c')])
    const next = { messages: [userMessage('next', 'c', 'b', 'a')] }
    expect(sender.decide(next, { mustPay })).toMatchObject({ moved: 0, skipped: 'nothing_to_gain' })
    expect(sender.decide(next, { mustPay, options: { annotate: false } }).moved).toBe(2)
  })

  test('nor is there for blocks without labels, which nothing ranks', () => {
    const sender = new Sender()
    const parts = (...texts: string[]) => ({
      messages: [{ role: 'user', content: texts.map((text) => ({ type: 'text', text })) }],
    })
    sender.sendBody(parts('Rain fell.', 'The sun shone.', 'Question: why?'))
    const next = sender.decide(parts('The sun shone.', 'Rain fell.', 'Question: when?'), { mustPay })
    expect(next.moved).toBe(2)
    expect(next.contexts[0]!.annotation).toBeUndefined()
  })

  test('a turn that was sent is sent again as it was', () => {
    const sender = new Sender()
    sender.sendBody(ask('first', ['a', 'b', 'c'], 1))
    const turn = ask('next', ['c', 'b', 'a'], 1)
    const sent = sender.sendBody(turn)
    const later = { messages: [...turn.messages, { role: 'assistant', content: 'So.' }, userMessage('and?')] }
    expect((sender.sendBody(later, { mustPay }).messages as unknown[])[1]).toEqual(sent.messages[1])
  })
})
