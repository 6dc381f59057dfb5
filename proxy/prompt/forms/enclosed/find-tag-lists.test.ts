import { describe, expect, it } from 'vitest'
import { announced, behindLists, contentsOf, findContextLists, labelsOf } from '../found-lists.fixture.ts'

it('a tag for any kind of data without a partner hides only the lists of such tags', () => {
  const hold = (name: string): string =>
    `<documents>\n<${name} id="1">a <entry>b</entry>\n</entry></${name}>\n<${name} id="2">c</${name}>\n</documents>\n\nWhy?`
  expect(contentsOf(hold('document'))).toEqual([['a <entry>b</entry>\n</entry>', 'c']])
  expect(findContextLists(hold('entry')).filter(({ blocks }) => blocks.length > 1)).toEqual([])
})

describe('documents that hold tags like those around them', () => {
  const list = (...contents: string[]): string =>
    `<documents>\n${contents.map((text, i) => `<document index="${i + 1}">\n${text}\n</document>`).join('\n')}\n</documents>\n\nWhy?`

  it.each([
    ['opens one that it does not close', 'an example:\n<document index="1">\nA'],
    ['closes one that it did not open', 'A\n</document>\nand on'],
    ['closes one and opens another', 'A\n</document>\nand on\n<document>\nB'],
    ['opens one in the middle of a line', 'write <document> around A'],
  ])('are left alone when one of them %s', (_what, content) => {
    // nothing that could move: no list, or the container as a whole
    for (const blocks of contentsOf(list('first', content, 'third', 'fourth'))) expect(blocks).toHaveLength(1)
  })

  it('are blocks when what they hold is balanced', () => {
    const example = 'an example:\n<documents><document index="1">A</document></documents>'
    expect(contentsOf(list('first', example, 'third'))).toEqual([['first', example, 'third']])
  })

  it('may stand beside tags that are never closed, as in HTML', () => {
    expect(contentsOf(list('<video>\n<source src="a.mp4">\n</video>', 'B'))).toHaveLength(1)
  })
})

