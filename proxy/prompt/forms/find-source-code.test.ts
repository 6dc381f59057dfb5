import { describe, expect, it } from 'vitest'
import { contentsOf } from './found-lists.fixture.ts'

const models =
  'class Ask:\n    question: int\n    answer: str | None = None\n\n    input: list[str]\n\ndef ask() -> None: ...'
const routes = "export const routes = {\n  responses: '/v1/responses',\n\n  query: body.query,\n  task: {\n  },\n}"
const patched =
  'def cpu() -> None:\n    """Runs it."""\n\n    with pytest.MonkeyPatch.context() as patch:\n        yield'
const files = [models, routes, patched]

describe('documents of source code', () => {
  it.each([
    ['Document n:', (code: string, i: number) => `Document ${i + 1}:\n${code}`],
    ['[n]', (code: string, i: number) => `[${i + 1}] ${code}`],
    ['Source n:', (code: string, i: number) => `Source ${i + 1}: ${code}`],
  ])('below %s are blocks, whichever comes last', (_, label) => {
    for (const [first, second, last] of [files, files.toReversed(), [patched, models, routes]] as string[][]) {
      const own = [first!, second!, last!]
      const list = own.map(label).join('\n\n')
      expect(contentsOf(`Context:\n\n${list}\n\nQuestion: What is it?`)).toEqual([own])
      expect(contentsOf(`Context:\n\n${list}\n\nQuestion: What is it?\nAnswer:`)).toEqual([own])
    }
  })

  it('are not torn where the last one alone has blank lines, and goes on with a comment', () => {
    const list = '[1] a = 1\n[2] b = 2\n[3] import c\n\n# of all pages\nd = 4'
    expect(contentsOf(`Context:\n\n${list}\n\nQuestion: What is it?`)).toEqual([])
    expect(contentsOf('[1] a\n[2] b\n\n# Instructions\nBe brief.\n\nQuestion: Why?')).toEqual([['a', 'b']])
  })

  it('and of Markdown keep headings that the last one alone has', () => {
    const blocks = ['A\n\nmore of A', 'B\n\n## `parse(input)`\n\nParses.']
    const list = blocks.map((text, i) => `[${i + 1}] ${text}`).join('\n\n')
    expect(contentsOf(`Context:\n\n${list}\n\nQuestion: Why?`)).toEqual([blocks])
    expect(contentsOf(`Results:\n\n${list}`, { whole: true })).toEqual([blocks])
    // a prompt with such headings may continue with one
    expect(contentsOf(`## Context\n\n${list}\n\nQuestion: Why?`)).toEqual([['A\n\nmore of A', 'B']])
    const lines = '[1] A\n[2] B\n\n## Header\n\nIt is a class.'
    expect(contentsOf(`Context:\n\n${lines}\n\nQuestion: Why?`)).toEqual([])
  })

  it('do not hide what asks below them', () => {
    const list = '[1] A\n\nand more\n\n[2] B\n\nand more'
    for (const asked of ['question: integers', '    question: what is an int?', '  query: body', 'query: int']) {
      expect(contentsOf(`Context:\n\n${list}\n\n${asked}`)).toEqual([['A\n\nand more', 'B\n\nand more']])
    }
  })
})

it('a file ends where the next one follows at once, or the text ends, whatever fences it holds', () => {
  const cut = 'call it\n```\nand so on'
  const named = 'Run it:\n```sh\nmake\n```\nDone.'
  for (const files of [
    [cut, 'It rained.', 'The sun shone.'],
    [named, cut, named],
  ]) {
    const written = files.map((text, i) => `src/${'abc'[i]}.md\n\`\`\`\n${text}\n\`\`\``)
    expect(contentsOf(`I added these files to the chat.\n\n${written.join('\n\n')}\n`)).toEqual([files])
  }
  expect(contentsOf(`These files:\n\na.md\n\`\`\`\nA\n\`\`\`\n\nb.md\n\`\`\`\n${named}\n\`\`\`\n\nWhy?`)).toEqual([
    ['A', named],
  ])
})
