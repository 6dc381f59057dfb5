import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { CacheEvent, MirroredPrompt, SentPrompt } from '../cache-event.ts'
import type { SharedBlocks } from '../columns/block-table.ts'
import { toPrefixSymbol } from '../columns/prefix-symbol.ts'
import { type Context, type RequestId, type ScopeId, toBlockId } from '../context-block.ts'
import { HistoryWindow } from '../ordering/demand-history.ts'
import { PrefixOrdering } from '../ordering/prefix-ordering.ts'
import { CacheMirror } from './cache-mirror.ts'
import { toMirroredPrompt } from './mirrored-prompts.ts'
import type { MirroredRequest } from './mirrored-requests.ts'

/** Prompts of one or two contexts that share prefixes in many ways; some are odd in ways that no proxy produces. */
const prompt: fc.Arbitrary<SentPrompt> = fc
  .record({
    first: fc.array(fc.constantFrom('a', 'b', 'c'), { maxLength: 4 }),
    second: fc.option(fc.array(fc.constantFrom('a', 'b', 'x'), { maxLength: 2 }), { nil: undefined }),
    oddity: fc.constantFrom('none', 'none', 'none', 'no prefixes', 'no contexts', 'other sizes'),
  })
  .map(({ first, second, oddity }) => toPrompt([first, ...(second ? [second] : [])], oddity))

function toPrompt(contexts: readonly string[][], oddity: string): SentPrompt {
  const prefixes: ScopeId[] = []
  const ends: number[] = []
  let [text, length] = ['', 0]
  const mark = (added: string, size: number): ScopeId => {
    text += `${added}|`
    length += size
    prefixes.push(text as ScopeId)
    ends.push(length)
    return text as ScopeId
  }
  const sent = contexts.map((names) => {
    const scope = mark('front', 100)
    const own = names.map((name) => {
      mark(name, 50)
      return length
    })
    const sizes = names.map(() => (oddity === 'other sizes' ? 41 : 40))
    const blocks = names.map(toBlockId)
    return { scope, blocks, sizes, ends: own }
  })
  return {
    contexts: oddity === 'no contexts' ? [] : sent,
    prefixes: oddity === 'no prefixes' ? [] : prefixes,
    ends: oddity === 'no prefixes' ? [] : ends,
    length: length + 30,
  }
}

const request = fc.constantFrom('r', 's', 't', 'u') as fc.Arbitrary<string> as fc.Arbitrary<RequestId>
const event: fc.Arbitrary<CacheEvent> = fc.oneof(
  { weight: 3, arbitrary: fc.record({ type: fc.constant('sent' as const), request, prompt }) },
  {
    weight: 3,
    arbitrary: fc.record({
      type: fc.constantFrom('stored' as const, 'evicted' as const),
      request,
      cachedTokens: fc.integer({ min: 0, max: 120 }),
    }),
  },
  fc.record({ type: fc.constant('used' as const), request, promptTokens: fc.integer({ min: 20, max: 300 }) }),
  fc.record({ type: fc.constant('failed' as const), request }),
  fc.record({
    type: fc.constant('shared' as const),
    request,
    prompt: fc.option(prompt.map(toMirroredPrompt), { nil: undefined }),
    heldLength: fc.nat(400),
    tokensPerCharacter: fc.option(fc.constantFrom(0.25, 0.5), { nil: undefined }),
    at: fc.nat(),
  }),
  { weight: 1, arbitrary: fc.constant({ type: 'cleared' as const }) },
)

/** A simple model of the mirror: each request with its prompt and its held length. */
class PlainMirror {
  readonly requests = new Map<RequestId, { prompt: MirroredPrompt; held: number; density: number | undefined }>()
  /** for each prefix of these prompts, whether the first of them that has it had a block end there */
  readonly #blocks = new Map<number, boolean>()

  /** `average`: tokens per character of requests that were not counted. */
  apply(event: CacheEvent, average: number): void {
    if (event.type === 'cleared') {
      for (const known of this.requests.values()) known.held = 0
      return
    }
    const known = this.requests.get(event.request)
    switch (event.type) {
      case 'sent':
        this.requests.delete(event.request)
        this.#noteBlocks()
        this.requests.set(event.request, {
          prompt: toMirroredPrompt(event.prompt),
          held: event.prompt.length,
          density: undefined,
        })
        break
      case 'failed':
        this.requests.delete(event.request)
        break
      case 'used':
        if (known) known.density = event.promptTokens / known.prompt.length
        break
      case 'shared': {
        const prompt = known?.prompt ?? event.prompt
        if (!prompt) break
        const density = event.tokensPerCharacter ?? known?.density
        this.requests.set(event.request, {
          prompt,
          held: Math.min(event.heldLength ?? known?.held ?? prompt.length, prompt.length),
          density,
        })
        break
      }
      default:
        if (known)
          known.held = Math.min(known.prompt.length, Math.floor(event.cachedTokens / (known.density ?? average)))
    }
    this.#noteBlocks()
  }

