import fc from 'fast-check'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { countNames, expectBounds } from '#proxy/telemetry/hot-blocks.contract.ts'
import { exchangeAll, HotBlockProxies, type HotBlockProxy, type LinkFault, linkFaults } from './hot-block-proxies.ts'
import { hasRedis } from './redis-server.ts'

const names = fc.array(
  fc.nat({ max: 40 }).map((n) => String(Math.floor(n ** 2 / 40))),
  { maxLength: 60 },
)

/** One of three proxies is asked for blocks; then something happens. */
interface Step {
  readonly at: number
  readonly names: string[]
  readonly event: LinkFault | 'exchange' | 'deliver' | 'lose' | 'save' | 'set back' | 'nothing'
}

const at = fc.nat({ max: 2 })
const calmStep: fc.Arbitrary<Step> = fc.record({ at, names, event: fc.constantFrom('exchange', 'nothing') })
const wildStep: fc.Arbitrary<Step> = fc.record({
  at,
  names,
  event: fc.constantFrom(...linkFaults, 'exchange', 'exchange', 'deliver', 'lose', 'save', 'set back', 'nothing'),
})

describe.skipIf(!hasRedis)('bounds of counts that proxies share through Redis (needs redis-server)', () => {
  let proxies: HotBlockProxies

  beforeAll(async () => {
    proxies = await HotBlockProxies.start()
  })

  afterAll(() => proxies.close())

  beforeEach(() => proxies.begin())

  async function go({ at, names, event }: Step, all: readonly HotBlockProxy[]): Promise<void> {
    const { hot, link } = all[at]!
    all[at]!.ask(names)
    if (event === 'nothing') return
    if (event === 'lose') return proxies.lose()
    if (event === 'save') return proxies.save()
    if (event === 'set back') return proxies.setBack()
    if (event === 'deliver') return link.deliverLate()
    if (event !== 'exchange') link.fail(event)
    await hot.exchange()
  }

  /** Three proxies that have been through a history. */
  async function live(history: readonly Step[], capacity?: number): Promise<HotBlockProxy[]> {
    proxies.begin()
    const all = [0, 1, 2].map(() => proxies.create(capacity))
    for (const step of history) await go(step, all)
    await exchangeAll(...all)
    for (const { link } of all) await link.deliverLate()
    await exchangeAll(...all)
    return all
  }

  test('in bounded space no count is too high, or too low by more than its share of what all were asked for', async () => {
    const capacity = 4
    await fc.assert(
      fc.asyncProperty(fc.array(calmStep, { maxLength: 20 }), async (history) => {
        const all = await live(history, capacity)
        expect(await proxies.server.client.zcard(proxies.countsKey)).toBeLessThanOrEqual(capacity + 1)
        // who has counted nothing itself has it all from Redis
        const late = proxies.create(capacity)
        await exchangeAll(late)
        const asked = history.flatMap((step) => step.names)
        for (const { hot, faults } of [...all, late]) {
          expectBounds(hot, asked, asked.length / capacity)
          expect(faults).toEqual([])
        }
      }),
      { numRuns: 60 },
    )
  })

  test('a block that is asked for late comes in once it has been asked for often enough, and all others fall for it', async () => {
    const capacity = 4
    const [one, other] = [proxies.create(capacity), proxies.create(capacity)]
    for (let i = 0; i < 50; i++) one.ask('abcd')
    await exchangeAll(one)
    for (let i = 0; i < 100; i++) {
      one.ask('e')
      await one.hot.exchange()
    }
    await exchangeAll(other)
    expect(other.counts('e')).toEqual([50])
  })

  test('more blocks than are kept, and than go into one command, are in the same bounds', async () => {
    const [one, other, late] = [proxies.create(), proxies.create(), proxies.create()]
    const own = (name: string, count: number): string[] => Array.from({ length: count }, (_, i) => `${name}${i}`)
    const asked = [...own('x', 5_000), ...'a'.repeat(50), ...own('y', 3_000), ...'ab'.repeat(50)]
    one.ask(asked.slice(0, 5_050))
    other.ask(asked.slice(5_050))
    await exchangeAll(one, other, late)
    expect(await proxies.server.client.zcard(proxies.countsKey)).toBeLessThanOrEqual(4_096 + 1)
    const hottest = (proxy: HotBlockProxy): number[] => proxy.hot.top(2).map(({ count }) => count)
    for (const proxy of [one, other, late]) {
      const [a, b] = hottest(proxy)
      for (const [count, truth] of [
        [a!, 100],
        [b!, 50],
      ] as const) {
        expect(count).toBeLessThanOrEqual(truth)
        expect(count).toBeGreaterThanOrEqual(truth - asked.length / 4_096)
      }
    }
    // thousands are raised, the hottest last
    const before = hottest(late)
    await proxies.lose()
    const joiner = proxies.create()
    await exchangeAll(one, other, joiner)
    expect(hottest(joiner)).toEqual(before)
  })

  test('whatever is lost, repeated or late on the way, nothing counts twice, and in the end all show the same', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(wildStep, { maxLength: 30 }), async (history) => {
        const all = await live(history)
        const asked = history.flatMap((step) => step.names)
        const every = [...countNames(asked).keys()]
        for (const [at, proxy] of all.entries()) {
          expectBounds(proxy.hot, asked, asked.length)
          expect(proxy.counts(...every)).toEqual(all[0]!.counts(...every))
          // at least what any of them was asked for itself
          const own = countNames(history.filter((step) => step.at === at).flatMap((step) => step.names))
          for (const [name, count] of own)
            expect(all[0]!.counts(...every)[every.indexOf(name)]).toBeGreaterThanOrEqual(count)
        }
      }),
      { numRuns: 100 },
    )
  })

  test.each(linkFaults)(
    'what nobody else asks for meanwhile counts in full when an answer was lost: %s',
    async (fault) => {
      const [one, other] = [proxies.create(), proxies.create()]
      one.ask('aab')
      other.ask('aac')
      await exchangeAll(one, other)
      one.ask('abb')
      one.link.fail(fault)
      await one.hot.exchange()
      expect(one.counts('a', 'b', 'c')).toEqual([5, 3, 1])
      await exchangeAll(one, other)
      await one.link.deliverLate()
      await exchangeAll(one, other)
      for (const proxy of [one, other]) expect(proxy.counts('a', 'b', 'c')).toEqual([5, 3, 1])
    },
  )

  test('counts that Redis lost are whole again, with what was asked for meanwhile', async () => {
    await fc.assert(
      fc.asyncProperty(names, names, names, async (first, second, meanwhile) => {
        proxies.begin()
        const [one, other, ended] = [proxies.create(), proxies.create(), proxies.create()]
        one.ask(first)
        other.ask(second)
        // what one wrote that is gone the others have seen
        ended.ask('xyx')
        await exchangeAll(ended, one, other)
        await proxies.lose()
        other.ask(meanwhile)
        await exchangeAll(one, other)
        for (const { hot } of [one, other]) expectBounds(hot, [...first, ...second, ...meanwhile, ...'xyx'], 0)
      }),
      { numRuns: 30 },
    )
  })
})
