import { beforeEach, expect, test } from 'vitest'
import type { RequestId, ScopeId } from '../context-block.ts'
import { TokenMirror } from './token-mirror.ts'

const id = (name: string): RequestId => name as RequestId
const prompt = (...tokens: number[]): { tokens: Uint32Array; scope: string } => ({
  tokens: Uint32Array.from(tokens),
  scope: '',
})

const prefixes = (...names: string[]): ScopeId[] => names as ScopeId[]

let mirror: TokenMirror
beforeEach(() => {
  mirror = new TokenMirror(100, () => true)
})

function run(name: string, ...tokens: number[]): number | undefined {
  mirror.send(id(name), prefixes(name))
  mirror.learn(id(name), prompt(...tokens), 1)
  return mirror.predict(id(name))
}

/** Replaces all beliefs with a full report of the engine. */
function applySnapshot(mirror: TokenMirror, held: ReadonlyMap<RequestId, number>): void {
  for (const request of new Set(mirror.requestIds())) if (!held.has(request)) mirror.omitted(request)
  for (const [request, tokens] of held) mirror.report(request, tokens)
  mirror.endSnapshot()
}

test('a request finds what one that was sent before it left, but never its own last token', () => {
  expect(run('a', 1, 2, 3, 4)).toBe(0)
  expect(run('b', 1, 2, 3, 5)).toBe(3)
  expect(run('c', 1, 2, 3, 4)).toBe(3)
})

test('a request does not find what one left that was sent after it, though its tokens came first', () => {
  mirror.send(id('a'))
  run('b', 1, 2, 3)
  mirror.learn(id('a'), prompt(1, 2, 3), 1)
  expect(mirror.predict(id('a'))).toBe(0)
  expect(run('c', 1, 2, 3, 4)).toBe(3)
})

test('of a request that has ended there is what the engine reports', () => {
  run('a', 1, 2, 3, 4)
  mirror.end(id('a'))
  mirror.report(id('a'), 2)
  expect(run('b', 1, 2, 3, 4)).toBe(2)
})

test('a conversation finds the answer that it goes on from, until one was not found', () => {
  run('a', 1, 2)
  mirror.end(id('a'))
  mirror.report(id('a'), 5)
  expect(run('b', 1, 2, 3, 4, 5, 6)).toBe(5)
  mirror.used(id('b'), 2)
  expect(run('c', 1, 2, 7, 8, 9, 6)).toBe(2)
  mirror.used(id('c'), 5)
  expect(run('d', 1, 2, 8, 8, 9, 6)).toBe(5)
})

test('a report that comes before the tokens, or while the request runs, counts when it has ended', () => {
  mirror.send(id('a'))
  mirror.report(id('a'), 2)
  mirror.learn(id('a'), prompt(1, 2, 3, 4), 1)
  expect(run('b', 1, 2, 3, 9)).toBe(3)
  mirror.report(id('b'), 0)
  mirror.end(id('a'))
  mirror.end(id('b'))
  expect(run('c', 1, 2, 3, 9)).toBe(2)
})

test('what was evicted since is not found, though a request that was sent meanwhile holds it', () => {
  run('a', 1, 2, 3, 4)
  mirror.end(id('a'))
  mirror.send(id('b'))
  mirror.learn(id('b'), prompt(1, 2, 3, 4), 1)
  mirror.report(id('a'), 0)
  expect(mirror.predict(id('b'))).toBe(0)
})

test('of requests whose tokens cannot be had the prefixes are known for as long as the engine holds them', () => {
  mirror.send(id('a'), prefixes('system', 'x', 'y'))
  expect(mirror.countUnknown(prefixes('system', 'x', 'z'))).toBe(0)
  mirror.learn(id('a'), undefined)
  expect(mirror.countUnknown(prefixes('system', 'x', 'z'))).toBe(2)
  mirror.report(id('a'), 64)
  expect(mirror.countUnknown(prefixes('system', 'x', 'z'))).toBe(2)
  mirror.report(id('a'), 0)
  expect(mirror.countUnknown(prefixes('system', 'x', 'z'))).toBe(0)
})

test('requests of others are not missed', () => {
  mirror = new TokenMirror(100, () => false)
  mirror.report(id('x'), 64)
  expect(mirror.countUnknown(prefixes('x'))).toBe(0)
})