  /** Returns the length of the held prefix of a prompt, with a part of the text behind it. */
  find({ prefixes, ends }: SentPrompt): number {
    const held = this.#heldBySymbol()
    const lengths = prefixes.map((prefix) => held.get(toPrefixSymbol(prefix)) ?? 0)
    const first = lengths.findIndex((length, i) => length < ends[i]! - (ends[i - 1] ?? 0))
    return first < 0 ? (ends.at(-1) ?? 0) : (ends[first - 1] ?? 0) + lengths[first]!
  }

  /** Total characters that requests hold of blocks they hold in part, and after their last prefix. */
  get tailLength(): number {
    return [...this.requests.values()].reduce((sum, { prompt, held }) => {
      const whole = prompt.ends.filter((end) => end <= held).length
      const isText = this.#blocks.get(prompt.symbols[whole]!) === false
      return sum + (isText ? 0 : held - (prompt.ends[whole - 1] ?? 0))
    }, 0)
  }

  get heldLength(): number {
    return [...this.#heldBySymbol().values()].reduce((sum, length) => sum + length, 0)
  }

  #noteBlocks(): void {
    const prompts = [...this.requests.values()].map(({ prompt }) => prompt)
    const known = new Set(prompts.flatMap(({ symbols }) => symbols))
    for (const symbol of this.#blocks.keys()) if (!known.has(symbol)) this.#blocks.delete(symbol)
    for (const { symbols, ends, contexts } of prompts) {
      const blockEnds = new Set(contexts.flatMap(({ ends }) => ends))
      symbols.forEach((symbol, i) => {
        if (!this.#blocks.has(symbol)) this.#blocks.set(symbol, blockEnds.has(ends[i]!))
      })
    }
  }

  /** Returns how much is held of the text between a prefix and the one before it: of a block all or nothing. */
  #heldBySymbol(): Map<number, number> {
    const longest = new Map<number, number>()
    for (const { prompt, held } of this.requests.values()) {
      prompt.symbols.forEach((symbol, i) => {
        const [start, end] = [prompt.ends[i - 1] ?? 0, prompt.ends[i]!]
        const length = held < end && this.#blocks.get(symbol) ? 0 : Math.min(held, end) - start
        longest.set(symbol, Math.max(longest.get(symbol) ?? 0, length))
      })
    }
    return longest
  }
}

/** An index that also remembers in plain lists what each request holds. It forgets demand at once. */
class WatchedOrdering extends PrefixOrdering<MirroredRequest> {
  readonly held = new Map<MirroredRequest, Context>()
  readonly table: SharedBlocks

  constructor(blocks: SharedBlocks) {
    super({ blocks, history: new HistoryWindow(1) })
    this.table = blocks
  }

  override insertNumbers(blocks: readonly number[], request: MirroredRequest, isAsked: boolean): void {
    super.insertNumbers(blocks, request, isAsked)
    this.held.set(
      request,
      blocks.map((block) => this.table.idOf(block)),
    )
  }

  override cut(request: MirroredRequest, length: number): void {
    super.cut(request, length)
    expect(this.held.get(request)!.length).toBeGreaterThan(length)
    this.held.set(request, this.held.get(request)!.slice(0, length))
  }

  override remove(request: MirroredRequest): boolean {
    this.held.delete(request)
    return super.remove(request)
  }

  override clear(): void {
    super.clear()
    this.held.clear()
  }
}

class WatchedMirror extends CacheMirror {
  readonly indexes: WatchedOrdering[] = []

