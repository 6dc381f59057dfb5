import { describe, expect, it } from 'vitest'
import { findContexts } from '../contexts.fixture.ts'

/** Returns the texts of the blocks in a user message with these parts. */
function blocksOf(...texts: string[]): string[][] {
  const message = { role: 'user', texts: [...texts.keys()], rest: '', isTextOnly: true }
  return findContexts(message, texts).map(({ slots }) =>
    slots.map(({ text, content }) => texts[text]!.slice(content.start, content.end)),
  )
}

describe('the text parts of a message', () => {
  it.each([
    ['paragraphs', ['Rain fell in Oslo.', 'The sun shone in Rome,\nall day.', 'Question: which?']],
    ['spoken of', ['Rain fell in Oslo.', 'The sun shone in Rome.', 'What do these passages say?']],
    [
      'passages',
      [`Rain fell in Oslo. ${'It was wet. '.repeat(9)}`, `The sun shone. ${'It was hot. '.repeat(9)}`, 'Which?'],
    ],
    ['titled', ['Oslo\nRain fell.\n\nIt was cold.', 'Rome\nThe sun shone.', 'Which?']],
    [
      'papers with references',
      ['# A\n\nA [1].\n\n## References\n[1] x\n[2] y', '# B\n\nB [1].\n\nReferences\n\n[1] z', 'Which?'],
    ],
    ['documents with code', ['# A\n\nSo:\n```\nx[0] = 1\n```', '# B\n\n- b\n- c', 'Which?']],
  ])('are blocks when they are %s', (_, texts) => {
    const found = blocksOf(...texts)
    expect(found).toHaveLength(1)
    expect(found[0]).toHaveLength(texts.length - 1)
  })

  it.each([
    ['e-mails', ['From: a@h\n\nRain fell.', 'From: b@h\n\nThe sun shone.', 'Which?']],
    ['steps', ['Step 1: open the door.', 'Step 2: go in.', 'Which?']],
    ['chapters', ['Chapter 1\nRain fell.', 'Chapter 2\nThe sun shone.', 'Which?']],
    ['remarks', ['Set x to 1.', 'Set x to 2.', 'What is x?']],
    [
      'verses',
      [`Row, row\n${'gently down the stream\n'.repeat(6)}`, `Merrily\n${'life is but a dream\n'.repeat(7)}`, 'Which?'],
    ],
    ['days of a diary', ['2025-01-01 Rain fell.', '2025-01-02 The sun shone.', 'Which?']],
  ])('are none when they are %s, which have their places', (_, texts) => {
    expect(blocksOf(...texts)).toEqual([])
  })

  it('are none when pictures stand between them, to which they may belong', () => {
    const texts = ['Document 1: a cat.', 'Document 2: a dog.', 'Does each caption fit its picture?']
    const message = { role: 'user', texts: [0, 1, 2], rest: '', isTextOnly: false }
    expect(findContexts(message, texts)).toEqual([])
    expect(findContexts({ ...message, isTextOnly: true }, texts)).toHaveLength(1)
  })

  it('are files behind an instruction, each once', () => {
    const part = (path: string, lines: string): string => `\`\`\`${path} (${lines})\nlet a\n\`\`\`\n`
    const words = 'Use the above code to answer.\n'
    expect(blocksOf(words, part('src/a.ts', '1-9'), part('src/b.ts', '1-9'), 'Why?')[0]).toHaveLength(2)
    // two sections of one file are in order
    expect(blocksOf(words, part('src/a.ts', '1-9'), part('src/a.ts', '10-19'), 'Why?')).toEqual([])
  })

  it.each([
    [
      'they are pieces of one text',
      ['# Notes\n\nWe met.', 'ANN: I agree.\n\nBO: So do I.', 'Summarise the text above in its order.'],
    ],
    ['nobody asks', ['Rain fell in Oslo.', 'The sun shone in Rome.', 'Thank you.']],
    ['they are instructions', ['You are kind.', 'Use short sentences.', 'Why?']],
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
    expect(blocksOf('Use these sources.\n\n[1] A\n\n[2] B', '[3] C', 'Question: which?')).toEqual([['A', 'B', 'C']])
  })
})
