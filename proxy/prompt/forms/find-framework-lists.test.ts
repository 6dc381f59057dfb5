import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { findContextLists } from './found-lists.fixture.ts'

/* Requests sent by current releases of the frameworks, recorded by e2e/fixtures/generate.sh. */

interface Fixture {
  readonly framework: string
  readonly version: string
  readonly what: string
  readonly expected:
    | { readonly blocks: readonly string[] }
    | { readonly alone: string; readonly documents: readonly string[] }
  readonly body: { readonly messages: readonly { readonly role: string; readonly content: unknown }[] }
}

const folder = new URL('../../../e2e/fixtures/', import.meta.url)
const fixtures = readdirSync(folder)
  .filter((name) => name.endsWith('.json'))
  .map((name): [string, Fixture] => [name.slice(0, -5), JSON.parse(readFileSync(new URL(name, folder), 'utf8'))])
const found = fixtures.filter(([, { expected }]) => 'blocks' in expected)
const alone = fixtures.filter(([, { expected }]) => 'alone' in expected)

/** Returns the block contents in every message except the assistant's, list by list. */
function listsOf({ body }: Fixture): string[][] {
  return body.messages.flatMap(({ role, content }) => {
    if (role === 'assistant' || typeof content !== 'string') return []
    return findContextLists(content, { whole: role === 'tool' }).map(({ blocks }) =>
      blocks.map(({ contentStart, contentEnd }) => content.slice(contentStart, contentEnd)),
    )
  })
}

describe('in the request of', () => {
  it.each(found)('%s exactly the documents that went in are found', (_, fixture) => {
    const { expected } = fixture
    expect(listsOf(fixture)).toEqual(['blocks' in expected ? expected.blocks : []])
  })

  it.each(alone)('%s nothing can change places: its documents have no borders', (_, fixture) => {
    for (const list of listsOf(fixture)) expect(list).toHaveLength(1)
  })

  it.each(fixtures)('%s every document stands as it went in', (_, { expected, body }) => {
    const documents = 'blocks' in expected ? expected.blocks : expected.documents
    const texts = body.messages.map(({ content }) => (typeof content === 'string' ? content : ''))
    expect(documents.length).toBeGreaterThan(0)
    for (const document of documents) expect(texts.some((text) => text.includes(document))).toBe(true)
  })
})

it('the frameworks that are named are all there, each with its version', () => {
  const names = new Set(fixtures.map(([, { framework }]) => framework))
  for (const name of ['LangChain', 'LlamaIndex', 'Haystack', 'Dify', 'Open WebUI', 'Mem0'])
    expect(names).toContain(name)
  for (const [, { version, what }] of fixtures) {
    expect(version).toMatch(/^[a-z][a-z0-9-]* \d+\.\d+/)
    expect(what).not.toBe('')
  }
})
