import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { TreeCache } from '#index/tree-cache/tree-cache.ts'
import { EngineCache } from './engine-cache.fixture.ts'
import { historiesOf, run, type SentPrompt } from './histories.fixture.ts'
import { PageCache } from './page-cache.fixture.ts'
import { RadixCache } from './radix-cache.ts'

type PlayedCache = Pick<TreeCache, 'serve' | 'takeChanges'>

const capacities = fc.constantFrom(8, 20, 33, 50, 90, Number.POSITIVE_INFINITY)

/** Returns what each request found, and the changes it caused to all requests. */
function play(cache: PlayedCache, history: readonly SentPrompt[]): unknown[] {
  const held = new Map<number, number>()
  return history.map(({ salt, tokens }, number) => {
    const cached = cache.serve(number, salt, tokens)
    for (const [request, length] of cache.takeChanges()) {
      if (length > 0) held.set(request, length)
      else held.delete(request)
    }
    return { cached, held: [...held].sort(([a], [b]) => a - b) }
  })
}

const playAll = (cache: PlayedCache, history: readonly SentPrompt[]): number[] =>
  history.map(({ salt, tokens }, number) => cache.serve(number, salt, tokens))

describe('TreeCache', () => {
  it.each([1, 4])('is, with pages of %i tokens, the paged cache of the emulator at any capacity', (pageTokens) => {
    fc.assert(
      fc.property(historiesOf(40), capacities, (history, capacity) => {
        const engine = new EngineCache(new PageCache(capacity, pageTokens))
        const cache = new TreeCache(capacity, pageTokens)
        const accepted = history.filter(({ tokens }) => cache.holds(tokens.length))
        expect(play(cache, accepted)).toEqual(play(engine, accepted))
      }),
      { numRuns: 500 },
    )
  })

  it('finds, unlimited, what the radix cache of the emulator finds', () => {
    fc.assert(
      fc.property(historiesOf(40), (history) => {
        const radix = new EngineCache(new RadixCache(Number.POSITIVE_INFINITY, 1, 'leaf'))
        expect(play(new TreeCache(Number.POSITIVE_INFINITY, 1), history)).toEqual(play(radix, history))
      }),
    )
  })

  it('finds, unlimited, the whole pages of what it finds token by token', () => {
    fc.assert(
      fc.property(historiesOf(40), (history) => {
        const tokens = playAll(new TreeCache(Number.POSITIVE_INFINITY, 1), history)
        const pages = playAll(new TreeCache(Number.POSITIVE_INFINITY, 4), history)
        expect(pages).toEqual(tokens.map((cached) => cached - (cached % 4)))
      }),
    )
  })

  it('frees no more than is needed, where a radix cache of whole leaves frees a leaf', () => {
    const history = [run(1, 20), run(2, 10), run(1, 20)].map((tokens) => ({
      salt: '',
      tokens: Uint32Array.from(tokens),
    }))
    expect(playAll(new TreeCache(25, 1), history)).toEqual([0, 0, 15])
    expect(playAll(new EngineCache(new RadixCache(25, 1, 'leaf')), history)).toEqual([0, 0, 0])
  })

  it('keeps one copy of a page that is computed again; the paged cache keeps two, in the place of something else', () => {
    // a repeated prompt of whole pages computes its last page again
    const history = [run(3, 4), run(1, 8), run(1, 8), run(2, 4), run(3, 5)].map((tokens) => ({
      salt: '',
      tokens: Uint32Array.from(tokens),
    }))
    expect(playAll(new TreeCache(16, 4), history)).toEqual([0, 0, 4, 0, 4])
    expect(playAll(new EngineCache(new PageCache(16, 4)), history)).toEqual([0, 0, 4, 0, 0])
  })

  it('counts what it has of a prompt that is larger than itself, and keeps as much of its front as it can', () => {
    const cache = new TreeCache(22, 4)
    const [small, large] = [run(1, 12), [...run(1, 12), ...run(2, 30)]].map((tokens) => Uint32Array.from(tokens))
    expect([small, large].map((tokens) => cache.holds(tokens!.length))).toEqual([true, false])
    expect([small, large, large, small].map((tokens, n) => cache.serve(n, '', tokens!))).toEqual([0, 12, 20, 8])
    expect([...cache.takeChanges()]).toEqual([
      [0, 12],
      // a fully cached prompt computes its last page again, in a new page
      [1, 16],
      [2, 16],
      [3, 12],
    ])
    // another tenant's prompt with the same tokens takes the whole cache
    expect(cache.serve(4, 'other', large!)).toBe(0)
    expect([...cache.takeChanges()]).toEqual([
      [1, 0],
      [2, 0],
      [0, 0],
      [3, 0],
      [4, 20],
    ])
  })

  it.each([1, 4])('finds answers in pages of %i tokens as the paged cache of the emulator does', (pageTokens) => {
    const turns = fc.array(
      fc.record({ chat: fc.nat(2), question: fc.integer({ min: 1, max: 9 }), answer: fc.integer({ min: 1, max: 9 }) }),
      { maxLength: 20 },
    )
    fc.assert(
      fc.property(turns, (all) => {
        const engine = new PageCache(Number.POSITIVE_INFINITY, pageTokens)
        const cache = new TreeCache(Number.POSITIVE_INFINITY, pageTokens)
        const histories = [0, 1, 2].map((chat) => run(chat, 5))
        all.forEach(({ chat, question, answer }, i) => {
          const prompt = Uint32Array.from([...histories[chat]!, ...run(100 + i, question)])
          const whole = Uint32Array.from([...prompt, ...run(200 + i, answer)])
          histories[chat] = [...whole]
          const sequence = engine.open({
            requestId: String(i),
            salt: '',
            tokens: whole,
            promptTokens: prompt.length,
          })
          sequence.acquire()
          sequence.computed(prompt.length)
          sequence.release(whole.length - 1)
          expect(cache.serve(undefined, '', prompt)).toBe(sequence.cachedTokens)
          cache.answered('', prompt, answer)
        })
      }),
    )
  })

  it('evicts for answers what the paged cache of the emulator evicts for them', () => {
    const requests = fc.array(fc.record({ front: fc.nat(3), answer: fc.integer({ min: 1, max: 14 }) }), {
      maxLength: 30,
    })
    fc.assert(
      fc.property(requests, (all) => {
        const [capacity, pageTokens] = [72, 4]
        const engine = new PageCache(capacity, pageTokens)
        const cache = new TreeCache(capacity, pageTokens)
        all.forEach(({ front, answer }, i) => {
          const prompt = Uint32Array.from([...run(front, 14), ...run(10 + i, 9)])
          // the last token of an answer takes no place
          const tokens = Uint32Array.from([...prompt, ...run(500 + i, answer - 1)])
          const sequence = engine.open({ requestId: String(i), salt: '', tokens, promptTokens: prompt.length })
          sequence.acquire()
          sequence.computed(prompt.length)
          sequence.release(tokens.length)
          expect(cache.serve(undefined, '', prompt)).toBe(sequence.cachedTokens)
          cache.answered('', prompt, answer)
        })
      }),
      { numRuns: 500 },
    )
  })

  it.each([1, 4])(
    'holds no more than its capacity of pages of %i tokens, and has what it says it has',
    (pageTokens) => {
      fc.assert(
        fc.property(historiesOf(40), fc.constantFrom(1, 8, 20, 33, 50), (history, capacity) => {
          const cache = new TreeCache(capacity, pageTokens)
          const held = new Map<number, string>()
          const wholePages = (tokens: number): number => tokens - (tokens % pageTokens)
          history.forEach(({ salt, tokens }, number) => {
            const shared = [...held].map(([request, text]) =>
              history[request]!.salt === salt ? sharedLength(text, textOf(tokens.subarray(0, -1))) : 0,
            )
            expect(cache.serve(number, salt, tokens)).toBe(wholePages(Math.max(0, ...shared)))
            for (const [request, length] of cache.takeChanges()) {
              held.set(request, textOf(history[request]!.tokens.subarray(0, length)))
            }
            expect(held.get(number)).toHaveLength(wholePages(Math.min(tokens.length, capacity)))
            const cached = ['red', 'blue'].map((salt) =>
              countTokens([...held].filter(([request]) => history[request]!.salt === salt).map(([, text]) => text)),
            )
            expect(cached[0]! + cached[1]!).toBeLessThanOrEqual(capacity)
          })
        }),
      )
    },
  )
})

/** Converts tokens to characters, so that prefixes are easy to compare. */
function textOf(tokens: Uint32Array): string {
  return String.fromCharCode(...tokens.map((token) => token % 90_000))
}

function sharedLength(a: string, b: string): number {
  let length = 0
  while (length < a.length && a[length] === b[length]) length += 1
  return length
}

/** Returns the number of tokens in a tree of these prefixes. */
function countTokens(prefixes: readonly string[]): number {
  return prefixes
    .toSorted()
    .reduce((sum, prefix, at, all) => sum + prefix.length - sharedLength(all[at - 1] ?? '', prefix), 0)
}