test('until the size of its pages is known, an engine is taken to have the smallest', () => {
  expect([run('a', 1, 2, 3, 4, 5), run('b', 1, 2, 3, 9)]).toEqual([0, 3])
  mirror.send(id('c'))
  mirror.learn(id('c'), prompt(1, 2, 3, 4, 5, 6), 2)
  expect([mirror.predict(id('b')), mirror.predict(id('c')), mirror.size]).toEqual([2, 4, 8])
})

test('an engine that was cleared holds what runs', () => {
  run('a', 1, 2, 3)
  mirror.end(id('a'))
  run('b', 4, 5, 6)
  mirror.clear()
  expect(run('c', 1, 2, 3)).toBe(0)
  expect(run('d', 4, 5, 6, 7)).toBe(3)
})

test('tokens that become known after the engine was cleared are held no more', () => {
  mirror.send(id('a'), prefixes('a'))
  mirror.end(id('a'))
  mirror.clear()
  mirror.learn(id('a'), prompt(1, 2, 3), 1)
  expect([mirror.size, mirror.countUnknown(prefixes('a'))]).toEqual([0, 0])
  expect(run('b', 1, 2, 3)).toBe(0)
})

test('an engine that was cleared and tells anew what it holds is believed in tokens', () => {
  run('a', 1, 2, 3, 4)
  run('b', 1, 2, 5, 6)
  mirror.end(id('a'))
  mirror.end(id('b'))
  mirror.report(id('b'), 3)
  mirror.clear()
  expect([mirror.size, [...mirror.known()]]).toEqual([0, []])
  mirror.report(id('a'), 3)
  expect([mirror.countUnknown(prefixes('a')), mirror.recall(id('a'))]).toEqual([0, prompt(1, 2, 3)])
  applySnapshot(
    mirror,
    new Map([
      [id('a'), 3],
      [id('b'), 3],
    ]),
  )
  expect([run('c', 1, 2, 3, 4), run('d', 1, 2, 5, 6)]).toEqual([3, 3])
  mirror.clear()
  applySnapshot(mirror, new Map())
  mirror.report(id('a'), 3)
  expect(mirror.countUnknown(prefixes('a'))).toBe(1)
})

test('a snapshot cuts what has ended; what it names that is not known may be anything', () => {
  run('a', 1, 2, 3, 4)
  run('b', 5, 6, 7)
  mirror.end(id('a'))
  mirror.end(id('b'))
  applySnapshot(mirror, new Map([[id('a'), 2]]))
  expect(mirror.countUnknown(prefixes('x'))).toBe(0)
  expect([run('c', 1, 2, 3, 4), run('d', 5, 6, 7)]).toEqual([2, 0])
  applySnapshot(mirror, new Map([[id('before'), 512]]))
  expect(mirror.countUnknown(prefixes('x', 'y'))).toBe(2)
})

test('the oldest go first when there are too many tokens, and are known to be missing', () => {
  mirror = new TokenMirror(5, () => true)
  run('a', 1, 2, 3)
  run('b', 4, 5, 6)
  expect([mirror.size, mirror.countUnknown(prefixes('a'))]).toEqual([3, 1])
  expect(run('c', 1, 2, 3)).toBe(0)
})

test('what was sent in an earlier life, or by another, is found once its tokens are known', () => {
  mirror.inherit(id('a'))
  expect([...mirror.unknown()]).toEqual(['a'])
  expect(run('b', 1, 2, 3, 9)).toBe(0)
  mirror.restore(id('a'), prompt(1, 2, 3, 4), 3, 1)
  expect([...mirror.unknown()]).toEqual([])
  expect(run('c', 1, 2, 3, 4)).toBe(3)
  mirror.report(id('a'), 1)
  mirror.end(id('b'))
  mirror.report(id('b'), 0)
  mirror.end(id('c'))
  mirror.report(id('c'), 0)
  expect(run('d', 1, 2, 3, 4)).toBe(1)
})

test('what the engine said of a request whose tokens were not known counts when they are', () => {
  mirror.report(id('a'), 2)
  mirror.restore(id('a'), prompt(1, 2, 3, 4), 4, 1)
  expect(run('b', 1, 2, 3, 4)).toBe(2)
  mirror.inherit(id('c'))
  mirror.report(id('c'), 0)
  mirror.restore(id('c'), prompt(7, 8), 2, 1)
  expect(run('d', 7, 8, 9)).toBe(0)
})

