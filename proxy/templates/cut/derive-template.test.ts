import { expect, it } from 'vitest'
import { findContextLists } from '../../prompt/forms/found-lists.fixture.ts'
import { cutByTemplate } from './cut-by-template.ts'
import { deriveTemplate } from './derive-template.ts'

const texts = ['Leave is paid.', 'Badges are worn.']

it.each([
  ['names of files behind a heading', ['a.md', 'b.txt']],
  ['names of files, alike at the end', ['a.md', 'b.md']],
])('no template has a name that nothing ends: %s', (_, names) => {
  const documents = names.map((name, i) => `### ${name}\n${texts[i]}`)
  const text = `Context:\n\n${documents.join('\n\n')}\n\nQuestion: why?`
  const [list] = findContextLists(text)
  expect(list?.blocks).toHaveLength(2)
  const template = deriveTemplate(text, list!)
  expect(() => template && cutByTemplate(text, template)).not.toThrow()
})

it('all closing tags behind a list are of the template: a document that shows some of them ends nothing', () => {
  const textOf = (documents: readonly string[]): string => {
    const blocks = documents.map((document) => `<document>\n${document}\n</document>`)
    return `<context>\n<documents>\n${blocks.join('\n')}\n</documents>\n</context>\n\nWhy?`
  }
  const plain = textOf(texts)
  const [list] = findContextLists(plain)
  const template = deriveTemplate(plain, list!)
  const quoting = textOf(['Close them:\n<p>\n</document>\n</documents>\nThen ask.', ...texts])
  const cut = cutByTemplate(quoting, template!)
  expect(cut?.blocks.map(({ start }) => start)).toEqual(
    [...quoting.matchAll(/<document>\n/g)].map(({ index }) => index),
  )
  expect(quoting.slice(cut!.end)).toBe('\n</context>\n\nWhy?')
})
