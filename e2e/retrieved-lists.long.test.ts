import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { findSureLists } from '#proxy/prompt/forms/found-lists.fixture.ts'
import { loadWorkload } from './demo/load-workload.ts'
import { toUserMessage } from './demo/prompt.ts'

const data = join(import.meta.dirname, '..', '..', 'shared', 'data')

/*
 * Documents that a retriever actually returned. A rule that keeps texts in their original order must not mistake them
 * for ordered ones: one that did halved the cached tokens, and no other test noticed.
 */
describe.runIf(existsSync(data))('lists of documents that were really retrieved', () => {
  test.each([
    ['rag_cookbook_code', 15, 0.98],
    ['rag_cookbook_code', 5, 0.95],
    // one in seven has a document that contains unbalanced tags
    ['rag_cookbook_docs', 15, 0.84],
    ['rag_musique', 15, 0.98],
    ['rag_hotpot', 10, 0.98],
    ['rag_2wiki', 10, 0.98],
  ])('are found: %s, %d documents each', async (name, topK, least) => {
    const { turns } = await loadWorkload({ trace: join(data, name), topK, limit: 250 })
    const refused: Record<string, number> = {}
    for (const turn of turns) {
      const { lists, refusals } = findSureLists(toUserMessage(turn).content)
      if (lists.some(({ blocks }) => blocks.length === turn.blocks.length)) continue
      const reason = refusals[0]?.refused ?? 'nothing'
      refused[reason] = (refused[reason] ?? 0) + 1
    }
    const share = 1 - Object.values(refused).reduce((sum, count) => sum + count, 0) / turns.length
    expect({ refused, share }).toEqual({ refused, share: expect.toSatisfy((found: number) => found >= least) })
  })
})
