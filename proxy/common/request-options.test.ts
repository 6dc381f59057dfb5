import { expect, test } from 'vitest'
import { readOptions } from './request-options.ts'

test('switches and wishes are read as they are written, whatever the case and the spaces', () => {
  expect(readOptions('reorder=off, Annotate = ON,citations=keep')).toEqual({
    reorder: false,
    annotate: true,
    citations: false,
  })
  expect(readOptions('reuse=off')).toEqual({ reuse: 'off' })
  expect(readOptions(undefined)).toEqual({})
})

test.each([
  ['0', 0],
  ['1', 1],
  ['0.15', 0.15],
  ['.5', 0.5],
  ['1.0', 1],
])('reuse=%s is a share', (text, share) => {
  expect(readOptions(`reuse=${text}`)).toEqual({ reuse: share })
})

test('pages=0.25 is a share of pages', () => {
  expect(readOptions('pages=0.25,reuse=off')).toEqual({ pages: 0.25, reuse: 'off' })
})

test.each(['off', '2', '', '25%'])('pages=%s is none', (text) => {
  expect(() => readOptions(`pages=${text}`)).toThrow(/is not an option of reprise; known are .*pages=0…1/)
})

test('order= has positions, counted from 0', () => {
  expect(readOptions('order=2.0.1,set')).toEqual({ order: [2, 0, 1], set: true })
})

test.each(['', '1.', '1,2', '-1', 'a', '12345'])('order=%s is none', (text) => {
  expect(() => readOptions(`order=${text}`)).toThrow(/is not an option of reprise; known are .*order=2\.0\.1/)
})

test.each(['', 'on', '1.01', '-0.1', '15', '15%', '0x1', '1e-1', 'NaN', '0.1.2'])('reuse=%s is none', (text) => {
  expect(() => readOptions(`reuse=${text}`)).toThrow(
    /'reuse=.*' is not an option of reprise; known are .*reuse=off\|0…1/,
  )
})

test('an option ends at its comma: a second = is part of a value that is none', () => {
  expect(() => readOptions('reuse=0.3=0.9')).toThrow(/'reuse=0.3=0.9' is not an option/)
  expect(() => readOptions('reorder=off=on')).toThrow(/'reorder=off=on' is not an option/)
})

test.each(['reuse=off,reuse=0.2', 'reorder=off, Reorder=off', 'pages=1,reuse=off,pages=1'])(
  '%s gives one option twice',
  (header) => {
    expect(() => readOptions(header)).toThrow(/'(reuse|reorder|pages)' is given twice in the options of reprise/)
  },
)
