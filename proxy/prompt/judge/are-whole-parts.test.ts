import { describe, expect, it } from 'vitest'
import { findContexts } from '../find-contexts.ts'

/** The texts of the blocks in a user message of these parts. */
function blocksOf(...texts: string[]): string[][] {
  const message = { place: 0, role: 'user', texts: [...texts.keys()], rest: '', isTextOnly: true }
  return findContexts(message, texts).map(({ slots }) =>
    slots.map(({ text, content }) => texts[text]!.slice(content.start, content.end)),
  )
}

describe('the text parts of a message', () => {
  it.each([
    ['documents', ['A', 'B\n\nmore', 'Which?']],
    ['papers with references', ['A [1].\n\n## References\n[1] x\n[2] y', 'B [1].\n\nReferences\n\n[1] z', 'Which?']],
    ['documents that bear numbers', ['[7] A', '[3] B\n\nmore', 'Which?']],
    ['documents that bear names', ['[Doc_a] A\n\nmore', '[Doc_b] B\n\nWhat about it?\n\nmore', 'Which?']],
    ['documents with code', ['A:\n```\nx[0] = 1\n```', '- b\n- c', 'Which?']],
  ])('are blocks when they are %s', (_, texts) => {
    const found = blocksOf(...texts)
    expect(found).toHaveLength(1)
    expect(found[0]).toHaveLength(texts.length - 1)
  })

  it.each([
    ['a document of a list goes on', ['Use these.\n\n[1] A', '[2] B', 'more B\n\n[3] C\n\n[4] D', 'Which?']],
    ['the last document goes on', ['[Doc_1] A', '[Doc_2] B', '[Doc_3] C', 'more C', 'Which?']],
    ['the question follows a label', ['[1] A', '[2] B', 'more B\n\n[3] C\n\nmore C\n\nWhich?']],
    ['an element goes on', ['<documents>\n<document>A</document>\n<document>B', 'more B</document>', 'C', 'Which?']],
    ['a list of somebody goes on', ['Context:', '[0]: A', 'more A', '[1]: B', 'Which?']],
    ['what a line announces stands', ['Use the following context:\n', 'A', 'B', 'Which?']],
    ['the last document goes on in front of the question', ['[Doc_a] A', '[Doc_b] B', 'more B\n\nWhich?']],
    ['what a rule parts stands', ['A\n\n---', 'B', 'more B\n\n---\n\nC', 'Which?']],
    ['a list that is announced goes on', ['Documents:\nA', 'more A\n\n', 'B', 'Which?']],
    ['a block between rules goes on', ['Documents:\n\nA\n\n---\n\nB', 'more B\n\n---\n\nC', 'Question: which?']],
  ])('are left alone when %s in the next part', (_, texts) => {
    expect(blocksOf(...texts)).toEqual([])
  })

  it('may hold a list between them whose blocks do not go on', () => {
    expect(blocksOf('Use these.\n\n[1] A\n\n[2] B', '[3] C', 'Question: which?')).toEqual([['A', 'B', 'C']])
  })
})
