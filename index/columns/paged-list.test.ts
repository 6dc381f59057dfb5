import { expect, test } from 'vitest'
import { PagedList } from './paged-list.ts'

test('what is in a list stays where it is, and is replaced in place', () => {
  const list = new PagedList<string>()
  const count = 10_000
  for (let place = 0; place < count; place++) list.set(place, `${place}`)
  for (let place = 0; place < count; place += 3) list.set(place, 'again')
  expect(list.length).toBe(count)
  for (let place = 0; place < count; place++) expect(list.at(place)).toBe(place % 3 === 0 ? 'again' : `${place}`)
  list.clear()
  list.set(0, 'first')
  expect([list.length, list.at(0)]).toEqual([1, 'first'])
})
