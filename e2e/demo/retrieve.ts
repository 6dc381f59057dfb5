import MiniSearch from 'minisearch'
import type { Section } from './corpus.ts'

/** Finds the sections that best match a question, best first. */
export type Retrieve = (query: string, topK: number) => Section[]

const STOP_WORDS = new Set(
  (
    'a about all also am an and any are as at be but by can did do does for from had has have how i if in is it its ' +
    'made make many may me more my no not of on one or our own should so some such than that the their them then ' +
    'there these they this those to use used using was we what when where which who why will with without would you'
  ).split(' '),
)

/** Creates a BM25+ retriever over titles and texts. */
export function createRetriever(sections: readonly Section[]): Retrieve {
  const byId = new Map(sections.map((section) => [section.id, section]))
  const index = new MiniSearch<Section>({
    fields: ['title', 'text'],
    processTerm: toTerm,
    searchOptions: { boost: { title: 2 } },
  })
  index.addAll(sections)
  return (query, topK) =>
    index
      .search(query)
      .slice(0, topK)
      .map((hit) => byId.get(hit.id)!)
}

function toTerm(word: string): string | null {
  const term = word.toLowerCase()
  if (STOP_WORDS.has(term)) return null
  // plural matches singular: a question may say `pools` where the documentation says `Pool`
  return term.length > 3 ? term.replace(/(?<!s)s$/, '') : term
}
