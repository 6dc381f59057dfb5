import { describe, expect, it } from 'vitest'
import { findContexts } from '../contexts.fixture.ts'

const find = (text: string, role = 'user'): number =>
  findContexts({ place: 0, role, texts: [0], rest: '', isTextOnly: true }, [text]).length

const long = [
  'The Amazon rises in the mountains of Peru and flows east.',
  'The Nile flows north through eleven countries.',
]
const numbered = (...blocks: string[]): string => blocks.map((text, i) => `[${i + 1}] ${text}`).join('\n')

describe('left alone are', () => {
  it.each([
    ['options', 'What colour is it?\n\nPick one:\n[1] Red\n[2] Green\n[3] Blue\n\nAnswer with the number only.'],
    ['long options', `Choose the best answer:\n${numbered(...long)}\n\nThanks`],
    ['what is to be ranked', `Here:\n${numbered(...long)}\n\nRank them by quality.`],
    ['a transcript', 'Transcript:\n[1] Alice: I agree\n[2] Bob: I disagree\n[3] Carl: done\n\nWho spoke last?'],
    ['a long transcript', `Transcript:\n${numbered(...long)}\n\nWho spoke last?`],
    ['a chat', 'So far:\n[1] user: hello bot\n[2] bot: hello user, how are you today, and can I help?\n\nReply.'],
    ['a talk', `${numbered(`Ann: ${long[0]}`, `Bo: ${long[1]}`, 'Ann: yes')}\n\nWho is right?`],
    ['rows', 'M =\n[1] 5 3 2\n[2] 4 4 1\n[3] 9 9 9\n\nGive row 1.'],
    ['options in words', `${numbered('It is the red one', 'It is the green one')}\n\nWhich of them is it?`],
    ['options without an instruction', '[1] Red\n[2] Green\n\nWhat colour is it?'],
    ['what follows other words', `The talk:\n${numbered('I like it a lot', 'I do not like it')}\n\nDo they agree?`],
    ['short words without a question', `${numbered('It rained all day', 'It is dry here')}\n\nSummarise them.`],
    ['registers', 'State:\n[0] rax 5\n[1] rbx 7\n\nWhat is wrong?'],
    ['footnotes', 'The treaty [1] was signed [2].\n\n[1] In Münster.\n[2] In Osnabrück.\n\nTranslate it.'],
    [
      'the sources of a video',
      '<video>\n<source src="a.mp4">one</source>\n<source src="b.mp4">two</source>\n</video>\nWhich?',
    ],
    ['files of a change', 'Changed:\n<file>src/a.ts</file>\n<file>src/b.ts</file>\n\nWhat broke?'],
    ['files in a configuration', 'Fix:\n<context>\n  <file>a.xml</file>\n  <file>b.xml</file>\n</context>\nIt fails.'],
    ['levels in a configuration', '<resources>\n<source>1.8</source>\n<source>1.7</source>\n</resources>\nWhy?'],
    [
      'a bibliography as markup',
      `<bibliography>\n<reference id="1">${long[0]}</reference>\n<reference id="2">${long[1]}</reference>\n</bibliography>\nConvert.`,
    ],
  ])('%s', (_, text) => {
    expect(find(text)).toBe(0)
  })
})

describe('material are', () => {
  it.each([
    ['numbered texts', `${numbered(...long)}\n\nQuestion: which is longer?`],
    ['short ones that are announced', 'Context:\n[1] Red\n[2] Green\n\nWhich?'],
    ['short ones in a container', '<context>\n[1] Red\n[2] Green\n</context>\nWhich?'],
    ['short ones in front of a question', '[1] Red\n[2] Green\n\nQuestion: which?'],
    [
      'short ones in words that alone are asked about',
      `${numbered('It rained all day.', 'It is dry here.')}\n\nQuestion: why so?`,
    ],
    [
      'short sentences behind words to the model',
      `Use these sources.\n\n${numbered('It rained all day.', 'It is dry here.')}`,
    ],
    [
      'short sentences to be told again',
      `Question: how was the weather?\n\n${numbered('It rained all day.', 'It is dry here.')}\n\nAnswer in one sentence.`,
    ],
    ['ones whose title is a name', `Sources:\n${numbered(`Peru: ${long[0]}`, `Egypt: ${long[1]}`)}\n\nWhich?`],
    ['ones asked about with a choice', `${numbered(...long)}\n\nQuestion: which one would people choose?`],
    ['labelled sources', '<context>\n<source id="1">Red</source>\n<source id="2">Green</source>\n</context>\nWhich?'],
    [
      'labelled sources without a container',
      '<source id="1">Red</source>\n<source id="2">Green</source>\n\nQuestion: what?',
    ],
    [
      'short references in words',
      '<reference>It rained all day.</reference>\n<reference>It is dry.</reference>\nQuestion: what?',
    ],
    ['short files in front of a question', '<file>Red</file>\n<file>Green</file>\n\nQuestion: what?'],
    [
      'short memories in a container',
      '<sources>\n<source>Red</source>\n<source>Green</source>\n</sources>\n\nQuestion: what?',
    ],
    ['files', `<file path="a">${long[0]}</file>\n<file path="b">${long[1]}</file>\nWhy?`],
  ])('%s', (_, text) => {
    expect(find(text)).toBe(1)
  })

  it('short ones that a tool gave', () => {
    expect(find('[1] Red\n[2] Green', 'tool')).toBe(1)
    expect(find('[1] Red\n[2] Green')).toBe(0)
  })
})

it.each([
  ['Document 1: ', 'Choose the best document. Respond with just the document number.'],
  ['Passage 1: ', 'Select the most relevant passage and answer with its index only.'],
  ['Source 1: ', 'Return the ids of the relevant ones.'],
])('a list with labels like %j is to be chosen from by number: %j', (label, words) => {
  const write = (...blocks: string[]): string =>
    blocks.map((text, i) => label.replace('1', `${i + 1}`) + text).join('\n\n')
  const list = write('The Amazon rises in the mountains of Peru.', 'The Nile flows through eleven countries.')
  expect(find(`${list}\n\n${words}`)).toBe(0)
  expect(find(`${list}\n\nQuestion: why?`)).toBe(1)
})
