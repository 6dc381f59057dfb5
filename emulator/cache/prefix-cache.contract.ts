import fc from 'fast-check'
import { beforeEach, describe, expect, it } from 'vitest'
import type { CacheSequence, PrefixCache } from './prefix-cache.ts'

const page = 4

/** `count` tokens that depend on `seed` and on their position. */
function run(seed: number, count: number): number[] {
  return Array.from({ length: count }, (_, index) => seed * 1000 + index)
}

interface Script {
  cache: PrefixCache
  begin(id: string, prompt: number[], output?: number, salt?: string): CacheSequence | undefined
}

function scriptOf(cache: PrefixCache): Script {
  return {
    cache,
    begin(id, prompt, output = 0, salt = '') {
      const tokens = Uint32Array.from([...prompt, ...run(99, output)])
      const sequence = cache.open({ requestId: id, salt, tokens, promptTokens: prompt.length })
      return sequence.acquire() ? sequence : undefined
    },
  }
}

/** Runs one request from admission to end; returns its cached tokens. */
function serve({ begin }: Script, id: string, prompt: number[], output = 0, salt = ''): number {
  const sequence = begin(id, prompt, output, salt)!
  sequence.computed(prompt.length)
  sequence.release(prompt.length + Math.max(0, output - 1))
  return sequence.cachedTokens
}

/** The suite every prefix cache must pass; `create` makes one with pages of four tokens. */
export function describePrefixCache(name: string, create: (capacityTokens: number) => PrefixCache): void {
  describe(`${name} as a prefix cache`, () => {
    describeHits(create)
    describeSpace(create)
    describeReports(create)
    describeProperties(create)
  })
}

function describeHits(create: (capacityTokens: number) => PrefixCache): void {
  let script: Script
  beforeEach(() => {
    script = scriptOf(create(400))
  })

  it('finds nothing at first and whole pages the second time', () => {
    expect(serve(script, 'a', run(1, 10))).toBe(0)
    expect(serve(script, 'b', run(1, 10))).toBe(8)
    expect(serve(script, 'c', [...run(1, 9), 7, 7, 7, 7])).toBe(8)
  })

  it('computes at least the last prompt token, hence the last page of an exact multiple', () => {
    expect(serve(script, 'a', run(1, 8))).toBe(0)
    expect(serve(script, 'b', run(1, 8))).toBe(4)
    expect(serve(script, 'c', run(1, 9))).toBe(8)
    expect(serve(script, 'd', run(1, 1))).toBe(0)
  })

  it('finds a prefix only from the first token on', () => {
    serve(script, 'a', [...run(1, 8), ...run(2, 8)])
    expect(serve(script, 'b', [...run(2, 8), ...run(1, 8)])).toBe(0)
    expect(serve(script, 'c', [...run(1, 8), ...run(3, 8)])).toBe(8)
  })

  it('keeps full pages of the output, whose last token is never computed', () => {
    serve(script, 'a', run(1, 6), 7)
    expect(script.cache.match(Uint32Array.from([...run(1, 6), ...run(99, 7)]), '')).toBe(12)
    serve(script, 'b', run(2, 6), 3)
    expect(script.cache.match(Uint32Array.from([...run(2, 6), ...run(99, 3)]), '')).toBe(8)
    serve(script, 'c', run(3, 6), 2)
    expect(script.cache.match(Uint32Array.from([...run(3, 6), ...run(99, 2)]), '')).toBe(4)
  })

  it('never shares between salts', () => {
    serve(script, 'a', run(1, 10), 0, 'red')
    expect(serve(script, 'b', run(1, 10), 0, 'blue')).toBe(0)
    expect(serve(script, 'c', run(1, 10))).toBe(0)
    expect(serve(script, 'd', run(1, 10), 0, 'red')).toBe(8)
  })

  it('shares with a request that is still running', () => {
    const running = script.begin('a', run(1, 10), 5)!
    expect(serve(script, 'early', run(1, 10))).toBe(0)
    running.computed(10)
    expect(serve(script, 'b', run(1, 10))).toBe(8)
    running.release(14)
  })

  it('keeps nothing of a prefill that was broken off', () => {
    script.begin('a', run(1, 10))!.release(0)
    expect(serve(script, 'b', run(1, 10))).toBe(0)
    expect(script.cache.requests().map((request) => request.request_id)).toEqual(['b'])
  })
}

