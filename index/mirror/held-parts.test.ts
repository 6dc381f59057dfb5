import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { CacheEvent, SentPrompt } from '../cache-event.ts'
import type { Context, RequestId, ScopeId } from '../context-block.ts'
import { cutContradicted } from './believed-cache.ts'
import type { CacheMirror } from './cache-mirror.ts'
import { createMirror } from './sent-prompts.fixture.ts'

/** A piece of a prompt. */
interface Piece {
  readonly name: string
  readonly length: number
  readonly isBlock: boolean
}

function toPrompt(pieces: readonly Piece[], tail = 0): SentPrompt {
  const upTo = pieces.map((_, i) => pieces.slice(0, i + 1))
  const ends = upTo.map((before) => before.reduce((sum, { length }) => sum + length, 0))
  const prefixes = upTo.map((before) => before.map(({ name, length }) => `${name} ${length}`).join('|') as ScopeId)
  const first = pieces.findIndex(({ isBlock }) => isBlock)
  const blocks = pieces.filter(({ isBlock }) => isBlock)
  const context = {
    scope: (prefixes[first - 1] ?? '') as ScopeId,
    blocks: blocks.map(({ name }) => name) as unknown as Context,
    sizes: blocks.map(({ length }) => length),
    ends: ends.filter((_, i) => pieces[i]!.isBlock),
  }
  return { contexts: first < 0 ? [] : [context], prefixes, ends, length: ends.at(-1)! + tail }
}

const text = (name: string, length: number): Piece => ({ name, length, isBlock: false })
const block = (name: string, length: number): Piece => ({ name, length, isBlock: true })
const request = (id: string): RequestId => id as RequestId

function send(mirror: CacheMirror, id: string, prompt: SentPrompt, promptTokens: number): void {
  mirror.apply({ type: 'sent', request: request(id), prompt })
  mirror.apply({ type: 'used', request: request(id), promptTokens })
}

function report(mirror: CacheMirror, id: string, cachedTokens: number, type: 'stored' | 'evicted' = 'evicted'): void {
  mirror.apply({ type, request: request(id), cachedTokens })
}

test('a plain text that was evicted in part is cut, not forgotten', () => {
  const mirror = createMirror()
  const asked = toPrompt([text('message', 10_000)])
  const longer = toPrompt([text('message', 10_000), text('answer', 40), text('more', 500)])
  send(mirror, 'r', asked, 2_500)
  for (const tokens of [1_875, 1_250, 625]) {
    report(mirror, 'r', tokens)
    expect(mirror.predictCachedTokens(asked)).toBe(tokens)
    expect(mirror.predictCachedTokens(longer)).toBe(tokens)
    expect(mirror.statistics.cachedTokens).toBe(tokens)
    expect(mirror.heldTokens).toBe(tokens)
  }
  expect(mirror.predictCachedTokens(toPrompt([text('other', 10_000)]))).toBe(0)
  report(mirror, 'r', 0)
  expect(mirror.predictCachedTokens(asked)).toBe(0)
  expect(mirror.heldTokens).toBe(0)
})

test('a block that was evicted in part counts as lost, as does the text behind it', () => {
  const mirror = createMirror()
  const asked = toPrompt([text('front', 400), block('a', 400), text('gap', 40), block('b', 400), text('question', 400)])
  send(mirror, 'r', asked, 410)
  const predict = (tokens: number): number => {
    report(mirror, 'r', tokens)
    return mirror.predictCachedTokens(asked)
  }
  expect([410, 350, 309, 215, 205, 150, 50].map(predict)).toEqual([410, 350, 210, 210, 205, 100, 50])
})

test('of requests that hold parts of one text the longest part counts, once, and only while it is held', () => {
  const mirror = createMirror()
  const asked = toPrompt([text('system', 4_000)])
  for (const [i, id] of ['r', 's', 't'].entries()) {
    send(mirror, id, toPrompt([text('system', 4_000), text(id, 400)]), 1_100)
    report(mirror, id, [300, 700, 500][i]!)
  }
  const held = (): number[] => [mirror.predictCachedTokens(asked), mirror.statistics.cachedTokens, mirror.heldTokens]
  // r and s were cut while others held all of it
  expect(held()).toEqual([700, 700, 700])
  report(mirror, 's', 0)
  expect(held()).toEqual([500, 500, 500])
  mirror.apply({ type: 'failed', request: request('t') })
  expect(held()).toEqual([300, 300, 300])
  send(mirror, 'u', asked, 1_000)
  expect(held()).toEqual([1_000, 1_000, 1_000])
  mirror.apply({ type: 'cleared' })
  expect(held()).toEqual([0, 0, 0])
})

