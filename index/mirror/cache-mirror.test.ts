import { beforeEach, expect, test } from 'vitest'
import { AverageDensity } from '../average-density.ts'
import type { CacheEvent, SentPrompt } from '../cache-event.ts'
import type { Context, RequestId, ScopeId } from '../context-block.ts'
import { CacheMirror } from './cache-mirror.ts'

const scope = 'system prompt' as ScopeId
const request = (id: string): RequestId => id as RequestId

/** Builds a prompt with 100 characters of system text, blocks of 100 characters each and a question of 100. */
function prompt(...blocks: string[]): SentPrompt {
  const ends = blocks.map((_, i) => 200 + 100 * i)
  return {
    contexts: [{ scope, blocks: blocks as unknown as Context, sizes: blocks.map(() => 100), ends }],
    prefixes: [scope, ...blocks.map((_, i) => `${scope}|${blocks.slice(0, i + 1).join('|')}` as ScopeId)],
    ends: [100, ...ends],
    length: 200 + 100 * blocks.length,
  }
}

let mirror: CacheMirror

/** Returns those of the blocks that are held, in held order: each one extends the cached prefix. */
function heldOf(blocks: string[]): string[] {
  const context = blocks as unknown as Context
  const ordering = mirror.order(
    scope,
    context,
    context.map(() => 100),
  )
  const ordered = (ordering?.order ?? []).map((place) => blocks[place]!)
  const cached = (held: number, ...next: string[]): number =>
    mirror.predictCachedTokens(prompt(...ordered.slice(0, held), ...next))
  const end = ordered.findIndex((block, i) => cached(i, block) <= cached(i, 'never sent'))
  return end < 0 ? ordered : ordered.slice(0, end)
}

beforeEach(() => {
  mirror = new CacheMirror({ maxRequests: 3, maxBlocks: 100 })
})

test('what was sent is found again behind the same text, and only there', () => {
  mirror.apply({ type: 'sent', request: request('a'), prompt: prompt('x', 'y') })
  expect(heldOf(['y', 'x'])).toEqual(['x', 'y'])
  expect(mirror.order('other' as ScopeId, ['x'] as unknown as Context, [100])).toBeUndefined()
})

test('the prediction is the longest prefix held, in tokens as the engine counts them', () => {
  mirror.apply({ type: 'sent', request: request('a'), prompt: prompt('x', 'y') })
  expect(mirror.predictCachedTokens(prompt('x', 'z'))).toBe(50)
  expect(mirror.predictCachedTokens(prompt('z', 'x'))).toBe(25)
  for (let i = 0; i < 100; i++) mirror.apply({ type: 'used', request: request('a'), promptTokens: 200 })
  expect(mirror.predictCachedTokens(prompt('x', 'z'))).toBeCloseTo(100, -1)
})

test('a prediction is as dense as a request that holds the text was, whatever others were', () => {
  mirror.apply({ type: 'sent', request: request('code'), prompt: prompt('x', 'y') })
  mirror.apply({ type: 'used', request: request('code'), promptTokens: 200 })
  const other = { ...prompt('z'), prefixes: ['other' as ScopeId], ends: [300], contexts: [] }
  mirror.apply({ type: 'sent', request: request('prose'), prompt: other })
  mirror.apply({ type: 'used', request: request('prose'), promptTokens: 60 })
  expect(mirror.predictCachedTokens(prompt('x', 'new'))).toBe(100)
  expect(mirror.predictCachedTokens(other)).toBe(60)
  // the part not held has the average density, 0.35
  expect(mirror.estimatePromptTokens(prompt('x', 'new'))).toBe(170)
})