function describeSpace(create: (capacityTokens: number) => PrefixCache): void {
  it('evicts tails first and the least recently used request first', () => {
    const script = scriptOf(create(24))
    serve(script, 'old', run(1, 8))
    serve(script, 'new', run(2, 8))
    serve(script, 'next', run(3, 12))
    expect(script.cache.match(Uint32Array.from(run(1, 8)), '')).toBeLessThan(8)
    expect(script.cache.match(Uint32Array.from(run(2, 8)), '')).toBe(8)
    expect(script.cache.match(Uint32Array.from(run(3, 12)), '')).toBe(12)
  })

  it('a hit makes a prefix recent again', () => {
    const script = scriptOf(create(24))
    serve(script, 'a', run(1, 8))
    serve(script, 'b', run(2, 8))
    serve(script, 'a again', run(1, 9))
    serve(script, 'c', run(3, 12))
    expect(script.cache.match(Uint32Array.from(run(1, 8)), '')).toBe(8)
    expect(script.cache.match(Uint32Array.from(run(2, 8)), '')).toBeLessThan(8)
  })

  it('makes a request wait while running ones hold the space, without evicting for it', () => {
    const script = scriptOf(create(24))
    serve(script, 'cached', run(1, 8))
    const running = script.begin('running', run(2, 10), 2)!
    expect(script.begin('waiting', run(3, 16))).toBeUndefined()
    expect(script.cache.match(Uint32Array.from(run(1, 8)), '')).toBe(8)
    running.release(0)
    expect(script.begin('waiting', run(3, 16))).toBeDefined()
  })

  it('counts found pages as taken, not as space', () => {
    const script = scriptOf(create(16))
    serve(script, 'a', run(1, 8))
    expect(script.begin('b', [...run(1, 8), ...run(2, 12)])).toBeUndefined()
    expect(script.begin('c', [...run(1, 8), ...run(2, 8)])?.cachedTokens).toBe(8)
  })

  it('rounds the capacity down to whole pages and may be unlimited', () => {
    expect(create(23).capacityTokens).toBe(20)
    const script = scriptOf(create(Number.POSITIVE_INFINITY))
    for (let seed = 1; seed <= 50; seed++) serve(script, `r${seed}`, run(seed, 100))
    expect(serve(script, 'again', run(1, 100))).toBe(96)
    expect(script.cache.capacityTokens).toBe(Number.POSITIVE_INFINITY)
  })

  it('is cleared only while nothing runs', () => {
    const script = scriptOf(create(400))
    const running = script.begin('a', run(1, 10))!
    running.computed(10)
    expect(script.cache.clear()).toBe(false)
    running.release(10)
    script.cache.takeReports()
    expect(script.cache.clear()).toBe(true)
    expect(script.cache.takeReports()).toEqual([{ type: 'cleared' }])
    expect(script.cache.usedTokens).toBe(0)
    expect(serve(script, 'b', run(1, 10))).toBe(0)
  })
}

