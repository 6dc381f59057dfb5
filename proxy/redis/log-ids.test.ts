import { expect, test } from 'vitest'
import { canFollow } from './log-ids.ts'

test('no id follows one whose numbers would lose digits', () => {
  expect(canFollow('1796033846436-12')).toBe(true)
  expect(canFollow('18446744073709551615-18446744073709551614')).toBe(false)
})
