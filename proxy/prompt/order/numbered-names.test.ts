import { describe, expect, it } from 'vitest'
import { contentsOf } from '../forms/found-lists.fixture.ts'
import { areNumberedNames } from './numbered-names.ts'

const three = (write: (n: number) => string): string[] => [1, 2, 3].map(write)

describe('names number the parts of one source', () => {
  it.each([
    [three((n) => `source="report.pdf#${n}"`)],
    [three((n) => `[report.pdf#page=${n}]:`)],
    [three((n) => `Source: report.pdf\nPage: ${n}\n`)],
    [three((n) => `title="Slide ${4 - n}"`)],
    [three((n) => `title="[PATCH ${n}/3] fix"`)],
    [three((n) => `name="report-part-${n}"`)],
    [[1, 2, 4].map((n) => `path="migrations/000${n}_x.sql"`)],
    [['path="db/V1__users.sql"', 'path="db/V2__orders.sql"']],
    [['source="01-intro.md"', 'source="02-setup.md"', 'source="10-end.md"']],
    [three((n) => `Seite ${n}`)],
    [[2019, 2020, 2022].map((year) => `source="report-${year}.pdf"`)],
    [three((n) => `title="Minutes of meeting ${n}"`)],
    [three((n) => `Source: log_2024060${n}.txt`)],
  ])('%j', (names) => expect(areNumberedNames(names)).toBe(true))
})

describe('names are those of texts of their own', () => {
  it.each([
    [three((n) => `source="doc-${n}.md"`)],
    [three((n) => `${n}.md`)],
    [three((n) => `https://a.example/${n}`)],
    [three((n) => `score="0.0${n}"`)],
    [['page_label: 4\nfile_path: a.pdf', 'page_label: 5\nfile_path: b.pdf']],
    [['page="4"', 'page="9"']],
    [[4, 1, 7].map((n) => `page="${n}"`)],
    [three(() => 'source="report.pdf"')],
  ])('%j', (names) => expect(areNumberedNames(names)).toBe(false))
})

describe('a list stays where its marks number the parts of one source', () => {
  const texts = ['It rained in Oslo all day.', 'The sun shone in Rome again.', 'It snowed in Bern at last.']
  const found = (write: (text: string, n: number) => string): number =>
    contentsOf(`${texts.map((text, i) => write(text, i + 1)).join('\n\n')}\n\nQuestion: why?`).flat().length
  it.each<[string, (text: string, n: number) => string, (text: string, n: number) => string]>([
    [
      'tags',
      (text, n) => `<document source="report.pdf#${n}">${text}</document>`,
      (text, n) => `<document source="doc-${n}.md">${text}</document>`,
    ],
    [
      'their number of all',
      (text, n) => `<chunk index="${n}" total="3">${text}</chunk>`,
      (text, n) => `<chunk index="${n}">${text}</chunk>`,
    ],
    [
      'records',
      (text, n) => `Source: a.pdf\nPage: ${n}\nContent: ${text}`,
      (text, n) => `Source: ${'bac'[n - 1]}.pdf\nPage: ${n}\nContent: ${text}`,
    ],
    [
      'labels',
      (text, n) => `Document ${n}: § ${n} ${text}`,
      (text, n) => `Document ${n}: § ${[3, 1, 7][n - 1]} ${text}`,
    ],
  ])('%s', (_, ordered, other) => {
    expect(found(ordered)).toBe(0)
    expect(found(other)).toBe(3)
  })

  it('words of a title without quotes are no fields', () => {
    expect(found((text, n) => `<result index=${n} title=Trains from Rome to Oslo>${text}</result>`)).toBe(3)
    expect(found((text, n) => `<result index=${n} from="${n}">${text}</result>`)).toBe(0)
  })
})