test('a prompt is never expected to have fewer tokens than are predicted to be cached', () => {
  mirror.apply({ type: 'sent', request: request('dense'), prompt: prompt('x', 'y') })
  mirror.apply({ type: 'used', request: request('dense'), promptTokens: 800 })
  for (let i = 0; i < 20; i++) {
    mirror.apply({ type: 'sent', request: request('thin'), prompt: { ...prompt(), prefixes: [], ends: [] } })
    mirror.apply({ type: 'used', request: request('thin'), promptTokens: 2 })
  }
  for (const asked of [prompt('x', 'y'), prompt('x'), prompt()]) {
    expect(mirror.estimatePromptTokens(asked)).toBeGreaterThanOrEqual(mirror.predictCachedTokens(asked))
  }
})

test('replicas of one model learn together what a character costs', () => {
  const average = new AverageDensity()
  const [one, two] = [1, 2].map(() => new CacheMirror({ maxRequests: 3, maxBlocks: 100, average }))
  one!.apply({ type: 'sent', request: request('a'), prompt: prompt('x') })
  one!.apply({ type: 'used', request: request('a'), promptTokens: 150 })
  expect(two!.estimatePromptTokens(prompt('x'))).toBe(150)
})

test('a half-evicted request is cut, not forgotten', () => {
  mirror.apply({ type: 'sent', request: request('a'), prompt: prompt('x', 'y', 'z') })
  mirror.apply({ type: 'used', request: request('a'), promptTokens: 500 })
  // 300 tokens are 300 characters here: the system text and two blocks
  mirror.apply({ type: 'evicted', request: request('a'), cachedTokens: 300 })
  expect(heldOf(['z', 'y', 'x'])).toEqual(['x', 'y'])
  mirror.apply({ type: 'evicted', request: request('a'), cachedTokens: 299 })
  expect(heldOf(['z', 'y', 'x'])).toEqual(['x'])
  mirror.apply({ type: 'evicted', request: request('a'), cachedTokens: 150 })
  expect(heldOf(['x'])).toEqual([])
  expect(mirror.has(request('a'))).toBe(true)
  mirror.apply({ type: 'evicted', request: request('a'), cachedTokens: 0 })
  expect(mirror.statistics).toMatchObject({ requests: 0, contexts: 0, cachedTokens: 0 })
})

test('a request that lost everything comes back when the engine stores it anew', () => {
  mirror.apply({ type: 'sent', request: request('a'), prompt: prompt('x', 'y') })
  mirror.apply({ type: 'evicted', request: request('a'), cachedTokens: 0 })
  expect(heldOf(['y', 'x'])).toEqual([])
  mirror.apply({ type: 'stored', request: request('a'), cachedTokens: 1_000 })
  expect(heldOf(['y', 'x'])).toEqual(['x', 'y'])
  expect(mirror.statistics).toMatchObject({ requests: 1, unknownRequests: 0 })
})

test('of requests that lost everything a bounded number is remembered, those that fell last', () => {
  const large = new CacheMirror({ maxRequests: 10_000, maxBlocks: 100_000 })
  for (let i = 0; i <= 5_000; i++) {
    large.apply({ type: 'sent', request: request(`${i}`), prompt: prompt('x') })
    large.apply({ type: 'evicted', request: request(`${i}`), cachedTokens: 0 })
  }
  expect(['0', '1', '5000'].map((id) => large.has(request(id)))).toEqual([false, true, true])
  // a request that was stored again does not count as lost any more
  large.apply({ type: 'stored', request: request('1'), cachedTokens: 1_000 })
  for (let i = 0; i < 5_000; i++) {
    large.apply({ type: 'sent', request: request(`more ${i}`), prompt: prompt('x') })
    large.apply({ type: 'evicted', request: request(`more ${i}`), cachedTokens: 0 })
  }
  expect(large.has(request('1'))).toBe(true)
  expect(large.statistics).toMatchObject({ requests: 1, contexts: 1 })
})

test('what another request still holds stays', () => {
  mirror.apply({ type: 'sent', request: request('a'), prompt: prompt('x', 'y') })
  mirror.apply({ type: 'sent', request: request('b'), prompt: prompt('x', 'z') })
  mirror.apply({ type: 'failed', request: request('a') })
  expect(mirror.predictCachedTokens(prompt('x', 'y'))).toBe(50)
  expect(heldOf(['y', 'z', 'x'])).toEqual(['x', 'z'])
})

