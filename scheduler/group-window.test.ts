import fc from 'fast-check'
import { expect, test } from 'vitest'
import { GroupWindow, type WaitingRequest } from './group-window.ts'

const waiting = (name: string, ...searchPath: number[]): { name: string; searchPath: number[] } => ({
  name,
  searchPath,
})

test('with an idle engine nothing waits', () => {
  const window = new GroupWindow<{ name: string; searchPath: number[] }>(20)
  window.add(waiting('a', 1), 100)
  expect(window.release(100, true).map(({ name }) => name)).toEqual(['a'])
  expect(window.closesAt).toBeUndefined()
})

test('while the engine is busy requests leave together when the window closes, grouped', () => {
  const window = new GroupWindow<{ name: string; searchPath: number[] }>(20)
  window.add(waiting('a', 1), 100)
  window.add(waiting('b', 2), 105)
  window.add(waiting('c', 2, 4), 110)
  expect(window.closesAt).toBe(120)
  expect(window.release(119, false)).toEqual([])
  expect(window.release(120, false).map(({ name }) => name)).toEqual(['b', 'c', 'a'])
  expect(window.closesAt).toBeUndefined()
})

test('a request that left does not keep the window open', () => {
  const window = new GroupWindow(20)
  const first = waiting('a', 1)
  window.add(first, 0)
  window.remove(first)
  expect(window.closesAt).toBeUndefined()
  window.add(waiting('c', 1), 5)
  expect(window.closesAt).toBe(25)
})

test('an urgent request closes the window for all, and those of higher priority run first', () => {
  const window = new GroupWindow<WaitingRequest & { name: string }>(20)
  window.add({ ...waiting('a', 1), priority: 5 }, 100)
  window.add({ ...waiting('b', 2), deadline: 108 }, 105)
  window.add({ ...waiting('c', 1, 3), priority: -1 }, 106)
  window.add({ ...waiting('d', 1, 2), priority: -1 }, 107)
  expect(window.closesAt).toBe(108)
  expect(window.release(107, false)).toEqual([])
  expect(window.release(108, false).map(({ name }) => name)).toEqual(['d', 'c', 'b', 'a'])
})

test('a deadline that has passed lets the request go at once', () => {
  const window = new GroupWindow(20)
  const late = { ...waiting('late', 1), deadline: 90 }
  window.add(late, 100)
  expect(window.release(100, false)).toEqual([late])
})

const arrival = fc.record({
  after: fc.nat(30),
  searchPath: fc.array(fc.nat(2), { maxLength: 3 }),
  priority: fc.integer({ min: -2, max: 2 }),
  patience: fc.option(fc.nat(40)),
})

test('no request waits longer than the window or its deadline, none is lost, and priorities hold', () => {
  fc.assert(
    fc.property(fc.array(arrival, { maxLength: 40 }), (arrivals) => {
      const window = new GroupWindow<WaitingRequest & { arrived: number }>(20)
      let now = 0
      let left = 0
      const release = (at: number): void => {
        const released = window.release(at, false)
        for (const { arrived, deadline = at } of released) {
          left += 1
          expect(at - arrived).toBeLessThanOrEqual(20)
          expect(at).toBeLessThanOrEqual(Math.max(deadline, arrived))
        }
        const priorities = released.map(({ priority }) => priority!)
        expect(priorities).toEqual(priorities.toSorted((a, b) => a - b))
      }
      const releaseUpTo = (time: number): void => {
        // a timer fires when the window closes, before anything that happens later
        while (window.closesAt !== undefined && window.closesAt <= time) release(window.closesAt)
      }
      for (const { after, patience, ...request } of arrivals) {
        now += after
        releaseUpTo(now)
        window.add({ ...request, arrived: now, ...(patience === null ? {} : { deadline: now + patience }) }, now)
        releaseUpTo(now)
      }
      releaseUpTo(Number.POSITIVE_INFINITY)
      expect(left).toBe(arrivals.length)
    }),
    { numRuns: 300 },
  )
})

test('when an urgent request leaves, the window is as long again as the others need it', () => {
  const window = new GroupWindow(20)
  const [urgent, patient] = [
    { ...waiting('urgent', 1), deadline: 105 },
    { ...waiting('patient', 1), deadline: 115 },
  ]
  window.add(urgent, 100)
  window.add(patient, 101)
  expect(window.closesAt).toBe(105)
  expect([window.remove(urgent), window.closesAt]).toEqual([true, 115])
  expect([window.remove(urgent), window.closesAt]).toEqual([false, 115])
})
