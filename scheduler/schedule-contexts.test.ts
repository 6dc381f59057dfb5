import fc from 'fast-check'
import { expect, test } from 'vitest'
import { scheduleContexts } from './schedule-contexts.ts'

test('Figure 7: C6, C3, C7, C8 run as C6, C8, C3, C7', () => {
  // the search paths of Figure 6: C6 and C8 are below C4, C3 is below C5, and C7 is alone
  const paths = new Map([
    ['C6', [0, 0, 2]],
    ['C3', [0, 1]],
    ['C7', [1]],
    ['C8', [0, 0, 3]],
  ])
  expect(scheduleContexts([...paths.keys()], (name) => paths.get(name)!)).toEqual(['C6', 'C8', 'C3', 'C7'])
})

test('larger groups run first, and requests with nothing to share are groups of their own', () => {
  const requests = [
    { name: 'a', path: [] },
    { name: 'b', path: ['x', 1] },
    { name: 'c', path: [] },
    { name: 'd', path: ['y', 1] },
    { name: 'e', path: ['y', 2, 3] },
  ]
  expect(scheduleContexts(requests, ({ path }) => path).map(({ name }) => name)).toEqual(['e', 'd', 'a', 'b', 'c'])
})

const paths = fc.array(fc.array(fc.nat(3), { maxLength: 4 }), { maxLength: 30 })

test('every request runs exactly once, groups together, longer paths first', () => {
  fc.assert(
    fc.property(paths, (all) => {
      const scheduled = scheduleContexts(all, (path) => path)
      expect(scheduled.toSorted(byText)).toEqual(all.toSorted(byText))
      scheduled.forEach((path, i) => {
        const next = scheduled[i + 1]
        if (path.length > 0 && next?.[0] === path[0]) expect(next!.length).toBeLessThanOrEqual(path.length)
        if (path.length > 0 && next?.[0] !== path[0]) {
          expect(scheduled.slice(i + 1).some((later) => later.length > 0 && later[0] === path[0])).toBe(false)
        }
      })
    }),
  )
})

function byText(a: readonly number[], b: readonly number[]): number {
  return String(a).localeCompare(String(b))
}