test('a request that was cut grows again when the engine stores it anew', () => {
  mirror.apply({ type: 'sent', request: request('a'), prompt: prompt('x', 'y') })
  mirror.apply({ type: 'used', request: request('a'), promptTokens: 400 })
  mirror.apply({ type: 'evicted', request: request('a'), cachedTokens: 100 })
  mirror.apply({ type: 'stored', request: request('a'), cachedTokens: 400 })
  expect(heldOf(['y', 'x'])).toEqual(['x', 'y'])
})

test('engines report whole pages: where only the last part of one is missing, nothing is lost', () => {
  const report = (cachedTokens: number, pageTokens: number): void =>
    mirror.apply({ type: 'stored', request: request('a'), cachedTokens, pageTokens })
  mirror.apply({ type: 'sent', request: request('a'), prompt: { ...prompt('x', 'y'), length: 320 } })
  mirror.apply({ type: 'used', request: request('a'), promptTokens: 320 })
  report(288, 48)
  expect(mirror.predictCachedTokens(prompt('x', 'y', 'z'))).toBe(300)
  report(240, 48)
  expect(mirror.predictCachedTokens(prompt('x', 'y', 'z'))).toBe(200)
})

test('a snapshot replaces the state, and unknown requests are counted', () => {
  mirror.apply({ type: 'sent', request: request('a'), prompt: prompt('x') })
  mirror.apply({ type: 'sent', request: request('b'), prompt: prompt('y') })
  mirror.applySnapshot(
    new Map([
      [request('b'), 10_000],
      [request('c'), 5],
    ]),
  )
  expect(mirror.statistics).toMatchObject({ requests: 1, contexts: 1, unknownRequests: 1 })
  expect(heldOf(['x', 'y'])).toEqual(['y'])
})

test('a request that was sent while a snapshot was taken comes back when the engine reports it', () => {
  mirror.apply({ type: 'sent', request: request('a'), prompt: prompt('x') })
  mirror.applySnapshot(new Map())
  expect(heldOf(['x'])).toEqual([])
  mirror.apply({ type: 'stored', request: request('a'), cachedTokens: 1_000 })
  expect(heldOf(['x'])).toEqual(['x'])
})

test('what several requests share is counted once', () => {
  mirror.apply({ type: 'sent', request: request('a'), prompt: prompt('x', 'y') })
  mirror.apply({ type: 'sent', request: request('b'), prompt: prompt('x', 'z') })
  // 100 characters of system text and three blocks, at four characters a token
  expect(mirror.statistics.cachedTokens).toBe(100)
  mirror.apply({ type: 'failed', request: request('a') })
  expect(mirror.statistics.cachedTokens).toBe(75)
})

test('a cleared cache holds nothing', () => {
  mirror.apply({ type: 'sent', request: request('a'), prompt: prompt('x') })
  mirror.apply({ type: 'cleared' })
  expect(mirror.statistics).toMatchObject({ requests: 0, nodes: 0, contexts: 0, cachedTokens: 0 })
  expect(mirror.predictCachedTokens(prompt('x'))).toBe(0)
})

test('what a cleared cache held comes back when the engine tells of it anew', () => {
  mirror.apply({ type: 'sent', request: request('a'), prompt: prompt('x', 'y') })
  mirror.apply({ type: 'sent', request: request('b'), prompt: prompt('x', 'z') })
  mirror.apply({ type: 'cleared' })
  mirror.applySnapshot(new Map([[request('b'), 1_000]]))
  expect(heldOf(['y', 'z', 'x'])).toEqual(['x', 'z'])
  expect(mirror.statistics).toMatchObject({ requests: 1, unknownRequests: 0 })
  mirror.apply({ type: 'evicted', request: request('b'), cachedTokens: 0 })
  expect(mirror.statistics).toMatchObject({ requests: 0, contexts: 0, cachedTokens: 0 })
  expect(mirror.heldTokens).toBe(0)
})

