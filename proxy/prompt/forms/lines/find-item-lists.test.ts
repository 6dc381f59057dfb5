import { describe, expect, it } from 'vitest'
import { findContextLists } from '../find-context-lists.ts'

const one = 'The harbour opens at nine every morning, and its keeper lives next door.'
const two = 'Nobody knows who built the museum, which burned down twice and was built again.'
const more = 'Its keeper tells of it gladly. He knows the place well.'

describe.each([
  ['dashes', (_: number) => '- '],
  ['numbers', (i: number) => `${i + 1}. `],
])('items below a line that announces retrieved texts, with %s', (_, bullet) => {
  const write = (texts: readonly string[], behind = ''): string =>
    `Use these passages.\n\nRelevant passages:\n${texts.map((text, i) => bullet(i) + text).join('\n')}${behind}`

  it.each(['', '\n\nQuestion: Is it open?', '\n\nIs it open?', '\n\nAnswer the question from the passages.'])(
    'are blocks before %j',
    (behind) => {
      const text = write([one, two], behind)
      expect(
        findContextLists(text).flatMap(({ blocks }) => blocks.map(({ start, end }) => text.slice(start, end))),
      ).toEqual([bullet(0) + one, bullet(1) + two])
    },
  )

  it.each([
    ['an item in the middle', [one, `${two}\n\n${more}`, one]],
    ['the last item', [one, two, `${two}\n\n${more}`]],
    ['the last item in the next line', [one, two, `${two}\n${more}`]],
  ])('are left alone if %s has a further paragraph that is not indented', (_case, texts) => {
    expect(findContextLists(write(texts, '\n\nQuestion: Is it open?\nAnswer:'))).toEqual([])
  })
})
