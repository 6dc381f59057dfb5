import fc from 'fast-check'
import { expect, test } from 'vitest'
import { documentText, plainFacts } from '../chunk-texts.fixture.ts'
import { ChunkTable } from './chunk-table.ts'
import { FoldedText } from './folded-text.ts'

const folded = new FoldedText()

function fold(text: string): FoldedText {
  folded.read(text)
  return folded
}

function add(table: ChunkTable, scope: string, text: string, order = 1): string {
  return table.add(scope, fold(text), { ...plainFacts, order }).outcome
}

function isKnown(table: ChunkTable, scope: string, text: string): boolean {
  const here = table.match(fold(`In front of it. ${text} Behind it.`), [scope]).length > 0
  expect(here).toBe(table.find(scope, fold(text)) !== undefined)
  return here
}

test('a chunk is found wherever it stands, and only by its scope', () => {
  const table = new ChunkTable(10)
  expect(add(table, 'a', documentText(1))).toBe('added')
  expect(add(table, 'a', documentText(1))).toBe('known')
  expect([isKnown(table, 'a', documentText(1)), isKnown(table, 'b', documentText(1))]).toEqual([true, false])
  expect(isKnown(table, 'a', documentText(1).replace('built', 'found'))).toBe(false)
  expect([table.size, [...table.sizes]]).toEqual([1, [['a', 1]]])
})

test('what is too short for an anchor is not taken', () => {
  expect(add(new ChunkTable(10), 'a', 'thirty-one letters are too few.')).toBe('too_short')
})

test('the chunk that was used the longest time ago makes room', () => {
  const table = new ChunkTable(3)
  for (const n of [1, 2, 3]) add(table, 'a', documentText(n))
  add(table, 'a', documentText(1))
  add(table, 'a', documentText(4))
  expect([1, 2, 3, 4].filter((n) => isKnown(table, 'a', documentText(n)))).toEqual([1, 3, 4])
})

test('a scope with less than its share takes from the fullest, one with more from itself', () => {
  const table = new ChunkTable(8)
  for (let n = 0; n < 8; n++) add(table, 'greedy', documentText(n))
  for (let n = 0; n < 3; n++) add(table, 'modest', documentText(n))
  expect([...table.sizes]).toEqual([
    ['greedy', 5],
    ['modest', 3],
  ])
  for (let n = 10; n < 30; n++) add(table, 'greedy', documentText(n))
  expect([0, 1, 2].every((n) => isKnown(table, 'modest', documentText(n)))).toBe(true)
})

test('a scope that has nothing left is forgotten, and its number is used again', () => {
  const table = new ChunkTable(1)
  for (let n = 0; n < 100; n++) expect(add(table, `scope ${n}`, documentText(n))).toBe('added')
  expect([...table.sizes]).toEqual([['scope 99', 1]])
})

test('chunks that begin alike have other anchors; near copies beyond a number are not taken', () => {
  const licence = 'Licensed under the terms of a licence that fills many lines of every file. '.repeat(20)
  const table = new ChunkTable(1_000)
  const texts = Array.from({ length: 300 }, (_, n) => `${licence}${documentText(n)}`)
  expect(texts.map((text) => add(table, 'a', text)).filter((outcome) => outcome === 'crowded').length).toBeLessThan(240)
  const known = texts.filter((text) => isKnown(table, 'a', text))
  expect(known.length).toBe(table.size)
})

test('it holds what it was given, whatever is added, looked up and removed', () => {
  const action = fc.record({
    act: fc.constantFrom('add', 'add', 'add', 'remove', 'clear'),
    scope: fc.constantFrom('a', 'b'),
    n: fc.nat(40),
  })
  fc.assert(
    fc.property(fc.array(action, { maxLength: 120 }), (actions) => {
      const table = new ChunkTable(64)
      const model = { a: new Set<number>(), b: new Set<number>() }
      const acts: Record<string, (scope: 'a' | 'b', n: number) => void> = {
        add: (scope, n) => {
          // up to 82 may be added, of which 64 fit
          if (model.a.size + model.b.size === 64) return
          add(table, scope, documentText(n))
          model[scope].add(n)
        },
        remove: (scope, n) => {
          const found = table.find(scope, fold(documentText(n)))
          expect(found !== undefined && table.remove(found)).toBe(model[scope].delete(n))
        },
        clear: (scope) => {
          for (const chunk of table.chunksOf(scope)) table.remove(table.columns.handleOf(chunk))
          model[scope].clear()
        },
      }
      for (const { act, scope, n } of actions) acts[act]!(scope as 'a' | 'b', n)
      const all = Array.from({ length: 41 }, (_, n) => documentText(n)).join('\n\n')
      for (const scope of ['a', 'b'] as const) {
        expect(table.match(fold(all), [scope]).length).toBe(model[scope].size)
      }
    }),
    { numRuns: 60 },
  )
})

test('a handle of a chunk that is gone does nothing to the one in its place', () => {
  const table = new ChunkTable(1)
  add(table, 'a', documentText(1))
  const handle = table.find('a', fold(documentText(1)))!
  add(table, 'a', documentText(2))
  expect(table.remove(handle)).toBe(false)
  table.noteList([handle], 1, true)
  expect([isKnown(table, 'a', documentText(2)), table.listOf(0)]).toEqual([true, 0])
})

test('what is told of a chunk makes the same one elsewhere', () => {
  const [one, other] = [new ChunkTable(10), new ChunkTable(10)]
  add(other, 'another scope, so that numbers differ', documentText(5))
  const { chunk } = one.add('a', fold(documentText(1)), {
    ...plainFacts,
    order: 3,
    lead: '\n',
    tail: ' \n',
    id: [4, -5],
  })
  expect(other.addRecord('a', one.columns.read(chunk)).outcome).toBe('added')
  expect(isKnown(other, 'a', documentText(1))).toBe(true)
  expect(other.columns.read(other.find('a', fold(documentText(1)))!.chunk)).toEqual(one.columns.read(chunk))
})