test('the oldest requests are forgotten above the bound, with all they held', () => {
  for (const [id, block] of [
    ['a', 'w'],
    ['b', 'x'],
    ['c', 'y'],
    ['d', 'z'],
  ] as const) {
    mirror.apply({ type: 'sent', request: request(id), prompt: prompt(block) })
  }
  expect(mirror.statistics.requests).toBe(3)
  expect(heldOf(['w'])).toEqual([])
  expect(mirror.has(request('a'))).toBe(false)
})

test('what is asked for behind a text is remembered when the engine has lost it, for a bounded number of texts', () => {
  const [, second, ...rest] = ['x', 'y', 'z'] as unknown as Context
  const small = new CacheMirror({ maxRequests: 10, maxBlocks: 100 })
  const send = (scope: string): void => {
    const sent = prompt('y')
    const contexts = sent.contexts.map((context) => ({ ...context, scope: scope as ScopeId }))
    small.apply({ type: 'sent', request: request('a'), prompt: { ...sent, contexts } })
    small.apply({ type: 'evicted', request: request('a'), cachedTokens: 0 })
  }
  const orderBehind = (scope: string): readonly number[] | undefined =>
    small.order(scope as ScopeId, ['x', second!, ...rest] as unknown as Context, [100, 100, 100])?.order
  send('first')
  expect(orderBehind('first')).toEqual([1, 0, 2])
  for (let i = 0; i < 1_000; i++) send(`scope ${i}`)
  expect(orderBehind('first')).toBeUndefined()
  expect(orderBehind('scope 999')).toEqual([1, 0, 2])
})

test('the oldest requests are forgotten when all hold too many blocks; the latest is kept, however large', () => {
  const small = new CacheMirror({ maxRequests: 10, maxBlocks: 5 })
  const send = (id: string, ...blocks: string[]): void =>
    small.apply({ type: 'sent', request: request(id), prompt: prompt(...blocks) })
  send('a', 'a', 'b')
  send('b', 'c', 'd')
  send('c', 'e', 'f')
  expect(['a', 'b', 'c'].map((id) => small.has(request(id)))).toEqual([false, true, true])
  send('d', ...'ghijklm')
  expect(['b', 'c', 'd'].map((id) => small.has(request(id)))).toEqual([false, false, true])
  small.apply({ type: 'cleared' })
  send('e', 'a', 'b')
  send('f', 'c', 'd')
  expect(small.statistics.requests).toBe(2)
})

test('a block that ends where a prompt begins is not held by whoever holds nothing', () => {
  const one = new CacheMirror({ maxRequests: 10, maxBlocks: 100 })
  const odd = prompt('a', 'b')
  const ends = [0, 5]
  const told = { ...odd, contexts: [{ ...odd.contexts[0]!, ends }], prefixes: odd.prefixes, ends: [0, ...ends] }
  for (const asSent of [told, { ...told, prefixes: [], ends: [] }]) {
    one.apply({ type: 'sent', request: request('r'), prompt: asSent })
    one.apply({ type: 'failed', request: request('r') })
    expect(one.statistics).toMatchObject({ requests: 0, contexts: 0, nodes: 0 })
  }
})

test('what was asked for is remembered when an engine is cleared, and forgotten where that is asked for', () => {
  const orderAfter = (event: CacheEvent): readonly number[] | undefined => {
    const mirror = new CacheMirror({ maxRequests: 9, maxBlocks: 100 })
    for (const [name, ...blocks] of [
      ['1', 'a', 'x'],
      ['2', 'b', 'x'],
      ['3', 'c', 'x'],
    ] as const) {
      mirror.apply({ type: 'sent', request: request(name), prompt: prompt(...blocks) })
    }
    mirror.apply(event)
    return mirror.order(scope, ['new', 'x'] as unknown as Context, [100, 100])?.order
  }
  expect(orderAfter({ type: 'cleared' })).toEqual([1, 0])
  expect(orderAfter({ type: 'cleared', forgetsDemand: true })).toBeUndefined()
})
