import { describe, expect, it } from 'vitest'
import { behindLists, contentsOf, findContextLists } from '../found-lists.fixture.ts'

const rain = 'It rained.\n\nAll day.\n\n---\n\n| a | b |\n|---|---|'
const sun = 'The sun shone.\r\n\r\n# In Rome ❄️'

describe('records that begin with the same fields', () => {
  const fenced = (one: string, two: string): string =>
    `Context information is below.\n---------------------\n${one}\n\n${two}\n---------------------\nGiven the context information, answer.\nQuery: why?\nAnswer: `

  it('are blocks from fence to fence, with their fields', () => {
    const [one, two] = [`page_label: 1\nfile_path: a.md\n\n${rain}`, `page_label: 7\nfile_path: b.md\n\n${sun}`]
    expect(contentsOf(fenced(one, two))).toEqual([[one, two]])
    expect(behindLists(fenced(one, two))[0]).toMatch(/^\n-{21}\nGiven/)
  })

  it('are blocks to the end of a tool result, and of any text that nothing can follow', () => {
    const text = `Source: {'source': 'a.md'}\nContent: ${rain}\n\nSource: {'source': 'b.md'}\nContent: ${sun}`
    expect(findContextLists(text, { whole: true })[0]?.blocks).toHaveLength(2)
    expect(contentsOf(text)).toEqual([])
    expect(contentsOf(`${text}\n\nQuestion: why?`)[0]).toHaveLength(2)
  })

  it('may have a title, an address and a snippet', () => {
    const [one, two] = [
      'Title: Rain\nURL: http://a.example\nSnippet: It rained.',
      'Title: Sun\nURL: http://b.example\nSnippet: It shone.',
    ]
    expect(contentsOf(`Results:\n${one}\n\n${two}\n\nWhich?`)).toEqual([[one, two]])
  })

  it.each([
    [
      'with other fields between them',
      `file_path: a.md\n\n${rain}\n\npage_label: 2\nfile_path: b.pdf\n\nx\n\nfile_path: c.md\n\n${sun}`,
    ],
    ['that stand in the middle of a paragraph', `file_path: a.md\n\n${rain}\nfile_path: c.md\n\n${sun}`],
    ['that are words with a colon', `Note: it rains\n\n${rain}\n\nNote: it shines\n\n${sun}`],
    ['of which there is one', `file_path: a.md\n\n${rain}`],
  ])('are left alone: %s', (_, records) => {
    expect(contentsOf(`Context:\n${records}\n\nQuestion: why?`)).toEqual([])
  })

  it('are left alone when only the last seems to have a second paragraph, in front of the question', () => {
    const records = 'Title: a\nContent: It rained.\n\nTitle: b\nContent: It shone.'
    expect(contentsOf(`Sources:\n\n${records}\n\nHer home is Rome.\n\nQuestion: why?`)).toEqual([])
    // a remark on the user belongs to the prompt
    expect(contentsOf(`Sources:\n\n${records}\n\nThe user lives in Rome.\n\nQuestion: why?`)[0]).toHaveLength(2)
    const others = 'Title: a\nContent: It rained.\n\nMore.\n\nTitle: b\nContent: It shone.'
    expect(contentsOf(`Sources:\n\n${others}\n\nMore of it.\n\nQuestion: why?`)[0]).toHaveLength(2)
  })

  it('leave the fence to its place when one of them holds a rule like it', () => {
    const text = 'Use this.\n-----\nfile_path: a.md\n\nA\n-----\nA2\n\nfile_path: b.md\n\nB\n-----\n\nQuery: q'
    expect(contentsOf(text)).toEqual([['file_path: a.md\n\nA\n-----\nA2', 'file_path: b.md\n\nB']])
    expect(behindLists(text)).toEqual(['\n-----\n\nQuery: q'])
  })
})

it('a record whose prompt may begin in its last text is left alone', () => {
  const record = (name: string): string => `Title: ${name}\nContent: It is ${name}.\n\nAll of it.\n`
  const write = (behind: string): string =>
    `Use this documentation:\n\n${record('Oslo')}\n${record('Rome')}\n\n${behind}Question: why?`
  expect(contentsOf(write(''))).toHaveLength(1)
  expect(contentsOf(write('Make sure to cite the documents.\n\n# Orders\n\nname: Tent\n\n'))).toEqual([])
})

describe('the template of LlamaIndex for citations, with metadata', () => {
  const write = (texts: readonly string[]): string =>
    `Answer from the sources.\n------\n${texts.map((text, i) => `file_path: ${'bca'[i]}.md\n\nSource ${i + 1}:\n${text}\n`).join('\n')}------\nQuery: why?\nAnswer: `

  it.each([
    ['one line each', ['It rained.', 'It shone.', 'Wind.']],
    ['several paragraphs', ['It rained.\n\nAll day.', 'It shone.\n\nAll night.', 'Wind.\n\nAnd more.']],
  ])('is found, and the number of each source stays in its place: %s', (_, texts) => {
    const [list, ...others] = findContextLists(write(texts))
    expect(others).toEqual([])
    expect(list).toMatchObject({ positional: true, labelPrefix: 'Source ' })
    expect(list!.blocks.map(({ start, end }) => write(texts).slice(start, end))).toEqual(
      texts.map((text, i) => `file_path: ${'bca'[i]}.md\n\nSource ${i + 1}:\n${text}`),
    )
    expect(list!.blocks.map(({ label }) => write(texts).slice(label!.start, label!.end))).toEqual(['1', '2', '3'])
  })
})

describe('one template is found or left alone whatever its texts are', () => {
  it.each([
    ['code', ['function a() {\n  if (x) {', '    return 1\n  }', '}\nfunction b() {']],
    ['a story', ['Once there was a king.', 'Then he died.', 'At last it was over.']],
    ['talks', ['Ann: hello', 'Bo: hello', 'Ann: bye']],
    [
      'mails',
      [
        'From: ann@x.org\nSubject: Re: plan\n\nYes.',
        'From: bo@x.org\nSubject: Re: plan\n\nNo.',
        'From: cy@x.org\nSubject: Re: plan\n\nYes.',
      ],
    ],
    [
      'cut sentences',
      [
        'The committee met and decided that the',
        'old bridge, which had been closed, should be',
        'opened again in the spring.',
      ],
    ],
  ])('with %s', (_, texts) => {
    const text = `Context:\n\n${texts.map((own, i) => `Source: ${'bca'[i]}.md\nContent: ${own}`).join('\n\n')}\n\nQuestion: why?`
    expect(findContextLists(text).map(({ blocks }) => blocks.length)).toEqual([3])
  })
})

describe('records of a tool, cut off within their code', () => {
  const code = 'Sun.\n\n```ts\nlet sun'
  const pages = (first: string, text: string): string =>
    [first, 'Rain', 'Wind', 'Snow'].map((title) => `Page: ${title}\nSummary: It is ${title}. ${text}`).join('\n\n')

  it('are found if the first one is, whatever number its title begins with', () => {
    const text = pages('2. Sun', code)
    expect(contentsOf(text, { whole: true, tool: 'web_search' })[0]).toHaveLength(4)
  })

  it('are left alone if the first one is not a record, because the others may not be all', () => {
    for (const first of ['3', '3 of 8', '…']) {
      expect(contentsOf(pages(first, code), { whole: true, tool: 'web_search' })).toEqual([])
    }
  })
})
