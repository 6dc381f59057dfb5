import fc from 'fast-check'
import { expect, test } from 'vitest'
import { HeldBlocks } from '#engine-adapters/kv-events/held-blocks.ts'
import type { RequestId } from '#index/context-block.ts'
import { TiedRequests } from './tied-requests.ts'

const namesOf = (prompt: string): string[] => Array.from(prompt, (_, i) => prompt.slice(0, i + 1))
const id = (name: string): RequestId => name as RequestId
const prompts = fc.string({ unit: fc.constantFrom('a', 'b'), minLength: 1, maxLength: 5 })

/** The blocks that requests are tied to, and the number of blocks believed to be held for each request. */
class Followed {
  readonly believed = new Map<string, number>()
  readonly held = new Set<string>()
  readonly tied = new TiedRequests(100, (request, kept) => this.believed.set(request, kept))
  readonly #blocks = new HeldBlocks((lost) => this.tied.cut(lost))

  send(request: string, prompt: string): void {
    for (const name of namesOf(prompt)) {
      if (!this.held.has(name)) this.#blocks.store(name, name.slice(0, -1) || undefined)
      this.held.add(name)
    }
    this.tied.tie(id(request), prompt)
    this.believed.set(request, prompt.length)
  }

  evict(name: string): void {
    this.#blocks.remove(name)
    this.held.delete(name)
  }

  left(prompt: string): number {
    const missing = namesOf(prompt).findIndex((block) => !this.held.has(block))
    return missing === -1 ? prompt.length : missing
  }
}

test('whatever is evicted, each request is believed to hold its longest prefix that is left', () => {
  fc.assert(
    fc.property(fc.array(prompts, { maxLength: 10 }), fc.array(prompts, { maxLength: 40 }), (sent, evicted) => {
      const followed = new Followed()
      sent.forEach((prompt, i) => {
        followed.send(`${i}`, prompt)
      })
      for (const name of evicted) {
        followed.evict(name)
        expect([...followed.believed.values()]).toEqual(sent.map((prompt) => followed.left(prompt)))
      }
      expect(followed.tied.size).toBe([...followed.believed.values()].filter((kept) => kept > 0).length)
    }),
    { numRuns: 1_000 },
  )
})

test('a request that is sent again rests where it was tied last', () => {
  const cut: [string, number][] = []
  const tied = new TiedRequests(100, (request, kept) => cut.push([request, kept]))
  tied.tie(id('r'), 'a')
  tied.tie(id('r'), 'b')
  tied.cut({ names: ['a'], kept: undefined, keptBlocks: 0 })
  expect(cut).toEqual([])
  tied.cut({ names: ['b'], kept: 'c', keptBlocks: 1 })
  tied.untie(id('r'))
  tied.cut({ names: ['c'], kept: undefined, keptBlocks: 0 })
  expect(cut).toEqual([['r', 1]])
})

test('more requests than fit are followed no longer, the oldest first', () => {
  const cut: string[] = []
  const tied = new TiedRequests(2, (request) => cut.push(request))
  for (const name of ['1', '2', '3']) tied.tie(id(name), 'a')
  tied.cut({ names: ['a'], kept: undefined, keptBlocks: 0 })
  expect(cut).toEqual(['2', '3'])
  expect(tied.size).toBe(0)
})

test('a request that is tied to its block again is the newest, also once that is lost', () => {
  const cut: string[] = []
  const tied = new TiedRequests(2, (request) => cut.push(request))
  for (const name of ['a', 'b', 'a']) tied.tie(id(name), 'long')
  tied.cut({ names: ['long'], kept: 'short', keptBlocks: 1 })
  expect(cut.splice(0)).toEqual(['b', 'a'])
  tied.tie(id('c'), 'other')
  tied.cut({ names: ['short'], kept: undefined, keptBlocks: 0 })
  expect(cut).toEqual(['a'])
})
