import { describe, expect, it } from 'vitest'
import { contentsOf } from '../found-lists.fixture.ts'

const texts = ['Rain fell in Oslo all day.', 'The sun shone in Rome.', 'Snow lay in Bergen.']

/** Builds search results as a service returns them, with one additional field. */
function results(field: string, toValue: (at: number) => unknown): string {
  const found = texts.map((content, at) => ({ title: `T${at}`, url: `http://h/${at}`, content, [field]: toValue(at) }))
  return JSON.stringify({ results: found })
}

describe('lists whose fields say that their order means something', () => {
  it.each(['publishedAt', 'pubDate', 'age', 'ts', 'revision', 'verse', 'round', 'lastModified', 'fecha', '日期'])(
    'are left alone: JSON with %s',
    (field) => {
      expect(contentsOf(results('language', () => 'en'))).toHaveLength(1)
      expect(contentsOf(results(field, (at) => at))).toEqual([])
    },
  )

  it.each([
    ['documents', 'document', 'step'],
    ['documents', 'document', 'speaker'],
    ['context', 'chunk', 'startTime'],
  ])('are left alone: <%s><%s %s="…">', (container, name, attribute) => {
    const list = (extra: (at: number) => string): string => {
      const elements = texts.map((text, at) => `<${name} source="s${at}"${extra(at)}>\n${text}\n</${name}>`)
      return `<${container}>\n${elements.join('\n')}\n</${container}>\n\nWhere did it rain?`
    }
    expect(contentsOf(list(() => ''))).toHaveLength(1)
    // the container around them may be a block, which is alone
    for (const blocks of contentsOf(list((at) => ` ${attribute}="${at}"`))) expect(blocks).toHaveLength(1)
  })

  it('are left alone: numbered paragraphs of what is called one text', () => {
    const list = (lead: string): string =>
      `${lead}\n\n${texts.map((text, at) => `[${at + 1}] ${text}`).join('\n\n')}\n\nQuestion: Where did it rain?`
    expect(contentsOf(list('Answer from the sources below.'))).toHaveLength(1)
    expect(contentsOf(list('Read the judgment below.'))).toEqual([])
    expect(contentsOf(list('Here is a story.'))).toEqual([])
  })

  it('are none: fields below a key of YAML, whose next document would be torn', () => {
    const manifest = (name: string): string => `metadata:\n  name: ${name}\nmessage: Image pulled.`
    const text = `Manifests:\n${['a', 'b', 'c'].map(manifest).join('\n---\n')}\n\nWhat broke it?`
    expect(contentsOf(text)).toEqual([])
  })
})
