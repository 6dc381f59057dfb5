import { describe, expect, test } from 'vitest'
import type { ComparedRequest } from './compared-requests.ts'
import { judge } from './comparison.ts'
import type { PassName } from './passes.ts'
import type { Answer } from './send-request.ts'

/** What a request is answered in each pass, whether it was rewritten, and its right answer. */
interface Asked {
  readonly received: string
  readonly again?: string
  readonly rewritten?: string
  readonly isRewritten?: boolean
  readonly right?: string
}

function judgeAll(asked: readonly Asked[]): string {
  const requests = asked.map(({ right }, i): ComparedRequest => {
    const chat = { message: { role: 'user', content: '' } } as const
    return {
      id: String(i),
      conversation: undefined,
      tenant: 't',
      keepsOrder: false,
      chat,
      answers: right === undefined ? undefined : [right],
    }
  })
  return judge(requests, (pass: PassName, id: string): Answer => {
    const own = asked[Number(id)]!
    const answer = pass === 'again' ? (own.again ?? own.received) : (own.rewritten ?? own.received)
    return {
      answer: pass === 'received' ? own.received : answer,
      changed: pass === 'rewritten' && own.isRewritten !== false ? 1 : 0,
      promptTokens: 1,
      cachedTokens: 0,
      logProbability: undefined,
      firstTokenMilliseconds: 1,
    }
  })
}

const many = (count: number, of: (i: number) => Asked): Asked[] => Array.from({ length: count }, (_, i) => of(i))

describe('nothing was tested', () => {
  test('if nothing was rewritten, even if answers differ', () => {
    const asked = many(30, (i) => ({ received: `${i}`, again: 'other', isRewritten: false }))
    expect(judgeAll(asked)).toMatch(/^nothing was tested: 0 of 30 requests were rewritten .*doctor/)
  })

  test('if all answers are the same', () => {
    expect(judgeAll(many(30, () => ({ received: 'yes' })))).toMatch(/^nothing was tested: .* same answer to all 30/)
    expect(judgeAll(many(30, () => ({ received: '' })))).toMatch(
      /^nothing was tested: all answers are empty.*--max-tok/,
    )
  })

  test('if what was rewritten has no right answer, though others have', () => {
    const asked = many(30, (i) => ({ received: `${i}`, isRewritten: i > 5, ...(i > 5 ? {} : { right: `${i}` }) }))
    expect(judgeAll(asked)).toMatch(/^nothing was tested: 0 of 6 requests were rewritten/)
  })
})

test.each([
  [
    many(20, (i) => ({ received: `${i}` })),
    /^no difference beyond noise in 20 requests; [^;]*; the trace has no right/,
  ],
  [many(20, (i) => ({ received: `${i}`, rewritten: 'no' })), /^answers differ beyond noise by −1.000 in 20 requests/],
  [many(20, (i) => ({ received: `${i}`, again: 'no' })), /^answers agree more .* by \+1.000 in 20 requests/],
  [many(20, (i) => ({ received: `${i}`, right: `${i}`, rewritten: 'no' })), /^worse by −1.000 in 20 requests; [^;]*$/],
  [
    many(20, (i) => ({ received: 'no', right: `${i}`, rewritten: `${i}` })),
    /^better by \+1.000 in 20 requests; [^;]*$/,
  ],
])('a difference is named (%#)', (asked, verdict) => expect(judgeAll(asked)).toMatch(verdict))

test('fewer than 20 rewritten requests are called few, however many there are besides', () => {
  const asked = many(200, (i) => ({ received: `${i}`, isRewritten: i < 19 }))
  expect(judgeAll(asked)).toMatch(/in 200 requests; .*; rewritten requests: 19, too few for the interval/)
  expect(judgeAll([{ received: 'one' }])).toMatch(/^no difference .* rewritten requests: 1, too few/)
})
