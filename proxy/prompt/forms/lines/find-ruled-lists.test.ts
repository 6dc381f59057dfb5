import { describe, expect, it } from 'vitest'
import { findContextLists } from '../find-context-lists.ts'
import { behindLists, contentsOf } from '../found-lists.fixture.ts'

const [rain, sun, wind] = ['It rained.\n\nAll day [1].', '# Rome\n\nThe sun shone. ❄️', 'Wind.']
const list = (rule: string): string => [rain, sun, wind].join(rule)

describe('documents parted by rules', () => {
  it.each(['\n\n---\n\n', '\n---\n', '\n\n===\n\n', '\n=====\n\n', '\r\n\r\n---\r\n\r\n'])(
    'like %j are blocks',
    (rule) => {
      expect(contentsOf(`Sources:\n${list(rule)}\n\nQuestion: why?`)).toEqual([[rain, sun, wind]])
      expect(contentsOf(`# Documents\n\n${list(rule)}\n\nQuestion: why?`)).toEqual([[rain, sun, wind]])
      expect(contentsOf(`Question: why?\n\nDocuments:\n\n${list(rule)}`)).toEqual([[rain, sun, wind]])
      expect(contentsOf(`<documents>\n${list(rule)}\n</documents>\n\nWhy?`)).toEqual([[rain, sun, wind]])
    },
  )

  it('may have a rule above the first and below the last', () => {
    const text = `Documents:\n---\n${list('\n---\n')}\n---\nQuestion: why?`
    expect(contentsOf(text)).toEqual([[rain, sun, wind]])
    expect(behindLists(text)).toEqual(['\n---\nQuestion: why?'])
  })

  it('may be of one short line each', () => {
    for (const rule of ['\n---\n', '\n===\n', '\r\n---\r\n']) {
      const text = ['Documents:', 'alpha', 'beta', 'gamma'].join(rule)
      expect(contentsOf(`${text}${rule}\nQuestion: why?`)).toEqual([['alpha', 'beta', 'gamma']])
    }
    expect(contentsOf('Documents:\nalpha\n---\nbeta\n---\ngamma\n\nQuestion: why?')).toEqual([
      ['alpha', 'beta', 'gamma'],
    ])
  })

  it('end in front of a last line that asks, where no document has paragraphs', () => {
    const text = 'Documents:\nIt rained.\n---\nIt shone.\nAll day.\n---\nWind.\n\nWhy does it rain?'
    expect(contentsOf(text)).toEqual([['It rained.', 'It shone.\nAll day.', 'Wind.']])
    expect(behindLists(text)).toEqual(['\n\nWhy does it rain?'])
    expect(contentsOf(text.replace('It rained.', 'It rained.\n\nWhen?'))).toEqual([])
    expect(contentsOf(text.replace('Wind.', 'Wind.\n\nWhence?'))).toEqual([])
  })

  it('need no more than a line about context where no piece has headings or a title', () => {
    const documents = ['It rained all day.\n\nIn Oslo.', 'The sun shone\nin the evening.', 'A wind came up.']
    for (const rule of ['\n---\n', '\n\n===\n\n']) {
      expect(contentsOf(`Context:\n${documents.join(rule)}\n\nQuestion: why?`)).toEqual([documents])
      // sections of one text, and rules around a title inside one text
      expect(contentsOf(`Context:\n${['## A\n\nIt rained.', ...documents].join(rule)}\n\nQuestion: why?`)).toEqual([])
      expect(contentsOf(`Context:\n${[documents[0], 'TERMS', documents[1]].join(rule)}\n\nQuestion: why?`)).toEqual([])
    }
    expect(contentsOf(`Context:\n${documents.join('\n----------\n')}\n\nQuestion: why?`)).toEqual([])
    expect(contentsOf(`${documents.join('\n---\n')}\n\nQuestion: why?`)).toEqual([])
  })

  it('run to the end of a tool result that announces them', () => {
    expect(findContextLists(`Results:\n\n${list('\n\n---\n\n')}`, { whole: true })[0]?.blocks).toHaveLength(3)
  })
})