function describeReports(create: (capacityTokens: number) => PrefixCache): void {
  it('reports what is stored after the prefill, and again at the end only if the output made it longer', () => {
    const script = scriptOf(create(400))
    serve(script, 'long', run(1, 8), 6)
    serve(script, 'short', run(2, 9), 2)
    expect(script.cache.takeReports()).toEqual([
      { type: 'stored', request_id: 'long', cached_tokens: 8 },
      { type: 'stored', request_id: 'long', cached_tokens: 12 },
      { type: 'stored', request_id: 'short', cached_tokens: 8 },
    ])
    expect(script.cache.takeReports()).toEqual([])
  })

  it('reports every request that shares an evicted prefix', () => {
    const script = scriptOf(create(16))
    serve(script, 'a', run(1, 8))
    serve(script, 'b', run(1, 9))
    script.cache.takeReports()
    serve(script, 'c', run(3, 16))
    const evicted = script.cache.takeReports().filter((report) => report.type === 'evicted')
    expect(evicted).toEqual([
      { type: 'evicted', request_id: 'a', cached_tokens: 0, tier: 'gpu' },
      { type: 'evicted', request_id: 'b', cached_tokens: 0, tier: 'gpu' },
    ])
    expect(script.cache.requests()).toEqual([{ request_id: 'c', cached_tokens: 16 }])
  })

  it('cuts a request that loses only its own tail behind a shared prefix', () => {
    const script = scriptOf(create(24))
    serve(script, 'a', [...run(1, 8), ...run(2, 8)])
    serve(script, 'b', run(1, 9))
    script.cache.takeReports()
    serve(script, 'c', run(3, 16))
    expect(script.cache.takeReports()).toEqual([
      { type: 'evicted', request_id: 'a', cached_tokens: 8, tier: 'gpu' },
      { type: 'stored', request_id: 'c', cached_tokens: 16 },
    ])
  })
}

interface Running {
  id: string
  salt: string
  tokens: Uint32Array
  prompt: number
  sequence: CacheSequence
  prefilled: boolean
}

const operations = fc.array(
  fc.oneof(
    {
      weight: 4,
      arbitrary: fc.record({
        kind: fc.constant('begin' as const),
        runs: fc.array(fc.nat(1), { minLength: 1, maxLength: 4 }),
        tail: fc.integer({ min: 0, max: 5 }),
        output: fc.integer({ min: 1, max: 9 }),
        salt: fc.constantFrom('', 'pepper'),
        id: fc.nat(9),
      }),
    },
    { weight: 3, arbitrary: fc.record({ kind: fc.constant('computed' as const), which: fc.nat(5) }) },
    { weight: 3, arbitrary: fc.record({ kind: fc.constant('end' as const), which: fc.nat(5), early: fc.boolean() }) },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('clear' as const) }) },
  ),
  { maxLength: 60 },
)
type Operation = typeof operations extends fc.Arbitrary<Array<infer T>> ? T : never

/** Plays operations against a cache and checks, after each, what must hold for every prefix cache. */
class Playback {
  readonly log: unknown[] = []
  readonly #cache: PrefixCache
  readonly #running: Running[] = []
  readonly #inserted: Array<{ salt: string; tokens: Uint32Array }> = []
  readonly #latest = new Map<string, { salt: string; tokens: Uint32Array }>()
  readonly #mirror = new Map<string, number>()

  constructor(cache: PrefixCache) {
    this.#cache = cache
  }

