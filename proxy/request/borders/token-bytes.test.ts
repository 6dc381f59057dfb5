import { expect, test } from 'vitest'
import { toTokenBytes } from './locate-borders.ts'

test('byte-level tokens are bytes, which may be parts of a character, and special tokens are their names', () => {
  const tokens = [
    '<|im_start|>',
    'H',
    'Ã¤',
    'l',
    'lo',
    'Ġw',
    'Ã',
    '¶',
    'Ġ',
    'âĢ',
    'Ķ',
    'Ġ',
    'ð',
    'Ł',
    'ĺ',
    'Ģ',
    'ĉ',
    'ĊĊ',
    '<｜end▁of｜>',
  ]
  const { bytes, ends } = toTokenBytes(tokens)
  expect(bytes.toString()).toBe('<|im_start|>Hällo wö — 😀\t\n\n<｜end▁of｜>')
  expect(ends.slice(0, 4)).toEqual([12, 13, 15, 16])
  expect(ends.at(-1)).toBe(bytes.length)
})

test('SentencePiece tokens are text in which a bar is a space, or a byte', () => {
  const { bytes, ends } = toTokenBytes(['<bos>', '▁Hällo', '▁▁w', '<0xF0>', '<0x9F>', '<0x98>', '<0x80>', '\n\n'])
  expect(bytes.toString()).toBe('<bos> Hällo  w😀\n\n')
  expect(ends).toEqual([5, 12, 15, 16, 17, 18, 19, 21])
})
