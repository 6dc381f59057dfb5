import { describe, expect, it } from 'vitest'
import { findSureLists } from '../forms/find-context-lists.ts'

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

  it('that go on with words for it', () => {
    const [king, eldest] = ['Once there was a king with three sons.', 'One day the eldest went into the wood.']
    expect(judge([king!, eldest!, 'Then the second went to look for him.', 'At last they came home.'])).toBe(
      'ordered_texts',
    )
    expect(judge([king!, eldest!, 'Then the second went to look for him.'])).toBe('3')
    expect(judge(['王有三个儿子。', '然后老大走进森林。', '最后他们回家了。'])).toBe('ordered_texts')
  })

  it('and not those that a heading begins', () => {
    const page = (title: string): string => `${title}\n\nLearn how to deploy.`
    expect(judge(['Examples', 'Next steps', 'Pricing', 'Next steps', 'Finally'].map(page))).toBe('5')
    expect(judge(['It began.', 'Then he went on', 'and on to the sea.\nFine', 'Then he went\nto the shore'])).toBe(
      'ordered_texts',
    )
  })

  it('that are pieces of one file', () => {
    const pieces = ['function a() {\n  if (x) {', '    return 1\n  }', '}\n\nfunction b() {', '  return 2\n}']
    expect(judge(pieces)).toBe('ordered_texts')
    expect(judge(pieces, (text) => `Source: a.ts\nContent: ${text}\n`)).toBe('ordered_texts')
    expect(judge(['function a() {\n  return 1\n}', 'function b() {\n  return 2\n}'])).toBe('2')
    // retrieved pieces: braces match by chance, and pieces begin at the margin while some braces are open
    const found = [
      'impl A {',
      '    return 1',
      '# python',
      'package b;\nclass B {',
      '    run() {\n  }',
      '  }\n}\n',
      'fn c() {',
    ]
    expect(judge(found)).toBe('7')
  })

  it('of which one label says that it goes on', () => {
    const write = (labels: readonly string[]) => (text: string, i: number) => `Document ${labels[i]}: ${text}\n`
    const texts = ['It rained in Oslo all day.', 'The sun shone in Rome.']
    expect(judge(texts, write(['1', '1 (continued)']))).toBe('ordered_texts')
    expect(judge(texts, write(['1', '2']))).toBe('2')
  })

  it('that are memories of what happened when', () => {
    const memories = (days: readonly number[], [open, close] = ['', ':']): number => {
      const text = `User Memories:\n${days.map((day) => `- ${open}2024-05-0${day}${close} Was in Oslo\n`).join('')}`
      return findSureLists(text).lists.length
    }
    expect(memories([1, 2, 5])).toBe(0)
    expect(memories([1, 5, 2])).toBe(1)
    expect(memories([1, 2, 5], ['[', ']'])).toBe(1)
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
    expect(
      findSureLists(`<context>\n${items(tag)}\n</context>`).lists.flatMap(({ blocks }) => blocks).length,
    ).toBeLessThan(2)
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
