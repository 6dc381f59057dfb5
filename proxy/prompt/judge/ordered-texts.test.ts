import { expect, it } from 'vitest'
import { listsIn, orderedTexts } from './ordered-texts.fixture.ts'

it.each(orderedTexts)('nothing is found in $name', ({ messages }) => {
  expect(listsIn(messages)).toEqual([])
})
