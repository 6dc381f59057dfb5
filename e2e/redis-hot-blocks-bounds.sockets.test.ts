import fc from 'fast-check'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { expectBounds } from '#proxy/telemetry/hot-blocks/hot-blocks.contract.ts'
import { exchangeAll, HotBlockProxies, type HotBlockProxy, type LinkFault, linkFaults } from './hot-block-proxies.ts'
import { hasRedis } from './redis-server.ts'

const names = fc.array(
  fc.nat({ max: 40 }).map((n) => String(Math.floor(n ** 2 / 40))),
  { maxLength: 60 },
)

/** Requests for blocks at one of three proxies, followed by an event. */
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

  /** Creates three proxies, takes them through a history, and lets them exchange until they agree. */
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
        // a proxy that has counted nothing itself gets all counts from Redis
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

  test('whatever is lost, repeated or late on the way, in the end all show the truth', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(wildStep, { maxLength: 30 }), async (history) => {
        const all = await live(history)
        const asked = history.flatMap((step) => step.names)
        for (const { hot } of all) expectBounds(hot, asked, 0)
      }),
      { numRuns: 100 },
    )
  })
})