  play(operation: Operation): void {
    if (operation.kind === 'begin') this.#begin(operation)
    else if (operation.kind === 'clear') this.#clear()
    else {
      const index = operation.which % Math.max(1, this.#running.length)
      const running = this.#running[index]
      if (running && operation.kind === 'computed') this.#prefill(running)
      else if (running && operation.kind === 'end') this.#end(index, running, operation.early)
    }
    expect(this.#cache.usedTokens).toBeLessThanOrEqual(this.#cache.capacityTokens)
    this.#checkReports()
  }

  /** Ends all running requests; after that, a prompt as large as the cache must fit. */
  finish(): void {
    while (this.#running.length > 0) this.play({ kind: 'end', which: 0, early: false })
    const { capacityTokens } = this.#cache
    if (!Number.isFinite(capacityTokens)) return
    const tokens = new Uint32Array(capacityTokens)
    const sequence = this.#cache.open({ requestId: 'last', salt: '', tokens, promptTokens: capacityTokens })
    expect(sequence.acquire()).toBe(true)
    expect(this.#cache.usedTokens).toBe(capacityTokens)
    sequence.release(0)
    expect(this.#cache.usedTokens).toBe(0)
    expect(this.#cache.requests()).toEqual([])
  }

  #begin(operation: Extract<Operation, { kind: 'begin' }>): void {
    const prompt = operation.runs.flatMap((seed, index) => run(seed + index * 10, page)).concat(run(5, operation.tail))
    const tokens = Uint32Array.from([...prompt, ...run(99, operation.output)])
    const { salt } = operation
    const id = `r${operation.id}`
    const sequence = this.#cache.open({ requestId: id, salt, tokens, promptTokens: prompt.length })
    const expected = Math.min(this.#cache.match(tokens, salt), Math.floor((prompt.length - 1) / page) * page)
    if (!sequence.acquire()) return
    this.log.push(sequence.cachedTokens)
    expect(sequence.cachedTokens).toBe(expected)
    expect(this.#wasInserted(salt, tokens.subarray(0, sequence.cachedTokens))).toBe(true)
    this.#running.push({ id, salt, tokens, prompt: prompt.length, sequence, prefilled: false })
  }

  #prefill(running: Running): void {
    if (running.prefilled) return
    running.prefilled = true
    running.sequence.computed(running.prompt)
    this.#insert(running, running.prompt)
  }

  #end(index: number, running: Running, early: boolean): void {
    this.#running.splice(index, 1)
    const computed = running.prefilled ? (early ? running.prompt : running.tokens.length - 1) : 0
    running.sequence.release(computed)
    // a request is stored again only if it has more whole pages than after the prefill
    const wholePages = (tokens: number): number => Math.floor(tokens / page)
    if (wholePages(computed) > wholePages(running.prompt)) this.#insert(running, computed)
  }

  #clear(): void {
    if (this.#cache.clear()) this.#mirror.clear()
    else expect(this.#running).not.toEqual([])
  }

  #insert({ id, salt, tokens }: Running, length: number): void {
    const whole = { salt, tokens: tokens.subarray(0, length - (length % page)) }
    this.#inserted.push(whole)
    this.#latest.set(id, whole)
  }

  #wasInserted(salt: string, tokens: Uint32Array): boolean {
    if (tokens.length === 0) return true
    return this.#inserted.some(
      (one) => one.salt === salt && tokens.every((token, index) => one.tokens[index] === token),
    )
  }

  #checkReports(): void {
    const reports = this.#cache.takeReports()
    this.log.push(reports)
    for (const report of reports) {
      if (report.type === 'cleared') continue
      if (report.cached_tokens > 0) this.#mirror.set(report.request_id, report.cached_tokens)
      else this.#mirror.delete(report.request_id)
    }
    for (const report of reports) {
      if (report.type !== 'cleared') {
        expect(this.#mirror.get(report.request_id) ?? 0).toBe(this.#cachedLength(report.request_id))
      }
    }
    for (const [id, tokens] of this.#mirror) expect(tokens).toBeLessThanOrEqual(this.#cachedLength(id))
    const state = this.#cache.requests().map((request) => [request.request_id, request.cached_tokens])
    expect(new Map(state as Array<[string, number]>)).toEqual(this.#mirror)
  }

  #cachedLength(id: string): number {
    const latest = this.#latest.get(id)
    return latest ? this.#cache.match(latest.tokens, latest.salt) : 0
  }
}

function describeProperties(create: (capacityTokens: number) => PrefixCache): void {
  const histories = fc.tuple(fc.constantFrom(16, 24, 40, 80, Number.POSITIVE_INFINITY), operations)

  it('stays within its capacity, matches only what was inserted and reports what a match would find', () => {
    fc.assert(
      fc.property(histories, ([capacity, history]) => {
        const playback = new Playback(create(capacity))
        for (const operation of history) playback.play(operation)
        playback.finish()
      }),
      { numRuns: 300 },
    )
  })

  it('gives equal results for equal histories', () => {
    fc.assert(
      fc.property(histories, ([capacity, history]) => {
        const playbacks = [new Playback(create(capacity)), new Playback(create(capacity))]
        for (const operation of history) for (const playback of playbacks) playback.play(operation)
        expect(playbacks[0]?.log).toEqual(playbacks[1]?.log)
      }),
      { numRuns: 50 },
    )
  })
}
