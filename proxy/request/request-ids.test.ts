import { expect, test } from 'vitest'
import type { RequestId } from '#index/context-block.ts'
import { RequestIds } from './request-ids.ts'

test('a client’s id is kept while nobody else has it, and gets a suffix when somebody has', () => {
  const ids = new RequestIds((id) => id === 'mirrored')
  expect(ids.take('mine')).toBe('mine')
  expect(ids.take('mine')).toMatch(/^mine-[0-9a-f]{8}$/)
  expect(ids.take('mirrored')).toMatch(/^mirrored-[0-9a-f]{8}$/)
  ids.release(ids.take('other'))
  expect(ids.take('other')).toBe('other')
})

test('an id is as taken when one of the names that prompts would have by it is', () => {
  const ids = new RequestIds((id) => id === 'list_1')
  const names = (id: string): RequestId[] => [`${id}_0`, `${id}_1`] as RequestId[]
  expect(ids.take('list', names)).toMatch(/^list-[0-9a-f]{8}$/)
  expect(ids.take('list')).toBe('list')
  expect(ids.take('other', names)).toBe('other')
})

test('no request gets an id by which an engine would take it for a health probe', () => {
  const ids = new RequestIds(() => false)
  expect(ids.take('HEALTH_CHECK_1')).toBe('request-HEALTH_CHECK_1')
  expect(ids.take('HEALTH_CHECK_1')).toMatch(/^request-HEALTH_CHECK_1-[0-9a-f]{8}$/)
  expect(ids.take('my-HEALTH_CHECK')).toBe('my-HEALTH_CHECK')
})

test('what cannot be a header’s value is not taken for an id', () => {
  const ids = new RequestIds(() => false)
  for (const wanted of [undefined, '', 'a b', 'ä', 'x'.repeat(201)]) expect(ids.take(wanted)).toMatch(/^[0-9a-f-]{36}$/)
})