describe('tagged blocks', () => {
  it('are sibling elements, and what follows the container is behind the list', () => {
    const text =
      '<documents>\n<document>\nParis is in France.\n</document>\n<document>\nRome is in Italy.\n</document>\n</documents>\n\nWhere is Rome?'
    expect(contentsOf(text)).toEqual([['Paris is in France.', 'Rome is in Italy.']])
    expect(behindLists(text)).toEqual(['\n\nWhere is Rome?'])
    const [first] = findContextLists(text)[0]!.blocks
    expect(text.slice(first!.start, first!.end)).toBe('<document>\nParis is in France.\n</document>')
  })

  it.each([
    ['document', 'documents'],
    ['doc', 'docs'],
    ['passage', 'passages'],
    ['source', 'sources'],
    ['reference', 'references'],
    ['file', 'files'],
    ['chunk', 'chunks'],
    ['memory', 'memories'],
    ['search_result', 'search_results'],
    ['web_result', 'results'],
    ['knowledge_chunk', 'chunks'],
    ['result', 'results'],
    ['context', 'contexts'],
    ['DOC', 'retrieved_documents'],
    ['Document', 'Context'],
  ])('may be called <%s>, alone or in <%s>', (name, container) => {
    const rows = `<${name}>A</${name}>\n<${name}>B</${name}>`
    expect(contentsOf(announced(`${rows}\nWhy?`))).toEqual([['A', 'B']])
    expect(contentsOf(`<${container}>${rows}</${container}>\nWhy?`)).toEqual([['A', 'B']])
    expect(behindLists(`<${container}>\n${rows}\n</${container}>\nWhy?`)).toEqual(['\nWhy?'])
  })

  it('may begin behind words in their line that announce them', () => {
    const [first, second] = ['<document>A</document>', '<document>B</document>']
    for (const text of [
      `Context: ${first}${second}\n\nWhy?`,
      `You help.\nRetrieved documents: <documents>${first} ${second}</documents> Why?`,
    ]) {
      expect(contentsOf(text)).toEqual([['A', 'B']])
    }
    for (const text of [
      `What is "${first}${second}"?`,
      `What is in the documents: "${first}${second}"?`,
      `Write ${first}${second} here.`,
    ]) {
      expect(contentsOf(text)).toEqual([])
    }
  })

  it('are found one by one: a single element is a list', () => {
    expect(contentsOf('Summarise this.\n\n<document>\nIt rained.\n</document>')).toEqual([['It rained.']])
    expect(contentsOf('<context>\nIt rained.\nAll day.\n</context>\n\nQuestion: why?')).toEqual([
      ['It rained.\nAll day.'],
    ])
    expect(contentsOf('<retrieved_documents>It rained.</retrieved_documents> Why?')).toEqual([['It rained.']])
  })

  it('may be empty', () => {
    expect(contentsOf(announced('<document></document>\n<document> \n</document>'))).toEqual([['', '']])
  })

  it('are parted into lists by text and by other names', () => {
    expect(contentsOf(announced('<doc>A</doc>\n<doc>B</doc>\nand\n<doc>C</doc>\n<chunk>D</chunk>'))).toEqual([
      ['A', 'B'],
      ['C'],
      ['D'],
    ])
  })

  it('keep their attributes, of which `>` in quotes is no end', () => {
    const text = '<document title="a > b" lang=\'de\'>A</document >\n<document title="c" href=x/y?z=1>B</document\n>'
    expect(contentsOf(announced(text))).toEqual([['A', 'B']])
  })

  it('hold any tags as content', () => {
    expect(
      contentsOf(announced('<document>see <document>inner</document> and <b>this</document>\n<document>B</document>')),
    ).toEqual([['see <document>inner</document> and <b>this', 'B']])
    expect(contentsOf('<doc>\n<source>a.md</source>\n[1] x\n\n[2] y\n</doc>')).toEqual([
      ['<source>a.md</source>\n[1] x\n\n[2] y'],
    ])
    expect(contentsOf(announced('<doc>\n```\nnever closed\n</doc>\n<doc>B</doc>'))).toEqual([
      ['```\nnever closed', 'B'],
    ])
  })

  it('survive CRLF line ends', () => {
    const text = '<documents>\r\n<document>\r\nA\r\nB\r\n</document>\r\n<document>C</document>\r\n</documents>\r\nq'
    expect(contentsOf(text)).toEqual([['A\r\nB', 'C']])
    expect(behindLists(text)).toEqual(['\r\nq'])
  })

  it('in a wrapper of an unknown name end behind its closing tag too', () => {
    expect(behindLists('<rag>\n<doc>A</doc>\n<doc>B</doc>\n</rag>\nQuestion: q')).toEqual(['\nQuestion: q'])
    expect(behindLists('<prompt>\n<doc>A</doc>\n<doc>B</doc>\nQuestion: q</prompt>')).toEqual([
      '\nQuestion: q</prompt>',
    ])
  })

  it('are found in containers within containers', () => {
    expect(
      contentsOf('<context><documents><document>A</document></documents>\n<memories>M</memories></context>'),
    ).toEqual([['A'], ['M']])
  })
})

describe('the label of a tagged block', () => {
  it('is positional when the numbers run from 0 or 1 in the order received', () => {
    for (const text of ['<doc index="1">A</doc><doc index="2">B</doc>', "<doc id='0'>A</doc>\n<doc id='1'>B</doc>"]) {
      expect(findContextLists(announced(text))).toMatchObject([{ positional: true, labelPrefix: '' }])
    }
    expect(labelsOf(announced('<doc lang="en" index="1">A</doc><doc index=2>B</doc>'))).toEqual(['1', '2'])
  })

  it('is stable otherwise', () => {
    for (const ids of [
      ['2', '1'],
      ['2', '3'],
      ['a7', 'b2'],
      ['01', '02'],
      ['1', '1'],
    ]) {
      const text = ids.map((id) => `<doc id="${id}">x</doc>`).join('\n')
      expect(findContextLists(announced(text))).toMatchObject([{ positional: false }])
      expect(labelsOf(announced(text))).toEqual(ids)
    }
  })

  it('is the first of the known attributes that all blocks have', () => {
    expect(labelsOf(announced('<doc id="x" index="1">A</doc><doc id="y" index="2">B</doc>'))).toEqual(['1', '2'])
    expect(labelsOf(announced('<doc id="x" index="1">A</doc><doc id="y">B</doc>'))).toEqual(['x', 'y'])
    expect(labelsOf(announced('<doc id="x">A</doc><doc>B</doc>'))).toEqual(['x', undefined])
    expect(labelsOf(announced('<doc id="two words" n="7">A</doc><doc title="1">B</doc>'))).toEqual(['7', undefined])
  })

  it('is its file where nothing else labels it and no two are of the same', () => {
    expect(labelsOf(announced('<file path="src/a.ts">A</file><file path="src/b.ts">B</file>'))).toEqual([
      'src/a.ts',
      'src/b.ts',
    ])
    const named = '<document source="a.md" lang="en">A</document>\n<document lang="en" source="b.md">B</document>'
    expect(labelsOf(announced(named))).toEqual(['a.md', 'b.md'])
    expect(findContextLists(announced(named))).toMatchObject([{ positional: false }])
    expect(labelsOf(announced(named.replace('b.md', 'a.md')))).toEqual([undefined, undefined])
    expect(labelsOf(announced(named.replace('source="b.md"', '')))).toEqual([undefined, undefined])
    expect(labelsOf(announced('<source id="1" name="a">A</source><source id="2" name="b">B</source>'))).toEqual([
      '1',
      '2',
    ])
  })
})