test('a prompt whose every token the engine holds is held to its last character', () => {
  for (let tokens = 1; tokens <= 400; tokens++) {
    const mirror = createMirror()
    const asked = toPrompt([text('prompt', 5 * tokens + 58)])
    send(mirror, 'r', asked, tokens)
    report(mirror, 'r', tokens, 'stored')
    expect(mirror.heldOf(request('r'))?.cachedLength).toBe(asked.length)
    expect(mirror.predictCachedTokens(asked)).toBe(tokens)
  }
})

test('an engine that found less of a text than a request was to hold of it is believed', () => {
  const mirror = createMirror()
  const prompt = toPrompt([text('message', 4_000)])
  send(mirror, 'r', prompt, 1_000)
  report(mirror, 'r', 800)
  send(mirror, 's', prompt, 1_000)
  const contradiction = { prompt, cachedTokens: 300, tokensPerCharacter: 0.25, until: request('s') }
  cutContradicted(mirror, contradiction, (cut) => mirror.apply(cut))
  expect(mirror.heldOf(request('r'))?.cachedLength).toBe(1_200)
})

test('another proxy that learns how much of a request is held predicts as much', () => {
  const [one, two] = [createMirror(), createMirror()]
  const asked = toPrompt([text('message', 4_000)])
  send(one, 'r', asked, 1_000)
  report(one, 'r', 333)
  const { prompt, heldLength, tokensPerCharacter } = one.recall(request('r'))!
  two.apply({ type: 'shared', request: request('r'), prompt, heldLength, tokensPerCharacter })
  expect(two.predictCachedTokens(asked)).toBe(333)
})

const pieces = fc.array(
  fc.record({ name: fc.constantFrom('a', 'b', 'c'), length: fc.integer({ min: 1, max: 900 }), isBlock: fc.boolean() }),
  { minLength: 1, maxLength: 6 },
)
const share = fc.double({ min: 0, max: 1, noNaN: true })

test('of a prompt sent again, no more is predicted than was reported, and no less than its whole pieces', () => {
  fc.assert(
    fc.property(
      pieces,
      fc.integer({ min: 0, max: 90 }),
      fc.integer({ min: 1, max: 2_000 }),
      fc.array(share, { minLength: 1, maxLength: 5 }),
      (pieces, tail, promptTokens, shares) => {
        const mirror = createMirror()
        // a scope begins where a text ends
        const asked = toPrompt([text('front', 50), ...pieces], tail)
        send(mirror, 'r', asked, promptTokens)
        for (const share of shares) {
          const cachedTokens = Math.round(share * promptTokens)
          report(mirror, 'r', cachedTokens, share > 0.5 ? 'stored' : 'evicted')
          const density = promptTokens / asked.length
          const whole = asked.ends.findLast((end) => end * density <= cachedTokens) ?? 0
          const predicted = mirror.predictCachedTokens(asked)
          expect(predicted).toBeLessThanOrEqual(cachedTokens)
          expect(predicted).toBeGreaterThanOrEqual(Math.floor(whole * density))
          const isPlain = !pieces.some(({ isBlock }) => isBlock) && tail === 0
          // where a character has at most one token, each length in tokens is one in characters
          if (isPlain && density <= 1) expect(predicted).toBe(cachedTokens)
          if (isPlain) expect(predicted).toBeGreaterThanOrEqual(cachedTokens - Math.ceil(density))
        }
      },
    ),
    { numRuns: 300 },
  )
})

test('in whole pages, all of a plain text is predicted but a page', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 4_000 }), fc.constantFrom(1, 16, 64), share, (promptTokens, page, share) => {
      const mirror = createMirror()
      const asked = toPrompt([text('message', 4 * promptTokens + 13)])
      send(mirror, 'r', asked, promptTokens)
      const tokens = Math.round(share * promptTokens)
      const cachedTokens = tokens - (tokens % page)
      const event: CacheEvent = { type: 'stored', request: request('r'), cachedTokens, pageTokens: page }
      mirror.apply(event)
      const predicted = mirror.predictCachedTokens(asked)
      expect(predicted).toBeGreaterThanOrEqual(cachedTokens - 1)
      // all of a prompt counts where only the last part of a page is missing
      expect(predicted).toBeLessThan(cachedTokens + page)
    }),
  )
})
