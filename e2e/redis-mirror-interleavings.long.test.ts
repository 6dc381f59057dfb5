import { setTimeout as pause } from 'node:timers/promises'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { RequestId } from '#index/context-block.ts'
import { agree, MirrorProxy } from './mirror-proxies.ts'
import { hasRedis, type RunningRedis, startRedis, waitFor } from './redis-server.ts'

/** An engine that reports to a given proxy, and answers a gap with a snapshot, as engines do. */
class ReportingEngine {
  readonly #cached = new Map<string, number>()
  #lives = 0
  #sequence = 0

  /** Restarts with an empty cache. */
  async restart(proxy: MirrorProxy): Promise<void> {
    this.#lives += 1
    this.#sequence = 0
    this.#cached.clear()
    await this.#snapshot(proxy)
  }

  async report(proxy: MirrorProxy, request: string, tokens: number): Promise<void> {
    if (this.#lives === 0) await this.restart(proxy)
    this.#sequence += 1
    if (tokens > 0) this.#cached.set(request, tokens)
    else this.#cached.delete(request)
    const answer = await proxy.report(this.generation, this.#sequence, { [request]: tokens })
    if ('expected' in answer) await this.#snapshot(proxy)
  }

  get generation(): string {
    return `life ${this.#lives}`
  }

  async #snapshot(proxy: MirrorProxy): Promise<void> {
    await proxy.snapshot(this.generation, this.#sequence, Object.fromEntries(this.#cached))
  }
}

const proxy = fc.integer({ min: 0, max: 1 })
const request = fc.integer({ min: 0, max: 5 }).map((n) => `r${n}`)
const step = fc.oneof(
  { weight: 4, arbitrary: fc.record({ do: fc.constant('send' as const), proxy, request }) },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('report' as const),
      proxy,
      request,
      tokens: fc.constantFrom(0, 25, 50, 200),
    }),
  },
  fc.record({ do: fc.constant('count' as const), proxy, request }),
  fc.record({ do: fc.constant('fail' as const), proxy, request }),
  fc.record({ do: fc.constantFrom('restart' as const, 'clear' as const, 'hold' as const, 'goOn' as const), proxy }),
  {
    weight: 3,
    arbitrary: fc.record({ do: fc.constant('wait' as const), milliseconds: fc.integer({ min: 0, max: 12 }) }),
  },
)
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never

describe.skipIf(!hasRedis)('two proxies and whatever happens to them in any order (needs redis-server)', () => {
  let server: RunningRedis

  beforeAll(async () => {
    server = await startRedis()
  })

  afterAll(() => server.close())

  async function take(
    step: Step,
    proxies: readonly MirrorProxy[],
    engine: ReportingEngine,
    sent: Set<string>,
  ): Promise<void> {
    if (step.do === 'wait') return void (await pause(step.milliseconds))
    const proxy = proxies[step.proxy]!
    switch (step.do) {
      case 'send':
        // each id is used only once
        if (!sent.has(step.request)) proxy.send(step.request, 'x', `of ${step.request}`)
        sent.add(step.request)
        break
      case 'report':
        await engine.report(proxy, step.request, step.tokens)
        break
      case 'count':
        proxy.apply({ type: 'used', request: step.request as RequestId, promptTokens: 100 })
        break
      case 'fail':
        proxy.apply({ type: 'failed', request: step.request as RequestId })
        break
      case 'restart':
        await engine.restart(proxy)
        break
      case 'clear':
        proxy.replicaMirror.clear()
        break
      case 'hold':
        proxy.link.goOn()
        proxy.link.hold()
        break
      case 'goOn':
        proxy.link.goOn()
    }
  }

  test('both end with the same, and so does one that joins then', { timeout: 120_000 }, async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 40 }), async (steps) => {
        await server.client.flushall()
        const proxies = [
          await new MirrorProxy({ url: server.url }).start(),
          await new MirrorProxy({ url: server.url }).start(),
        ]
        // reports are applied only after loading
        await waitFor(() => proxies.every(({ shared }) => shared.isLoaded))
        const [engine, sent] = [new ReportingEngine(), new Set<string>()]
        try {
          for (const step of steps) await take(step, proxies, engine, sent)
          for (const { link } of proxies) link.goOn()
          await agree(...proxies)
          const late = await new MirrorProxy({ url: server.url }).start()
          proxies.push(late)
          await agree(...proxies)
          expect(proxies.flatMap(({ faults }) => faults)).toEqual([])
        } finally {
          await Promise.all(proxies.map((proxy) => proxy.close()))
        }
      }),
      // a failure names its steps at once: those that take part can be found at leisure, with its seed
      { numRuns: 60, endOnFailure: true, timeout: 30_000, interruptAfterTimeLimit: 60_000 },
    )
  })
})