describe('no tagged block', () => {
  it.each([
    ['a tag in a sentence', 'Answer from the <document> tag, and not from <document>x</document>.'],
    ['an element in a sentence', 'Use <context>this</context> please.'],
    ['the place of a context', 'Use what is inside\n<context></context> tags.'],
    ['an unclosed tag', '<document>\nnever closed\n<document>'],
    ['a stray closing tag', 'x\n</document>\n<document>'],
    ['a self-closing tag', '<document/>\n<document />\n<document id="1"/>'],
    ['a longer name', '<documentation>\nA\n</documentation>\n<docx>B</docx>'],
    ['inline code', '`<document>A</document>` is how it looks'],
    ['fenced code', 'Look:\n```xml\n<document>A</document>\n```\nWhy?'],
    ['code in a fence of tildes', '~~~\n```\n<document>A</document>\n~~~\n'],
    ['code in an unclosed fence', 'Look:\n```\n<document>A</document>\n\nWhy?'],
    ['a quotation', '> <document>A</document>\n> <document>B</document>'],
    ['a broken tag', '<document title="x>\nA\n</document>'],
    ['crossing elements', '<documents>\n<document>A\n</documents>\n</document x'],
    ['a field of a record', '<item>\n<source>a.pdf</source>\n<content>A</content>\n</item>'],
  ])('is %s', (_, text) => {
    expect(contentsOf(text)).toEqual(text.startsWith('<documents>') ? [['<document>A']] : [])
  })

  it('and the real ones around it are found', () => {
    const text =
      'Cite as in <document id="1">. Not this:\n```\n<document id="9">X</document>\n```\n<document id="1">A</document>\n<document id="2">B</document>\nWhat is <document>?'
    expect(contentsOf(text)).toEqual([['A', 'B']])
  })
})

describe('a single element for a text, in a container', () => {
  const chunks = '<chunk>It rained.</chunk>\n<chunk>The sun shone.</chunk>'
  const file = `<file>\n<filename>a.pdf</filename>\n<context>\n${chunks}\n</context>\n</file>`

  it('is a block', () => {
    expect(contentsOf(`Here is my file:\n<context>\n${file}\n</context>\n\nWhy?`)).toEqual([[file.slice(7, -8)]])
  })

  it('is a block where it has siblings, or is not in a container', () => {
    const [first] = contentsOf(
      `A search retrieved this:\n<context>\n${file}\n${file.replace('rained', 'hailed')}\n</context>\n\nWhy?`,
    )
    expect(first?.map((text) => text.includes('<chunk>'))).toEqual([true, true])
    expect(contentsOf(`${file}\n\nWhy?`)).toEqual([[file.slice(7, -8)]])
  })
})

describe('elements of any kind of data, returned by a tool with no telling name', () => {
  const entries = '<entry><content>It rained.</content></entry>\n\n<entry><content>The sun shone.</content></entry>'
  const traits = { whole: true, tool: 'qd-find' }

  it('are found where the first line says that they answer a query', () => {
    const found = ['<content>It rained.</content>', '<content>The sun shone.</content>']
    expect(contentsOf(`Results for the query 'rain'\n\n${entries}`, traits)).toEqual([found])
  })

  it('are left alone elsewhere', () => {
    expect(contentsOf(`Output of the run\n\n${entries}`, traits)).toEqual([])
    expect(contentsOf(`Results for the query 'rain'\n\n${entries}`, { whole: true, tool: 'list_events' })).toEqual([])
    expect(contentsOf(entries, traits)).toEqual([])
  })
})
