import { expect, test } from 'vitest'
import { EngineSlots } from './engine-slots.ts'

test('tokens count until the answer begins, requests until it ends, and neither twice', () => {
  const slots = new EngineSlots<string>()
  slots.take('a', 100)
  slots.take('b', 30)
  expect([slots.taken, slots.tokens]).toEqual([2, 130])
  slots.prefilled('a')
  slots.prefilled('a')
  slots.prefilled('stranger')
  expect([slots.taken, slots.tokens]).toEqual([2, 30])
  expect([slots.free('a'), slots.free('b'), slots.free('b')]).toEqual([true, true, false])
  expect([slots.taken, slots.tokens]).toEqual([0, 0])
})
