import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Checkpoint } from './checkpoints.ts'
import { type HeldPlace, TokenTree } from './token-tree.ts'

const tokens = (...ids: number[]): Uint32Array => Uint32Array.from(ids)

test('a prompt finds what others held before it, up to where they part', () => {
  const tree = new TokenTree(1)
  tree.hold('', tokens(1, 2, 3, 4), 1)
  const second = tree.hold('', tokens(1, 2, 5), 2)
  expect(tree.findBefore(second, 2).tokens).toBe(2)
  expect(tree.size).toBe(5)
})

test('only whole pages are held, and found', () => {
  const tree = new TokenTree(2)
  tree.hold('', tokens(1, 2, 3, 4, 5), 1)
  expect(tree.size).toBe(4)
  expect(tree.findBefore(tree.hold('', tokens(1, 2, 3, 9, 9, 9), 2), 2).tokens).toBe(2)
})

test('a page that is lost is no loss to a prompt that only begins it alike', () => {
  const tree = new TokenTree(2)
  tree.hold('', tokens(1, 2, 3, 8), 1)
  const lost = tree.hold('', tokens(1, 2, 3, 9), 2)
  const third = tree.hold('', tokens(1, 2, 3, 8, 7, 7), 3)
  tree.cut(lost, 2, 3)
  expect(tree.findBefore(third, 3).tokens).toBe(4)
})

test('prompts of different scopes share nothing', () => {
  const tree = new TokenTree(1)
  tree.hold('a', tokens(1, 2), 1)
  expect(tree.findBefore(tree.hold('b', tokens(1, 2), 2), 2).tokens).toBe(0)
})

test('what was lost and computed again is new, also to one that holds it', () => {
  const tree = new TokenTree(1)
  const first = tree.hold('', tokens(1, 2, 3, 4), 1)
  const second = tree.hold('', tokens(1, 2, 3, 4), 2)
  tree.cut(first, 1, 2)
  expect(tree.findBefore(second, 2).tokens).toBe(1)
})

test('a prompt may go on as the answer did to the prompt that it begins with, for as long as that is held', () => {
  const tree = new TokenTree(2)
  const first = tree.hold('', tokens(1, 2, 3), 1)
  tree.continue(first, 6)
  const second = tree.hold('', tokens(1, 2, 3, 4, 5, 6, 7), 2)
  expect(tree.findBefore(second, 2)).toEqual({ tokens: 2, continued: 6 })
  expect(tree.findBefore(tree.hold('', tokens(1, 9), 3), 3)).toEqual({ tokens: 0, continued: 0 })
  tree.cut(first, 2, 3)
  expect(tree.findBefore(second, 2)).toEqual({ tokens: 2, continued: 2 })
})

test('nothing is kept of prompts that are held no longer', () => {
  const tree = new TokenTree(1)
  const places = [tokens(1, 2, 3), tokens(1, 2, 4), tokens(1)].map((prompt, i) => tree.hold('', prompt, i))
  for (const place of places) tree.release(place)
  expect(tree.size).toBe(0)
})

/** Since when each held prefix is held: the definition, as a map of all prefixes. */
class NaiveTree {
  readonly since = new Map<string, number>()
  readonly held = new Map<number, { key: string; tokens: number[] }>()
  readonly page: number

  constructor(page: number) {
    this.page = page
  }

  hold(id: number, scope: string, prompt: number[], order: number): void {
    this.held.set(id, { key: scope, tokens: prompt })
    for (const prefix of this.prefixes(id)) this.since.set(prefix, Math.min(this.since.get(prefix) ?? order, order))
  }

  cut(id: number, length: number, order: number): void {
    const prompt = this.held.get(id)!
    for (const prefix of this.prefixes(id).slice(Math.floor(length / this.page))) this.since.set(prefix, order)
    this.held.set(id, { ...prompt, tokens: prompt.tokens.slice(0, length) })
    this.drop()
  }

  release(id: number): void {
    this.held.delete(id)
    this.drop()
  }

  countBefore(id: number, order: number): number {
    const prefixes = this.prefixes(id)
    const missing = prefixes.findIndex((prefix) => this.since.get(prefix)! >= order)
    return (missing === -1 ? prefixes.length : missing) * this.page
  }

  prefixes(id: number): string[] {
    const { key, tokens } = this.held.get(id)!
    const pages = Array.from({ length: Math.floor(tokens.length / this.page) }, (_, i) => (i + 1) * this.page)
    return pages.map((end) => `${key}/${tokens.slice(0, end)}`)
  }

  drop(): void {
    const kept = new Set([...this.held.keys()].flatMap((id) => this.prefixes(id)))
    for (const prefix of this.since.keys()) if (!kept.has(prefix)) this.since.delete(prefix)
  }
}

/** The tree and its naive reference. */
class Both {
  readonly tree: TokenTree
  readonly naive: NaiveTree
  readonly places = new Map<number, HeldPlace>()

  constructor(page: number) {
    this.tree = new TokenTree(page)
    this.naive = new NaiveTree(page)
  }

  hold(id: number, scope: string, prompt: number[], order: number): void {
    this.places.set(id, this.tree.hold(scope, Uint32Array.from(prompt), order))
    this.naive.hold(id, scope, prompt, order)
  }

