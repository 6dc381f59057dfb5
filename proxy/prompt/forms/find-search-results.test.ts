import { describe, expect, it } from 'vitest'
import { contentsOf } from './found-lists.fixture.ts'

const searched = { whole: true, tool: 'web_search' }

describe('papers that begin with their dates', () => {
  const write = (...dates: readonly string[]): string =>
    dates
      .map((date, i) => `Published: ${date}\nTitle: Rain ${'abc'[i]}\nAuthors: A, B\nSummary: It rained.`)
      .join('\n\n')

  it('are found in what a search returns, if the dates neither rise nor fall', () => {
    const text = write('2021-05-02', '2024-01-03', '2019-07-08')
    for (const tool of ['arxiv', 'search_papers', 'semantic_scholar']) {
      expect(contentsOf(text, { whole: true, tool })[0]).toHaveLength(3)
    }
  })

  it.each([
    ['rise', write('2019-07-08', '2021-05-02', '2024-01-03'), searched],
    ['fall', write('2024-01-03', '2021-05-02', '2019-07-08'), searched],
    ['are read by a tool', write('2021-05-02', '2024-01-03', '2019-07-08'), { whole: true, tool: 'get_feed' }],
    ['come from another tool', write('2021-05-02', '2024-01-03', '2019-07-08'), { whole: true, tool: 'papers' }],
    ['are told by a user', `Sources:\n${write('2021-05-02', '2024-01-03', '2019-07-08')}\n\nQuestion: why?`, {}],
  ])('are left alone where they %s', (_, text, traits) => {
    expect(contentsOf(text, traits)).toEqual([])
  })

  it('may have a number and the text on the next line', () => {
    const paper = (id: number, text: string): string =>
      `PMID: ${id}\nPublished: 2021-0${id % 10}-02\nTitle: Rain\nCopyright Information: \nSummary::\n${text}`
    const papers = [paper(94, 'It rained.'), paper(17, 'Sun.'), paper(58, 'Wind.')]
    expect(contentsOf(papers.join('\n\n'), { whole: true, tool: 'pub_med' })).toEqual([papers])
  })
})

describe('facts below a date of their own', () => {
  it('are found in a container for facts, however short', () => {
    const facts = ['Ann owns a boat', 'Bo likes tea', 'Cy has two'].map((fact, i) => ({
      fact,
      valid_at: `202${i % 2}-01-01`,
    }))
    expect(contentsOf(`<FACTS>\n${JSON.stringify(facts)}\n</FACTS>`, { asked: true })[0]).toHaveLength(3)
    expect(contentsOf(`<rules>\n${JSON.stringify(facts)}\n</rules>`, { asked: true })).toEqual([])
  })
})
