import { describe, expect, it } from 'vitest'
import { splitMarkdown } from './split-markdown.ts'

describe('splitMarkdown', () => {
  it('cuts at headings and keeps the headings above each part', () => {
    const parts = splitMarkdown('# A\n\none\n\n## B\n\ntwo\n\n# C\nthree\n')
    expect(parts).toEqual([
      { headings: ['A'], paragraphs: ['# A', 'one'] },
      { headings: ['A', 'B'], paragraphs: ['## B', 'two'] },
      { headings: ['C'], paragraphs: ['# C\nthree'] },
    ])
  })

  it('takes nothing in a code fence for a heading or a paragraph end', () => {
    const fence = '```sh\n# not a heading\n\necho\n```'
    expect(splitMarkdown(`# A\n\n${fence}\n\nend`)).toEqual([{ headings: ['A'], paragraphs: ['# A', fence, 'end'] }])
  })

  it('ends a fence only at its own kind, at least as long', () => {
    const fence = '````md\n```js\n# inner\n```\n````'
    expect(splitMarkdown(fence)).toEqual([{ headings: [], paragraphs: [fence] }])
  })

  it('names a heading by its words, without links, tags and marks', () => {
    const [part] = splitMarkdown('## <a name="x"></a>`Pool` [close](#close) ![badge](b.svg)\n')
    expect(part?.headings).toEqual(['Pool close'])
  })

  it('keeps the brackets of a signature', () => {
    const [part] = splitMarkdown('### `pool.close([callback])`\n')
    expect(part?.headings).toEqual(['pool.close([callback])'])
  })
})
