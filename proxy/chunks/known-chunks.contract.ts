import { beforeEach, describe, expect, test } from 'vitest'
import { blocksIn, documentText, embed, findIn, rerank } from './chunk-texts.fixture.ts'
import type { KnownChunks } from './known-chunks.ts'

/** Known chunks as given to one proxy and as seen by another: the same object if there is only one proxy. */
interface KnownChunksSides {
  readonly told: KnownChunks
  readonly seen: KnownChunks
  /** Resolves when everything that was given is seen. */
  settle(): Promise<void>
}

/** Tests what holds for known chunks, however they are kept. */
export function describeKnownChunks(name: string, create: () => KnownChunksSides | Promise<KnownChunksSides>): void {
  describe(name, () => {
    const docs = Array.from({ length: 8 }, (_, n) => documentText(n))
    let sides: KnownChunksSides
    const list = (...places: number[]): string => places.map((n) => docs[n]).join('\n\n')
    const found = (text: string, tenant = 'default'): number[][] =>
      blocksIn(sides.seen, text, tenant).map((blocks) => blocks.map((block) => docs.indexOf(block)))

    beforeEach(async () => {
      sides = await create()
    })

    test('what is registered, embedded and reranked is known', async () => {
      await sides.told.put([{ text: docs[0]! }, { text: docs[1]!, id: 'one' }], undefined)
      await embed(sides.told, [docs[2]!, docs[3]!])
      await rerank(sides.told, 'q', [docs[4]!, docs[5]!])
      await rerank(sides.told, 'r', [docs[5]!, docs[6]!, docs[4]!])
      await sides.settle()
      expect(sides.seen.size).toBe(7)
      expect(found(list(5, 3, 1, 0, 2, 4))).toEqual([[5, 3, 1, 0, 2, 4]])
    })

    test('whose it is, and in which order it was given, is known as well', async () => {
      await embed(sides.told, [docs[0]!, docs[1]!, docs[2]!], 'key:a')
      await sides.settle()
      expect(found(list(2, 1, 0), 'key:a')).toEqual([[2, 1, 0]])
      expect(found(list(2, 1, 0), 'key:b')).toEqual([])
      expect(found(list(0, 1, 2), 'key:a')).toEqual([])
    })

    test('two reranks make chunks of their candidates, one does not', async () => {
      await rerank(sides.told, 'q', [docs[0]!, docs[1]!])
      await sides.settle()
      expect(found(list(1, 0))).toEqual([])
      await rerank(sides.told, 'r', [docs[1]!, docs[2]!, docs[0]!])
      await sides.settle()
      expect(found(list(1, 0))).toEqual([[1, 0]])
    })

    test('what was seen in two other orders is known to have none', async () => {
      await embed(sides.told, [docs[0]!, docs[1]!, docs[2]!])
      await sides.settle()
      for (const [order, question] of [
        [[2, 1, 0], 'q'],
        [[0, 2, 1], 'r'],
      ] as const) {
        const { lists } = findIn(sides.told, list(...order))
        sides.told.noteLists(
          lists.map(({ chunks }) => chunks),
          question,
        )
      }
      await sides.settle()
      expect(found(list(0, 1, 2))).toEqual([[0, 1, 2]])
    })

    test('what came alone is a chunk when more of it comes', async () => {
      await embed(sides.told, [docs[1]!])
      await embed(sides.told, [docs[0]!])
      await sides.settle()
      expect(found(list(0, 1))).toEqual([])
      await embed(sides.told, [docs[2]!])
      await sides.settle()
      expect(found(list(0, 1))).toEqual([[0, 1]])
    })

    test('chunks with white space at their ends keep it', async () => {
      await sides.told.put([{ text: `${docs[0]}\n` }, { text: `  ${docs[2]}\n\n` }, { text: `${docs[4]} ` }], undefined)
      await sides.settle()
      const text = `${docs[4]} \n\n  ${docs[2]}\n\n\n\n${docs[0]}\n`
      expect(blocksIn(sides.seen, text)).toEqual([[`${docs[4]} `, `  ${docs[2]}\n\n`, `${docs[0]}\n`]])
    })

    test('what is forgotten is forgotten: by id, by text, of a tenant, all', async () => {
      await sides.told.put(
        docs.slice(0, 4).map((text, n) => ({ id: `d${n}`, text })),
        undefined,
      )
      await sides.told.put([{ text: docs[5]! }, { text: docs[4]! }], 'acme')
      await sides.settle()
      expect(sides.told.forget(undefined, { ids: ['d0', 'd9'] })).toBe(1)
      expect(sides.told.forget(undefined, { texts: [docs[1]!, docs[7]!] })).toBe(1)
      await sides.settle()
      expect([sides.seen.size, found(list(3, 2)), found(list(1, 0))]).toEqual([4, [[3, 2]], []])
      expect(sides.told.forget('acme')).toBe(2)
      await sides.settle()
      expect(sides.seen.size).toBe(2)
      await embed(sides.told, [docs[6]!, docs[7]!])
      expect(sides.told.clear()).toBe(4)
      await sides.settle()
      expect([sides.told.size, sides.seen.size]).toEqual([0, 0])
    })
  })
}
