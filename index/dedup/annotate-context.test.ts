import { expect, test } from 'vitest'
import { annotateOrder } from './annotate-context.ts'

test('no annotation when the order did not change', () => {
  expect(annotateOrder([0, 1, 2], ['[1]', '[2]', '[3]'])).toBeUndefined()
  expect(annotateOrder([], [])).toBeUndefined()
})

test('every block is named once, in rank order, by its label as sent', () => {
  expect(annotateOrder([2, 0, 1], ['[1]', '[2]', '[3]'])).toBe(
    'Please read the context in the following priority order: [2] > [3] > [1] and answer the question.',
  )
})

test('only labels that are in the prompt are named, and nothing is said without any', () => {
  expect(annotateOrder([2, 0, 1], [undefined, undefined, undefined])).toBeUndefined()
  expect(annotateOrder([2, 0, 1], ['[a]', undefined, '[c]'], '{order}')).toBe('[c] > [a]')
  // what is named is in its order
  expect(annotateOrder([0, 2, 1], ['[a]', '[c]', undefined])).toBeUndefined()
})

test('labels are taken as they are, whatever they hold', () => {
  expect(annotateOrder([1, 0], ['[$&]', '[{order}]'], 'Order: {order}.')).toBe('Order: [{order}] > [$&].')
})
