import type { KnownLists } from './find-known-lists.ts'
import { KnownChunks } from './known-chunks.ts'
import { type ChunkFacts, chunkFlags } from './table/chunk-record.ts'

const topics = [
  'harbour',
  'orchard',
  'glacier',
  'railway',
  'library',
  'volcano',
  'cathedral',
  'reservoir',
  'lighthouse',
]

/** A chunk that was given alone, without white space at its ends and without an id. */
export const plainFacts: ChunkFacts = {
  flags: chunkFlags.sure,
  source: 1,
  order: 1,
  lead: '',
  tail: '',
  id: [0, 0],
}

/** A unique document of several lines. */
export function documentText(n: number): string {
  const topic = topics[n % topics.length]!
  return (
    `About ${topic} number ${n}\nThe ${topic} of the town with the number ${n} was built in ${1500 + n}, and it is still there.\n\n` +
    `Those who come to see the ${topic} in winter, ${n} of them a day, pay ${n + 2} coins.`
  )
}

export function createKnown(): KnownChunks {
  return new KnownChunks({ maxChunks: 10_000, source: 7 })
}

/** Finds the lists in a tenant's text. */
export function findIn(chunks: KnownChunks, text: string, tenant = 'default'): KnownLists {
  return chunks.finderFor(tenant)?.(text) ?? { lists: [], matched: 0, refused: [] }
}

/** Returns the blocks of each list as they are written in the text. */
export function blocksIn(chunks: KnownChunks, text: string, tenant = 'default'): string[][] {
  return findIn(chunks, text, tenant).lists.map(({ blocks }) => blocks.map(({ start, end }) => text.slice(start, end)))
}

/** Embeds texts in one request. */
export async function embed(chunks: KnownChunks, texts: readonly string[], tenant = 'default'): Promise<void> {
  const lesson = chunks.begin(tenant)
  await lesson.learn({ kind: 'embeddings', texts, tokens: [], queries: [] })
  lesson.end()
}

/** Reranks texts as candidates. */
export async function rerank(
  chunks: KnownChunks,
  query: string,
  texts: readonly string[],
  tenant = 'default',
): Promise<void> {
  const lesson = chunks.begin(tenant)
  await lesson.learn({ kind: 'rerank', texts, tokens: [], queries: [query] })
  lesson.end()
}

/** Makes texts known that were never given in an order: the candidates of two reranks, each among others. */
export async function rerankAmongOthers(
  chunks: KnownChunks,
  texts: readonly string[],
  tenant = 'default',
): Promise<void> {
  for (const [i, text] of texts.entries()) {
    await rerank(chunks, `What is number ${i}?`, [text], tenant)
    await rerank(chunks, `And why number ${i}?`, [documentText(990), text, documentText(991)], tenant)
  }
}