  override createIndex(blocks: SharedBlocks): WatchedOrdering {
    const index = new WatchedOrdering(blocks)
    this.indexes.push(index)
    return index
  }
}

/** Returns, for each context, the blocks that end within the held prefix of its prompt. */
function heldContexts({ prompt, held }: { prompt: MirroredPrompt; held: number }): string[] {
  return prompt.contexts
    .map(({ blocks, ends }) => blocks.filter((_, i) => held > 0 && ends[i]! <= held).join())
    .filter((blocks) => blocks !== '')
}

/** Returns a prompt without its block sizes, which may come from any of the requests. */
function plainly(prompt: MirroredPrompt): object {
  return { ...prompt, contexts: prompt.contexts.map((context) => ({ ...context, sizes: context.sizes.length })) }
}

test('whatever happens, the mirror knows of each request and each prefix what a plain one does', () => {
  fc.assert(
    fc.property(
      fc.array(event, { maxLength: 40 }),
      fc.array(prompt, { minLength: 1, maxLength: 4 }),
      (events, asked) => {
        const mirror = new CacheMirror({ maxRequests: 100, maxBlocks: 1_000 })
        const plain = new PlainMirror()
        for (const event of events) {
          const average = mirror.estimateTokens(1e9) / 1e9
          mirror.apply(event)
          plain.apply(event, average)
          expect([...mirror.requestIds()]).toEqual([...plain.requests.keys()])
          for (const [request, { prompt, held, density }] of plain.requests) {
            const { prompt: recalled, heldLength, tokensPerCharacter } = mirror.recall(request)!
            expect(plainly(recalled)).toEqual(plainly(prompt))
            expect(Math.abs(heldLength - held)).toBeLessThanOrEqual(1)
            // adopt the mirror's rounding in the model
            plain.requests.get(request)!.held = heldLength
            expect(tokensPerCharacter).toBe(density)
          }
          const { requests, cachedTokens } = mirror.statistics
          expect(requests).toBe([...plain.requests.values()].filter(({ held }) => held > 0).length)
          const tokensPerCharacter = mirror.estimateTokens(1e9) / 1e9
          // the average is known to nine decimals
          const off = cachedTokens - plain.heldLength * tokensPerCharacter
          const allOff = mirror.heldTokens - (plain.heldLength + plain.tailLength) * tokensPerCharacter
          for (const difference of [off, allOff]) expect(Math.abs(difference)).toBeLessThan(1.001)
        }
        for (const one of asked) {
          expect(mirror.predictCachedLength(one)).toBe(plain.find(one))
          const rest = mirror.estimatePromptTokens(one) - mirror.predictCachedTokens(one)
          const average = mirror.estimateTokens(1e9) / 1e9
          expect(Math.abs(rest - (one.length - plain.find(one)) * average)).toBeLessThanOrEqual(2)
        }
      },
    ),
    { numRuns: 300 },
  )
})

test('whatever happens, requests hold behind each text the blocks that end within what is held of them', () => {
  fc.assert(
    fc.property(fc.array(event, { maxLength: 40 }), (events) => {
      const mirror = new WatchedMirror({ maxRequests: 100, maxBlocks: 1_000 })
      for (const event of events) {
        mirror.apply(event)
        const held = mirror.indexes.flatMap(({ held }) => [...held.values()].map((blocks) => blocks.join()))
        const believed = [...mirror.requestIds()].map((request) => mirror.recall(request)!)
        const meant = believed.flatMap(({ prompt, heldLength }) => heldContexts({ prompt, held: heldLength }))
        expect(held.sort()).toEqual(meant.sort())
      }
    }),
    { numRuns: 1_000 },
  )
})

test('a block whose number is longer in another prompt is no reason to keep that prompt apart', () => {
  const mirror = new CacheMirror({ maxRequests: 100, maxBlocks: 1_000 })
  const send = (name: string, oddity: string): void => {
    mirror.apply({ type: 'sent', request: name as RequestId, prompt: toPrompt([['a', 'b', 'c']], oddity) })
  }
  send('r', 'none')
  const before = mirror.statistics.bytes
  send('s', 'other sizes')
  expect(mirror.statistics.bytes - before).toBeLessThan(600)
})

test('nothing is left of requests that are gone', () => {
  fc.assert(
    fc.property(fc.array(prompt, { maxLength: 10 }), (prompts) => {
      const mirror = new WatchedMirror({ maxRequests: 100, maxBlocks: 1_000 })
      prompts.forEach((prompt, i) => {
        mirror.apply({ type: 'sent', request: `${i}` as RequestId, prompt })
        mirror.apply({ type: 'evicted', request: `${i}` as RequestId, cachedTokens: 1 + 7 * i })
      })
      for (const i of prompts.keys()) mirror.apply({ type: 'failed', request: `${i}` as RequestId })
      expect(mirror.statistics).toMatchObject({ requests: 0, contexts: 0, nodes: 0, cachedTokens: 0 })
      for (const prompt of prompts) expect(mirror.predictCachedTokens(prompt)).toBe(0)
      for (const { table } of mirror.indexes) expect(table.size).toBe(0)
    }),
  )
})
