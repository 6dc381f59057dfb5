import fc from 'fast-check'
import { expect, test } from 'vitest'
import { GroupWindow } from './group-window.ts'

const waiting = (name: string, ...searchPath: number[]): { name: string; searchPath: number[] } => ({
  name,
  searchPath,
})

test('with an idle engine nothing waits', () => {
  const window = new GroupWindow<{ name: string; searchPath: number[] }>(20, 10)
  window.add(waiting('a', 1), 100)
  expect(window.release(100, true).map(({ name }) => name)).toEqual(['a'])
  expect(window.closesAt).toBeUndefined()
})

test('while the engine is busy requests leave together when the window closes, grouped', () => {
  const window = new GroupWindow<{ name: string; searchPath: number[] }>(20, 10)
  window.add(waiting('a', 1), 100)
  window.add(waiting('b', 2), 105)
  window.add(waiting('c', 2, 4), 110)
  expect(window.closesAt).toBe(120)
  expect(window.release(119, false)).toEqual([])
  expect(window.release(120, false).map(({ name }) => name)).toEqual(['c', 'b', 'a'])
  expect(window.depth).toBe(0)
})

test('a full window takes no more, and a request that left makes room', () => {
  const window = new GroupWindow(20, 1)
  const first = waiting('a', 1)
  expect(window.add(first, 0)).toBe(true)
  expect(window.add(waiting('b', 1), 0)).toBe(false)
  window.remove(first)
  expect(window.add(waiting('c', 1), 5)).toBe(true)
  expect(window.closesAt).toBe(25)
})

test('no request waits longer than the window', () => {
  const gaps = fc.array(fc.record({ after: fc.nat(30), path: fc.array(fc.nat(2), { maxLength: 3 }) }), {
    maxLength: 40,
  })
  fc.assert(
    fc.property(gaps, (arrivals) => {
      const window = new GroupWindow<{ searchPath: number[]; arrived: number }>(20, 100)
      let now = 0
      let left = 0
      const release = (at: number): void => {
        for (const { arrived } of window.release(at, false)) {
          left += 1
          expect(at - arrived).toBeLessThanOrEqual(20)
        }
      }
      for (const { after, path } of arrivals) {
        now += after
        // a timer fires when the window closes, before anything that happens later
        while (window.closesAt !== undefined && window.closesAt <= now) release(window.closesAt)
        window.add({ searchPath: path, arrived: now }, now)
      }
      if (window.closesAt !== undefined) release(window.closesAt)
      expect(left).toBe(arrivals.length)
    }),
  )
})
