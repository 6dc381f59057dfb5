import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type SearchPath, scheduleDepthFirst } from './schedule-contexts.ts'

const schedule = (...paths: SearchPath[]): SearchPath[] => scheduleDepthFirst(paths, (path) => path)

test('a subtree is finished before the next begins, where Algorithm 5 goes by length', () => {
  expect(schedule([0, 0, 2], [0, 1], [1], [0, 1, 7, 1], [0, 0, 3])).toEqual([
    [0, 0, 2],
    [0, 0, 3],
    [0, 1],
    [0, 1, 7, 1],
    [1],
  ])
})

test('slots are numbers: 10 comes behind 9', () => {
  expect(schedule(['x', 10], ['x', 9])).toEqual([
    ['x', 9],
    ['x', 10],
  ])
})

test('requests with nothing to share are groups of their own', () => {
  expect(schedule([], ['x', 1], [], ['y', 2], ['y', 1])).toEqual([['y', 1], ['y', 2], [], ['x', 1], []])
})

test('every request runs once, and those of any subtree run one after the other', () => {
  fc.assert(
    fc.property(fc.array(fc.array(fc.nat(2), { maxLength: 4 }), { maxLength: 30 }), (paths) => {
      const scheduled = schedule(...paths)
      const texts = scheduled.map(String)
      expect(texts.toSorted()).toEqual(paths.map(String).toSorted())
      for (const path of paths) {
        for (let level = 1; level <= path.length; level++) {
          const below = scheduled.map((other) => String(other.slice(0, level)) === String(path.slice(0, level)))
          expect(below.lastIndexOf(true) - below.indexOf(true) + 1).toBe(below.filter(Boolean).length)
        }
      }
    }),
  )
})