  cut(id: number, most: number, order: number): void {
    const length = Math.min(most, this.naive.held.get(id)!.tokens.length)
    this.places.set(id, this.tree.cut(this.places.get(id)!, length, order))
    this.naive.cut(id, length, order)
  }

  release(id: number): void {
    this.tree.release(this.places.get(id)!)
    this.places.delete(id)
    this.naive.release(id)
  }

  assertEqual(now: number): void {
    expect(this.tree.size).toBe(this.naive.since.size * this.naive.page)
    for (const [id, place] of this.places) {
      for (const order of [now - 1, now, now + 1]) {
        expect(this.tree.findBefore(place, order).tokens).toBe(this.naive.countBefore(id, order))
      }
    }
  }
}

test('it tells of every prompt what a list of all prefixes tells', () => {
  const prompt = fc.array(fc.integer({ min: 0, max: 2 }), { minLength: 1, maxLength: 8 })
  const step = fc.oneof(
    fc.record({ type: fc.constant('hold' as const), scope: fc.constantFrom('a', 'b'), prompt, late: fc.nat(2) }),
    fc.record({ type: fc.constant('cut' as const), which: fc.nat(), length: fc.nat(8) }),
    fc.record({ type: fc.constant('release' as const), which: fc.nat() }),
  )
  fc.assert(
    fc.property(fc.array(step, { maxLength: 30 }), fc.integer({ min: 1, max: 3 }), (steps, page) => {
      const both = new Both(page)
      steps.forEach((taken, now) => {
        const ids = [...both.places.keys()]
        if (taken.type === 'hold') both.hold(now, taken.scope, taken.prompt, Math.max(0, now - taken.late))
        else if (ids.length > 0) {
          const id = ids[taken.which % ids.length]!
          if (taken.type === 'cut') both.cut(id, taken.length, now)
          else both.release(id)
        }
        both.assertEqual(now)
      })
    }),
  )
})

/** Lengths that follow each other as one range. */
function join(lengths: readonly number[]): Checkpoint[] {
  const ranges: [number, number][] = []
  for (const length of lengths) {
    const last = ranges.at(-1)
    if (last?.[1] === length - 1) last[1] = length
    else ranges.push([length, length])
  }
  return ranges
}

test('of a range, whole pages are found, the last within what is asked for', () => {
  const tree = new TokenTree(4)
  const place = tree.hold('', tokens(...Array.from({ length: 40 }, (_, i) => i)), 0)
  tree.keepCheckpoints(place, [[8, 20], 32], 0)
  const found = [7, 8, 15, 19, 20, 31, 32, 40].map((most) => tree.findCheckpoint(place, most, 1))
  expect(found).toEqual([0, 8, 12, 16, 20, 20, 32, 32])
  // a part of a prompt that was sent later keeps the age of what was there before
  tree.keepCheckpoints(place, [[4, 40]], 5)
  expect([0, 1, 6].map((order) => tree.findCheckpoint(place, 31, order))).toEqual([0, 20, 28])
})

test('lengths that come twice, or overlap, are kept once', () => {
  const tree = new TokenTree(1)
  const place = tree.hold('', tokens(1, 2, 3, 4, 5, 6), 0)
  for (let order = 0; order < 40; order++) tree.keepCheckpoints(place, [2, 2, [2, 4], [3, 5], 1], order)
  expect(place.checkpoints).toEqual([
    { first: 2, last: 2, since: 0 },
    { first: 3, last: 4, since: 0 },
    { first: 5, last: 5, since: 0 },
  ])
})

test('checkpoints stay where they are, however prompts divide what is held and give it up', () => {
  const prompts = fc.array(fc.constantFrom(1, 2), { minLength: 1, maxLength: 8 })
  const lengths = fc.uniqueArray(fc.integer({ min: 1, max: 8 })).map((own) => own.toSorted((a, b) => a - b))
  const kept = fc.record({ prompt: prompts, lengths, areJoined: fc.boolean() })
  fc.assert(
    fc.property(fc.array(kept, { maxLength: 8 }), fc.array(fc.nat(7)), prompts, (reports, releases, asked) => {
      const tree = new TokenTree(1)
      const model = new Map<string, number>()
      const places = reports.map(({ prompt, lengths, areJoined }, order) => {
        const place = tree.hold('', tokens(...prompt), order)
        const own = lengths.filter((length) => length <= prompt.length)
        tree.keepCheckpoints(place, areJoined ? join(own) : own, order)
        for (let length = 1; length <= prompt.length; length++) {
          const beginning = prompt.slice(0, length).join()
          if (!own.includes(length)) model.delete(beginning)
          else if (!model.has(beginning)) model.set(beginning, order)
        }
        return place
      })
      const asking = tree.hold('', tokens(...asked), 99)
      for (const at of new Set(releases)) if (places[at]) tree.release(places[at])
      const lengths = asked.map((_, i) => i + 1)
      for (const order of [0, 2, 99]) {
        const found = lengths.filter((length) => (model.get(asked.slice(0, length).join()) ?? 99) < order)
        expect(tree.findCheckpoint(asking, 8, order)).toBe(found.at(-1) ?? 0)
      }
    }),
  )
})
