import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { toBlockId } from '#index/context-block.ts'
import { exchangeAll, HotBlockProxies, type LinkFault, linkFaults } from './hot-block-proxies.ts'
import { hasRedis } from './redis-server.ts'

const names = fc.array(
  fc.nat({ max: 40 }).map((n) => String(Math.floor(n ** 2 / 40))),
  { maxLength: 60 },
)

/** Requests for blocks at one of three proxies, followed by an exchange, perhaps over a link that fails. */
interface Step {
  readonly at: number
  readonly names: string[]
  readonly event: LinkFault | 'exchange' | 'nothing'
}

const stepsOf = (...events: Step['event'][]): fc.Arbitrary<Step[]> =>
  fc.array(fc.record({ at: fc.nat({ max: 2 }), names, event: fc.constantFrom(...events) }), { maxLength: 20 })

describe.skipIf(!hasRedis)('bounds of counts that proxies share through Redis (needs redis-server)', () => {
  let proxies: HotBlockProxies

  beforeAll(async () => {
    proxies = await HotBlockProxies.start()
  })

  afterAll(() => proxies.close())

  /** Takes three proxies through a history. Returns the counts that each shows in the end, and the true ones. */
  async function live(history: readonly Step[]): Promise<{ told: Map<string, number>[]; asked: Map<string, number> }> {
    proxies.begin()
    const all = [0, 1, 2].map(() => proxies.create())
    const asked = new Map<string, number>()
    for (const { at, names, event } of history) {
      for (const name of names) asked.set(toBlockId(name), (asked.get(toBlockId(name)) ?? 0) + 1)
      all[at]!.ask(names)
      if (event === 'nothing') continue
      if (event !== 'exchange') all[at]!.link.fail(event)
      await all[at]!.hot.share()
    }
    await exchangeAll(...all)
    const late = proxies.create()
    await exchangeAll(late)
    const told = [...all, late].map(({ hot }) => new Map(hot.top(10_000).map(({ block, count }) => [block, count])))
    return { told, asked }
  }

  test('while all is well, all proxies show the truth, and so does one that has counted nothing itself', async () => {
    await fc.assert(
      fc.asyncProperty(stepsOf('exchange', 'nothing'), async (history) => {
        const { told, asked } = await live(history)
        for (const counts of told) expect(counts).toEqual(asked)
      }),
      { numRuns: 60 },
    )
  })

  test('whatever is lost or repeated on the way, no count is too low, or too high by more than what was repeated', async () => {
    await fc.assert(
      fc.asyncProperty(stepsOf(...linkFaults, 'exchange', 'nothing'), async (history) => {
        const { told, asked } = await live(history)
        for (const counts of told) {
          expect([...counts.keys()].toSorted()).toEqual([...asked.keys()].toSorted())
          for (const [block, count] of asked) {
            expect(counts.get(block)).toBeGreaterThanOrEqual(count)
            expect(counts.get(block)).toBeLessThanOrEqual((1 + 2 * history.length) * count)
          }
        }
      }),
      { numRuns: 60 },
    )
  })
})
