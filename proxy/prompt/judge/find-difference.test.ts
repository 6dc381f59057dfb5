import { expect, test } from 'vitest'
import { findDifference } from './find-difference.ts'

test.each([
  ['the first text', ['abc', 'x'], [['abd', 'x']], { place: 0, byte: 2, here: 'c', instead_of: 'd' }],
  ['a later text', ['same', 'über'], [['same', 'üben']], { place: 1, byte: 4, here: 'r', instead_of: 'n' }],
  ['a text more', ['same', 'more'], [['same']], { place: 1, byte: 0, here: 'more', instead_of: '' }],
  [
    'the nearest of several',
    ['a', 'bcd'],
    [
      ['x', 'bcd'],
      ['a', 'x'],
      ['a', 'bce'],
    ],
    { place: 1, byte: 2, here: 'd', instead_of: 'e' },
  ],
  ['half a character', ['😀'], [['😁']], { place: 0, byte: 0, here: '😀', instead_of: '😁' }],
  ['nothing', ['same', 'too'], [['same', 'too']], { place: 0 }],
  ['without earlier messages', ['a', 'b'], [], { place: 0 }],
])('what differs: %s', (_, texts, earlier, difference) => {
  expect(findDifference(texts, earlier)).toEqual(difference)
})
