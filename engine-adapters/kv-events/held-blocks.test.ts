import fc from 'fast-check'
import { expect, test } from 'vitest'
import { HeldBlocks, type LostBlocks } from './held-blocks.ts'

/** Prompts of up to five blocks over two tokens: a block's name is the prompt up to its end. */
const prompts = fc.string({ unit: fc.constantFrom('a', 'b'), minLength: 1, maxLength: 5 })
const namesOf = (prompt: string): string[] => Array.from(prompt, (_, i) => prompt.slice(0, i + 1))
const parentOf = (name: string): string | undefined => (name.length > 1 ? name.slice(0, -1) : undefined)

const action = fc.oneof(
  fc.record({ type: fc.constantFrom('store', 'remove'), name: prompts, tier: fc.constantFrom('GPU', 'GPU', 'CPU') }),
  fc.record({ type: fc.constant('clear'), name: prompts, tier: fc.constant('GPU') }),
)

/** A model of what a cache holds, by counting. */
class CountingModel {
  readonly #copies = new Map<string, number>()

  change(name: string, tier: string, by: number): void {
    const left = this.of(name, tier) + by
    if (left > 0) this.#copies.set(`${tier} ${name}`, left)
    else this.#copies.delete(`${tier} ${name}`)
  }

  of(name: string, tier: string): number {
    return this.#copies.get(`${tier} ${name}`) ?? 0
  }

  clear(): void {
    this.#copies.clear()
  }

  isServed(name: string): boolean {
    return namesOf(name).every((front) => this.of(front, 'GPU') > 0)
  }

  countServed(prompt: string): number {
    const missing = namesOf(prompt).findIndex((front) => !this.isServed(front))
    return missing === -1 ? prompt.length : missing
  }

  get served(): string[] {
    const names = new Set([...this.#copies.keys()].map((key) => key.split(' ')[1]!))
    return [...names].filter((name) => this.isServed(name)).toSorted()
  }
}

const take: Record<string, (model: CountingModel, blocks: HeldBlocks, name: string, tier: string) => void> = {
  store: (model, blocks, name, tier) => {
    model.change(name, tier, 1)
    blocks.store(name, parentOf(name), tier)
  },
  remove: (model, blocks, name, tier) => {
    model.change(name, tier, -1)
    blocks.remove(name, tier)
  },
  clear: (model, blocks) => {
    model.clear()
    blocks.clear()
  },
}

test('a prompt is served from the blocks on the device that have nothing missing in front, copies and tiers told apart', () => {
  fc.assert(
    fc.property(fc.array(action, { maxLength: 80 }), (actions) => {
      const lost: string[] = []
      const blocks = new HeldBlocks(({ names }) => lost.push(...(names as string[])))
      const model = new CountingModel()
      for (const { type, name, tier } of actions) {
        const before = type === 'clear' ? [] : model.served
        lost.length = 0
        take[type]!(model, blocks, name, tier)
        expect(lost.toSorted()).toEqual(before.filter((was) => !model.isServed(was)))
        expect(blocks.counts.reachable).toBe(model.served.length)
        expect(blocks.copiesOf(name, tier)).toBe(model.of(name, tier))
        expect(blocks.countHeld(namesOf(name))).toBe(model.countServed(name))
      }
    }),
    { numRuns: 2_000 },
  )
})

test('what is lost is told with what is kept in front of it', () => {
  const told: LostBlocks[] = []
  const blocks = new HeldBlocks((lost) => told.push(lost))
  for (const name of namesOf('abab')) blocks.store(name, parentOf(name), 'GPU')
  blocks.store('abb', 'ab', 'GPU')
  blocks.remove('ab', 'GPU')
  expect(told).toHaveLength(1)
  expect(told[0]).toMatchObject({ kept: 'a', keptBlocks: 1 })
  expect(new Set(told[0]!.names)).toEqual(new Set(['ab', 'aba', 'abab', 'abb']))
  blocks.remove('aba', 'GPU')
  expect(told).toHaveLength(1)
})

test('a duplicate keeps a block until its last copy goes', () => {
  const blocks = new HeldBlocks()
  blocks.store('a', undefined, 'GPU')
  blocks.store('a', undefined, 'GPU')
  expect(blocks.remove('a', 'GPU')).toBe(false)
  expect(blocks.countHeld(['a'])).toBe(1)
  expect(blocks.remove('a', 'GPU')).toBe(true)
  expect(blocks.countHeld(['a'])).toBe(0)
})

test('a block that is demoted to another tier serves no prompt, and its loss there is none to them', () => {
  const lost: LostBlocks[] = []
  const blocks = new HeldBlocks((told) => lost.push(told))
  blocks.store('a', undefined, 'GPU')
  blocks.store('a', undefined, 'CPU')
  blocks.remove('a', 'GPU')
  expect({ held: blocks.countHeld(['a']), onCpu: blocks.copiesOf('a', 'CPU') }).toEqual({ held: 0, onCpu: 1 })
  expect(blocks.remove('a', 'CPU')).toBe(true)
  expect(lost).toHaveLength(1)
  expect(blocks.counts).toEqual({ known: 0, reachable: 0 })
})

test('nothing is kept of blocks that have all gone, whatever the order', () => {
  fc.assert(
    fc.property(fc.array(prompts, { minLength: 1, maxLength: 8 }), fc.infiniteStream(fc.nat()), (stored, draw) => {
      const blocks = new HeldBlocks()
      const held = stored.flatMap(namesOf)
      for (const name of held) blocks.store(name, parentOf(name), 'GPU')
      while (held.length > 0) blocks.remove(held.splice(draw.next().value % held.length, 1)[0]!, 'GPU')
      expect(blocks.counts).toEqual({ known: 0, reachable: 0 })
    }),
  )
})

test('a chain as long as a prompt can be goes block by block from its front without looking at it again and again', () => {
  const blocks = new HeldBlocks()
  const length = 200_000
  for (let i = 0; i < length; i++) blocks.store(BigInt(i), i === 0 ? undefined : BigInt(i - 1), 'GPU')
  for (let i = 0; i < length; i++) blocks.remove(BigInt(i), 'GPU')
  expect(blocks.counts).toEqual({ known: 0, reachable: 0 })
})
