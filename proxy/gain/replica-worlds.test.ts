import { expect, test } from 'vitest'
import type { ComparedHit, ComparedPrompt } from './compared-caches.ts'
import { ReplicaWorlds } from './replica-worlds.ts'

const shape = { capacityTokens: undefined, pageTokens: 1 }
const tokens = Uint32Array.from({ length: 8 }, (_, i) => i)
const prompts: readonly ComparedPrompt[] = [{ sent: tokens, other: tokens, scope: 's', isExact: true }]
/** Cannot be run: it has no tokens. */
const faulty = [{}] as unknown as readonly ComparedPrompt[]

test('requests are run in the order they were sent, and a fault with one is its own alone', () => {
  const worlds = new ReplicaWorlds()
  const served: [string, ComparedHit | undefined][] = []
  const turnOf = (name: string) => worlds.takeTurn((hit) => served.push([name, hit]))!
  const [first, second, third, fourth] = ['first', 'second', 'third', 'fourth'].map(turnOf)
  fourth!(prompts, shape)
  third!(undefined, shape)
  second!(faulty, shape)
  expect(served).toEqual([])
  first!(prompts, shape)
  expect(served).toEqual([
    ['first', { sent: 0, other: 0 }],
    ['second', undefined],
    ['third', undefined],
    ['fourth', { sent: 7, other: 7 }],
  ])
})

test('one that comes when too many wait is not followed', () => {
  const worlds = new ReplicaWorlds()
  const turns = Array.from({ length: 256 }, () => worlds.takeTurn(() => {}))
  expect(worlds.takeTurn(() => {})).toBeUndefined()
  turns[0]!(undefined, shape)
  expect(worlds.takeTurn(() => {})).toBeDefined()
})
