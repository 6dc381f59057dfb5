import { describe, expect, it } from 'vitest'
import { findUnknownForm } from './find-unknown-form.ts'

const [rain, sun] = ['It rained in Oslo all day.', 'The sun shone in Rome again.']

describe('lines of one shape', () => {
  it.each([
    [`<<<DOC 1>>>\n${rain}\n<<<DOC 2>>>\n${sun}`, '<<<DOC 1>>>'],
    [`Snippets:\n\n###PATH:a.md\n${rain}\n###PATH:b.md\n${sun}`, '###PATH:a.md'],
    [`<|doc|>\n${rain}\n<|/doc|>\n<|doc|>\n${sun}\n<|/doc|>`, '<|doc|>'],
    [`Answer.\n\nName: A\nValue: ${rain}\n\nName: B\nValue: ${sun}`, 'Name: A'],
    [`documents:\n  - id: 1\n    text: ${rain}\n  - id: 2\n    text: ${sun}`, '  - id: 1'],
  ])('are told as marks of no known form: %j', (text, line) => {
    const place = findUnknownForm(['You help.', text])!
    expect(place.text).toBe(1)
    expect(text.slice(place.start).startsWith(line)).toBe(true)
  })

  it.each([
    `${rain}\n${sun}`,
    '# Title\n\nOne.\n\n## More\n\nTwo.',
    'function a() {\n  return 1;\n}\n\nfunction b() {\n  return 1;\n}',
    '- one\n- two\n- three',
  ])('are none where nothing repeats but prose, code and bullets: %j', (text) => {
    expect(findUnknownForm([text])).toBeUndefined()
  })
})
