import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Context, RequestId } from '../context-block.ts'
import type { OrderingIndex } from './ordering-index.ts'

const sizeOf = (block: string): number => 100 + 37 * (block.charCodeAt(0) % 7)
export const sizesOf = (context: Context): number[] => context.map(sizeOf)

/** Contexts in which some blocks occur twice. */
export const contexts: fc.Arbitrary<Context> = fc
  .array(fc.constantFrom(...'abcdefghijkl'), { minLength: 1, maxLength: 7 })
  .map((blocks) => blocks as unknown as Context)

export type Step =
  | { readonly act: 'send'; readonly id: number; readonly context: Context }
  | { readonly act: 'cut'; readonly id: number; readonly length: number }
  | { readonly act: 'remove'; readonly id: number }

const id = fc.nat(12)

export const steps: fc.Arbitrary<Step[]> = fc.array(
  fc.oneof(
    { weight: 3, arbitrary: fc.record({ act: fc.constant('send' as const), id, context: contexts }) },
    {
      weight: 2,
      arbitrary: fc.record({ act: fc.constant('cut' as const), id, length: fc.integer({ min: 1, max: 6 }) }),
    },
    { weight: 1, arbitrary: fc.record({ act: fc.constant('remove' as const), id }) },
  ),
  { maxLength: 60 },
)

/** Shortens what a request holds to the blocks that are kept. */
export type Cut<Index> = (index: Index, request: RequestId, kept: Context) => void

const insertAgain: Cut<OrderingIndex> = (index, request, kept) => index.insert(kept, sizesOf(kept), request)

/** Plays a history. Returns what each request holds at the end, as sent. */
export function play<Index extends OrderingIndex>(
  index: Index,
  history: readonly Step[],
  cut: Cut<Index> = insertAgain,
): Map<RequestId, Context> {
  const held = new Map<RequestId, Context>()
  for (const step of history) {
    const request = String(step.id) as RequestId
    if (step.act === 'remove') {
      expect(index.remove(request)).toBe(held.delete(request))
      continue
    }
    if (step.act === 'cut') {
      const before = held.get(request) ?? []
      if (step.length >= before.length) continue
      const kept = before.slice(0, step.length)
      cut(index, request, kept)
      held.set(request, kept)
      continue
    }
    const { order } = index.order(step.context, sizesOf(step.context))
    const sent = order.map((place) => step.context[place]!)
    index.insert(sent, sizesOf(sent), request)
    held.set(request, sent)
  }
  return held
}

/** The contract tests for every ordering index. `cut`: another way to shorten contexts than to insert them again. */
export function describeOrderingIndex<Index extends OrderingIndex>(
  name: string,
  create: () => Index,
  cut?: Cut<Index>,
): void {
  describe(name, () => {
    test('places every block exactly once, through any history', () => {
      fc.assert(
        fc.property(steps, contexts, (history, context) => {
          const index = create()
          play(index, history, cut)
          const { order } = index.order(context, sizesOf(context))
          expect(order.toSorted((a, b) => a - b)).toEqual([...context.keys()])
        }),
      )
    })

    test('leaves a context alone that shares nothing with what is held', () => {
      fc.assert(
        fc.property(steps, (history) => {
          const index = create()
          play(index, history, cut)
          const strange = ['X', 'Y', 'Z'] as unknown as Context
          expect(index.order(strange, sizesOf(strange))).toMatchObject({ order: [0, 1, 2], searchPath: [] })
        }),
      )
    })

    test('forgets all of what it held', () => {
      fc.assert(
        fc.property(steps, contexts, (history, context) => {
          const index = create()
          for (const request of play(index, history, cut).keys()) index.remove(request)
          expect([index.nodes, index.requests]).toEqual([0, 0])
          expect(index.order(context, sizesOf(context)).searchPath).toEqual([])
        }),
      )
    })

    test('decides the same after the same history', () => {
      fc.assert(
        fc.property(steps, contexts, (history, context) => {
          const [one, other] = [create(), create()]
          play(one, history, cut)
          play(other, history, cut)
          expect(one.order(context, sizesOf(context))).toEqual(other.order(context, sizesOf(context)))
        }),
      )
    })

    test('knows a search path for every request it holds', () => {
      fc.assert(
        fc.property(steps, (history) => {
          const index = create()
          const held = play(index, history, cut)
          expect(index.requests).toBe(held.size)
          for (const request of held.keys()) expect(index.pathOf(request)!.length).toBeGreaterThan(0)
          expect(index.pathOf('nobody' as RequestId)).toBeUndefined()
        }),
      )
    })
  })
}
