import { describe, expect, it } from 'vitest'
import { contentsOf } from '../found-lists.fixture.ts'

const searched = { whole: true, tool: 'search_docs' }
const texts = [`'It rained all\\nday in Oslo.'`, `"It's the sun over Rome."`, `'Wind blows \\'hard\\' [1], {2}'`]
const names = ['oslo', 'rome', 'bonn']
const dicts = texts.map(
  (text, i) => `{'title': '${names[i]}', 'url': 'https://${names[i]}.example', 'content': ${text}}`,
)
const documents = texts.map(
  (text, i) => `Document(metadata={'source': '${names[i]}.md', 'page': ${7 - i}}, page_content=${text})`,
)
const print = (own: readonly string[]): string => `[${own.join(', ')}]`

describe('what Python prints', () => {
  it.each([
    ['texts', print(texts), texts],
    ['texts in an object', `{'Query': 'why', 'Retrieved Context': ${print(texts)}}`, texts],
    ['objects with addresses', print(dicts), dicts],
    ['objects in an object', `{'query': None, 'results': ${print(dicts)}, 'took': 0.31, 'more': False}`, dicts],
    ['documents', print(documents), documents],
  ])('is a list in what a search tool returns: %s', (_, text, found) => {
    expect(contentsOf(text, searched)).toEqual([found])
  })

  it('is a list below words that announce it, if it has documents of a retriever', () => {
    for (const front of ['Context: ', 'Use the following context:\n', '<context>\n']) {
      const behind = front.startsWith('<') ? '\n</context>' : ''
      const text = `Answer the question.\n\n${front}${print(documents)}${behind}\n\nQuestion: why?`
      expect(contentsOf(text)).toEqual([documents])
    }
  })

  it.each([
    ['texts of a user', `Context: ${print(texts)}\n\nQuestion: why?`, {}],
    ['objects of a user', `Context: ${print(dicts)}\n\nQuestion: why?`, {}],
    ['documents that nothing announces', `Then it prints: ${print(documents)}\n\nWhy?`, {}],
    ['documents with words behind', `Context: ${print(documents)} and more\n\nQuestion: why?`, {}],
    ['documents in a fence', `Context:\n\`\`\`\n${print(documents)}\n\`\`\`\n\nQuestion: why?`, {}],
    ['what another tool returns', print(dicts), { whole: true, tool: 'run_python' }],
    ['a list that breaks off', print(dicts).slice(0, -4), searched],
    ['a quotation that is open', print(texts).replace(`\\'hard`, `'hard`), searched],
    ['speakers', print(dicts).replaceAll("'title'", "'speaker'"), searched],
    ['steps', print(dicts).replaceAll("'title': '", "'step': '1"), searched],
    ['dates that rise', print(dicts.map((one, i) => one.replace("'title': '", `'date': '202${i}-01-02 `))), searched],
    [
      'pages of one file',
      print(documents.map((one, i) => one.replace(/'source': '\w+/, `'source': '000${i + 1}_a`))),
      searched,
    ],
    ['pages of the same file', print(documents.map((one) => one.replace(/'source': '\w+/, "'source': 'a"))), searched],
    ['texts under a name for something else', `{'Steps': ${print(texts)}}`, searched],
    ['two lists', `{'results': ${print(dicts)}, 'documents': ${print(dicts)}}`, searched],
    ['short values', `['a', 'b', 'c']`, searched],
    ['a single one', print(dicts.slice(0, 1)), searched],
  ])('is left alone: %s', (_, text, traits) => {
    expect(contentsOf(text, traits).filter((found) => found.length > 1)).toEqual([])
  })
})