describe('rules that part no documents', () => {
  const parted = list('\n\n---\n\n')
  it.each([
    ['without an announcement', `${parted}\n\nQuestion: why?`],
    [
      'behind an instruction',
      'Use what is told here.\n---\nIt rained all day.\n---\nA wind came up.\n\nQuestion: why?',
    ],
    [
      'under a heading',
      '# Rain\nIt rained all day.\n---\nThe sun shone again.\n---\nA wind came up.\n\nQuestion: why?',
    ],
    [
      'under several',
      'Sources:\nA sun.\nDocuments:\nA rain came up.\n---\nA sun came up.\n---\nA wind came up.\n\nQuestion: why?',
    ],
    ['behind a question', 'Question: why?\n---\nIt rained all day.\n---\nA wind came up.'],
    ['of one line without an announcement', 'Rain and Sun\n---\nIt rained all day.\n\nQuestion: why?'],
    ['of words without an announcement', 'alpha\n---\nbeta\n---\ngamma\n\nQuestion: why?'],
    ['of a single document', `Summarise the document:\n\n${parted}\n\nQuestion: why?`],
    ['with two announcements', `Documents:\nfrom my sources:\n${rain}\n\nSources:\n${parted}\n\nQuestion: why?`],
    ['with an end that may be anywhere', `Context:\n${parted}\n\nWhy does it rain?`],
    ['whose last block may be the question', `Context:\n${parted}\n\n---\n\nWhy?\n\nAnswer:`],
    ['of which there is one', `Context:\n${rain}\n\n---\n\n${sun}\n\nQuestion: why?`],
    ['of two kinds', `Context:\n${rain}\n\n---\n\n${sun}\n\n=====\n\n${wind}\n\nQuestion: why?`],
    ['under headings', 'Context:\nRain\n---\nIt rained.\n\nSun\n---\nIt shone.\n\nQuestion: why?'],
    ['of a table', 'Context:\na | b\n--- | ---\n1 | 2\n--- | ---\n\nQuestion: why?'],
    ['of front matter', 'Context:\n---\ntitle: Rain\n---\nIt rained.\n\n---\n\nAll day.\n\nQuestion: why?'],
    [
      'of sections',
      `Context:\n# Rain\n\nIt rained.\n\n---\n\n## When\n\nToday.\n\n---\n\n## Where\n\nHere.\n\nQuestion: why?`,
    ],
    ['around what may be an instruction', 'Context:\nA\n---\nB\n---\nC\n\nBe very brief.\n\nQuestion: why?'],
    ['with an instruction behind the last', 'Context:\nA\n---\nB\n---\n\nUse only the sources.\n\nQuestion: why?'],
    [
      'with instructions behind documents of several paragraphs',
      'Context:\nA\n\na\n\n---\n\nB\n\nb\n\n---\n\nC\n\nc\n\nInstructions:\n- Be brief.\n\nQuestion: why?',
    ],
    ['with an instruction in the last line', `Question: why?\n\nContext:\n${parted}\nGive me a short answer.`],
    ['in a quotation', 'Context:\n"""\nA\n---\nB\n---\nC\n"""\nQuestion: why?'],
    ['in brackets', 'Context:\n[CONTEXT]\nA\n---\nB\n---\nC\n[/CONTEXT]\nQuestion: why?'],
    ['in fenced code', `Context:\n\`\`\`\n${parted}\n\`\`\`\n\nQuestion: why?`],
    ['around questions', `Context:\n${rain}\n\nQuestion: a?\n\n---\n\n${sun}\n\n---\n\n${wind}\n\nQuestion: b?`],
  ])('are those %s', (_, text) => {
    expect(contentsOf(text)).toEqual([])
  })
})

it('documents are left alone where one of them begins or ends with a rule of its own', () => {
  for (const own of ['It rained.\n\n---', '---\nIt rained.']) {
    for (const texts of [
      [own, sun, wind],
      [sun, own, wind],
      [sun, wind, own],
    ]) {
      expect(contentsOf(`Sources:\n---\n${texts.join('\n\n---\n\n')}\n---\n\nQuestion: why?`)).toEqual([])
    }
  }
})