test('it tells whose tokens are known, and can be told of them again', () => {
  const told: string[] = []
  mirror.listen({
    learned: (request) => told.push(`learned ${request}`),
    forgotten: (request) => told.push(`forgotten ${request}`),
  })
  run('a', 1, 2, 3)
  expect([[...mirror.known()], mirror.recall(id('a'))]).toEqual([['a'], prompt(1, 2, 3)])
  mirror.end(id('a'))
  mirror.report(id('a'), 0)
  expect([told, mirror.recall(id('a'))]).toEqual([['learned a', 'forgotten a'], undefined])
})

test('where checkpoints are kept, a request finds the last of them within what it shares', () => {
  mirror.keepsCheckpoints = true
  run('a', 1, 2, 3, 4, 5, 6)
  expect(run('b', 1, 2, 3, 4, 5, 6, 7)).toBe(0)
  mirror.report(id('a'), 6, [2, 4])
  expect(run('c', 1, 2, 3, 4, 5, 6, 7)).toBe(4)
  expect(run('d', 1, 2, 3, 4)).toBe(2)
  expect(run('e', 1, 2, 3, 9)).toBe(2)
  expect(run('f', 1, 9)).toBe(0)
})

test('checkpoints that a request was the first to leave are not found by one that was sent before', () => {
  mirror.keepsCheckpoints = true
  run('a', 1, 2, 3, 4, 5, 6)
  mirror.report(id('a'), 6, [2])
  run('b', 1, 2, 3, 4, 5, 6)
  run('c', 1, 2, 3, 4, 5, 7)
  mirror.report(id('c'), 6, [2, 4])
  expect(mirror.predict(id('b'))).toBe(2)
  expect(run('d', 1, 2, 3, 4, 5, 8)).toBe(4)
})

test('what was reported last of a shared beginning holds for all that share it', () => {
  mirror.keepsCheckpoints = true
  run('a', 1, 2, 3, 4)
  mirror.report(id('a'), 4, [2, 4])
  run('b', 1, 2, 3, 5)
  mirror.report(id('b'), 4, [4])
  expect(run('c', 1, 2, 3, 5, 6)).toBe(4)
  expect(run('d', 1, 2, 3, 6)).toBe(0)
  expect(run('e', 1, 2, 3, 4, 6)).toBe(4)
  mirror.report(id('b'), 2)
  expect(run('f', 1, 2, 3, 4, 6)).toBe(4)
})

test('checkpoints that are reported after the end of the request that left them are found by one sent before that', () => {
  mirror.keepsCheckpoints = true
  run('a', 1, 2, 3, 4, 5, 6)
  mirror.report(id('a'), 6, [4])
  mirror.end(id('a'))
  run('c', 1, 2, 3, 4, 5, 6, 7)
  mirror.report(id('a'), 6, [4, 6])
  expect(mirror.predict(id('c'))).toBe(6)
})

test('a checkpoint that a request has made the engine keep is not found by it, whoever reports that', () => {
  mirror.keepsCheckpoints = true
  run('a', 1, 2, 3, 4, 5, 6)
  mirror.report(id('a'), 6, [1, 6])
  mirror.end(id('a'))
  expect(run('b', 1, 2, 3, 4, 8, 9)).toBe(1)
  mirror.report(id('b'), 6, [1, 4, 6])
  mirror.report(id('a'), 6, [1, 4, 6])
  expect(mirror.predict(id('b'))).toBe(1)
  expect(run('c', 1, 2, 3, 4, 8, 7)).toBe(4)
})

test('checkpoints that are reported before the tokens are known are kept, also with pages of another size', () => {
  mirror.keepsCheckpoints = true
  mirror.send(id('a'))
  mirror.report(id('a'), 6, [4])
  mirror.learn(id('a'), prompt(1, 2, 3, 4, 5, 6), 1)
  mirror.send(id('b'))
  mirror.learn(id('b'), prompt(1, 2, 3, 4, 5, 6, 7), 2)
  expect(mirror.predict(id('b'))).toBe(4)
})
