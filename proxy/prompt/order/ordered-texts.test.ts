import { describe, expect, it } from 'vitest'
import { findSureLists } from '../forms/found-lists.fixture.ts'

/** Returns how many blocks are found in these texts, each written in a form, or why there are none. */
function judge(
  texts: readonly string[],
  write = (text: string, _: number) => `<document>\n${text}\n</document>`,
): string {
  const { lists, refusals } = findSureLists(`Context:\n${texts.map(write).join('\n')}\n\nQuestion: why?`)
  return lists.length > 0 ? `${lists[0]!.blocks.length}` : (refusals[0]?.refused ?? 'nothing')
}

describe('texts stay where they are', () => {
  it('that are alike up to a date which rises or falls', () => {
    const minutes = (dates: readonly string[]): string[] =>
      dates.map((date) => `Minutes of the meeting, ${date}\n\nWe met.`)
    expect(judge(minutes(['3 March 2024', '7 April 2024', '5 May 2024']))).toBe('ordered_texts')
    expect(judge(minutes(['12 May 2024', '11 May 2024', '9 May 2024']))).toBe('ordered_texts')
    expect(judge(minutes(['7 April 2024', '3 March 2024', '5 May 2024']))).toBe('3')
  })
  it.each([
    [['On 3 May it rained.', 'On 9 May it snowed.', 'On 2 June it rained.'], 'ordered_texts'],
    [['Le 3 mai, il pleut.', 'Le 9 mai, il neige.', 'Le 2 juin, il pleut.'], 'ordered_texts'],
    [['5月3日：下雨。', '5月9日：下雪。', '6月2日：下雨。'], 'ordered_texts'],
    [['On 9 May it rained.', 'On 3 May it snowed.', 'On 12 June it rained.'], '3'],
  ])('that begin with days of a year: %j', (texts, judged) => expect(judge(texts)).toBe(judged))
})

describe('dates in tags that rise or fall keep their texts in place', () => {
  const dated = (dates: readonly string[], before = ''): string =>
    judge(
      ['It rained.', 'It snowed.', 'The sun shone.', 'It hailed.'],
      (text, i) => `<document ${before}date="${dates[i]}">${text}</document>`,
    )
  it.each([
    [['1999', '2003', '2010', '2020']],
    [['2024-04-13', '2024-03-09', '2024-03-05', '2024-03-01']],
    [['March 2024', 'April 2024', 'May 2024', 'June 2024']],
    [['March 1', 'March 5', 'April 9', 'May 1']],
  ])('%j', (dates) => {
    expect(dated(dates)).toBe('ordered_fields')
    // however far from the beginning of their tags
    expect(dated(dates, `url="https://example.org/${'x'.repeat(300)}" `)).toBe('ordered_fields')
    const [first, ...others] = dates
    expect(dated([others[1]!, first!, others[2]!, others[0]!])).toBe('4')
  })
})

describe('what is told of keys is no order', () => {
  it('but of which text each is', () => {
    const write = (text: string, i: number): string =>
      `Document ${i + 1} (ID: ${[11, 48, 85][i]}, Source: a${i}.md):\n${text}\n`
    expect(judge(['It rained in Oslo.', 'The sun shone in Rome.', 'It snowed in Bern.'], write)).toBe('3')
  })
})

describe('evidence is needed for', () => {
  const items = (tag: string): string =>
    `<${tag}>\n<item>Switch it off.</item>\n<item>Open the cover.</item>\n</${tag}>\n\nQuestion: why?`
  it.each(['procedure', 'agenda', 'todo'])('elements of any data in <%s>', (tag) => {
    expect(findSureLists(items(tag))).toMatchObject({ lists: [], refusals: [{ refused: 'no_evidence' }] })
  })
  it.each(['documents', 'knowledge_base'])('but not in <%s>', (tag) => {
    expect(findSureLists(items(tag)).lists).toHaveLength(1)
  })
  it('rows of results', () => {
    const rows = (write: (n: number) => string): number =>
      findSureLists(`Results:\n${[1, 2, 3].map((n) => `Result ${n}: ${write(n)}\n`).join('')}\nWhy?`).lists.length
    expect(rows((n) => `Ann ${n}, 3:01:22`)).toBe(0)
    expect(
      rows((n) => `It rained in Oslo on ${[5, 2, 9][n - 1]} days of the year, and the sun shone on the others.`),
    ).toBe(1)
  })
  it('comments that name a source', () => {
    const files = '# Source: base.conf\nlisten 80;\n\n# Source: tls.conf\nlisten 443 ssl;\n'
    expect(findSureLists(`${files}\nQuestion: why?`).lists).toEqual([])
    expect(findSureLists(`Documents:\n\n${files}\nQuestion: why?`).lists).toHaveLength(1)
  })
  it('pages and sections of JSON', () => {
    const json = (own: object): string =>
      JSON.stringify({ pages: [1, 2].map((n) => ({ text: `It rained in Oslo ${n}.`, ...own })) })
    expect(findSureLists(`Context:\n${json({})}\n\nQuestion: why?`).lists).toEqual([])
  })
})

describe('a document in a closed list', () => {
  it('may tell an answer', () => {
    const docs = (last: string): string =>
      `<results>\nDocument: 0\ntitle: A\ntext: It rained.\n\nDocument: 1\ntitle: B\ntext: ${last}\n</results>`
    const text = docs('**Prompt:** Why?\n\n**Response:**\n\nIt was wet.')
    const { blocks } = findSureLists(text, { asked: true }).lists[0]!
    expect(text.slice(blocks[1]!.start, blocks[1]!.end)).toMatch(/It was wet\.$/)
  })
})
