import fc from 'fast-check'
import { expect, test } from 'vitest'
import { HeldBlocks, type LostBlocks } from './held-blocks.ts'

/** Prompts of up to five blocks over two tokens: a block's name is the prompt up to its end. */
const prompts = fc.string({ unit: fc.constantFrom('a', 'b'), minLength: 1, maxLength: 5 })
const namesOf = (prompt: string): string[] => Array.from(prompt, (_, i) => prompt.slice(0, i + 1))
const parentOf = (name: string): string | undefined => (name.length > 1 ? name.slice(0, -1) : undefined)

const action = fc.oneof(
  fc.record({ type: fc.constantFrom('store', 'remove', 'copy', 'drop'), name: prompts }),
  fc.record({ type: fc.constant('clear'), name: prompts }),
)

/** A model of what a cache holds, by counting. */
class CountingModel {
  readonly #copies = new Map<string, number>()
  readonly elsewhere = new Set<string>()

  change(name: string, by: number): void {
    const left = (this.#copies.get(name) ?? 0) + by
    if (left > 0) this.#copies.set(name, left)
    else this.#copies.delete(name)
  }

  clear(): void {
    this.#copies.clear()
    this.elsewhere.clear()
  }

  isOnDevice(name: string): boolean {
    return this.#copies.has(name)
  }

  isServed(name: string): boolean {
    return namesOf(name).every((front) => this.#copies.has(front) || this.elsewhere.has(front))
  }

  get served(): string[] {
    const names = new Set([...this.#copies.keys(), ...this.elsewhere])
    return [...names].filter((name) => this.isServed(name)).toSorted()
  }
}

function countLeading(prompt: string, counts: (name: string) => boolean): number {
  const missing = namesOf(prompt).findIndex((front) => !counts(front))
  return missing === -1 ? prompt.length : missing
}

const take: Record<string, (model: CountingModel, blocks: HeldBlocks, name: string) => void> = {
  store: (model, blocks, name) => {
    model.change(name, 1)
    blocks.store(name, parentOf(name))
  },
  remove: (model, blocks, name) => {
    model.change(name, -1)
    blocks.remove(name)
  },
  // only of what the device has named
  copy: (model, blocks, name) => {
    if (model.isOnDevice(name)) model.elsewhere.add(name)
    blocks.changedElsewhere(name)
  },
  drop: (model, blocks, name) => {
    model.elsewhere.delete(name)
    blocks.changedElsewhere(name)
  },
  clear: (model, blocks) => {
    model.clear()
    blocks.clear()
  },
}

test('a prompt is served from the blocks that have nothing missing in front, on the device, however often, or elsewhere', () => {
  fc.assert(
    fc.property(fc.array(action, { maxLength: 80 }), (actions) => {
      const lost: string[] = []
      const model = new CountingModel()
      const blocks = new HeldBlocks(
        ({ names }) => lost.push(...(names as string[])),
        (name) => model.elsewhere.has(name as string),
      )
      for (const { type, name } of actions) {
        const before = type === 'clear' ? [] : model.served
        lost.length = 0
        take[type]!(model, blocks, name)
        expect(lost.toSorted()).toEqual(before.filter((was) => !model.isServed(was)))
        for (const served of model.served) expect(blocks.countKept(namesOf(served))).toBe(served.length)
        expect(blocks.countKept(namesOf(name))).toBe(countLeading(name, (front) => model.isServed(front)))
        expect(blocks.countHeld(namesOf(name))).toBe(countLeading(name, (front) => model.isOnDevice(front)))
      }
    }),
    { numRuns: 2_000 },
  )
})

test('what is lost is told with what is kept in front of it', () => {
  const told: LostBlocks[] = []
  const blocks = new HeldBlocks((lost) => told.push(lost))
  for (const name of namesOf('abab')) blocks.store(name, parentOf(name))
  blocks.store('abb', 'ab')
  blocks.remove('ab')
  expect(told).toHaveLength(1)
  expect(told[0]).toMatchObject({ kept: 'a', keptBlocks: 1 })
  expect(new Set(told[0]!.names)).toEqual(new Set(['ab', 'aba', 'abab', 'abb']))
  blocks.remove('aba')
  expect(told).toHaveLength(1)
})

test('a duplicate keeps a block until its last copy goes', () => {
  const blocks = new HeldBlocks()
  blocks.store('a', undefined)
  blocks.store('a', undefined)
  expect(blocks.remove('a')).toBe(false)
  expect(blocks.countHeld(['a'])).toBe(1)
  expect(blocks.remove('a')).toBe(true)
  expect(blocks.countHeld(['a'])).toBe(0)
})

test('nothing is kept of blocks that have all gone, whatever the order', () => {
  fc.assert(
    fc.property(fc.array(prompts, { minLength: 1, maxLength: 8 }), fc.infiniteStream(fc.nat()), (stored, draw) => {
      const blocks = new HeldBlocks()
      const held = stored.flatMap(namesOf)
      for (const name of held) blocks.store(name, parentOf(name))
      while (held.length > 0) blocks.remove(held.splice(draw.next().value % held.length, 1)[0]!)
      expect(blocks.size).toBe(0)
    }),
  )
})

test('a chain as long as a prompt can be goes block by block from its front without looking at it again and again', () => {
  const blocks = new HeldBlocks()
  const length = 200_000
  for (let i = 0; i < length; i++) blocks.store(BigInt(i), i === 0 ? undefined : BigInt(i - 1))
  for (let i = 0; i < length; i++) blocks.remove(BigInt(i))
  expect(blocks.size).toBe(0)
})
