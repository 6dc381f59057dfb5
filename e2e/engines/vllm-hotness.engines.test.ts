import { describe, expect, inject, test } from 'vitest'
import { longLoad, type ServedLoad, serveFewShotLoad } from './few-shot-load.ts'
import { createSmallVllmEngine } from './vllm-engine.ts'

/*
 * Eviction by hotness in a real `vllm serve`, with the plugin's queue of free blocks. The load is the same as in the
 * test with SGLang, and the figures are the engine's own. With `REPRISE_TEST_HOST_TIER=6144,12288` also in front of
 * host tiers of so many tokens, with the load of the figures in the plugin's README (two minutes an engine).
 */

const setup = inject('vllm')
const poolTokens = 1_536
const longPoolTokens = 6_144
const hostTokens = (process.env.REPRISE_TEST_HOST_TIER ?? '').split(',').filter(Boolean).map(Number)

describe.skipIf('missing' in setup)('vLLM that evicts by hotness', () => {
  test('finds more of a few-shot load than with its own queue, and answers the same', async () => {
    if ('missing' in setup) return
    const stock = await serveFewShotLoad(setup, createSmallVllmEngine({ poolTokens }))
    const hot = await serveFewShotLoad(setup, createSmallVllmEngine({ poolTokens, eviction: 'hotprefix' }))
    process.stderr.write(`cached tokens of ${stock.prompt}: ${stock.cached} with lru, ${hot.cached} with hotprefix\n`)
    expect(hot.answers).toEqual(stock.answers)
    expect(stock.cached).toBeLessThan(stock.prompt / 2)
    expect(hot.cached).toBeGreaterThan(1.1 * stock.cached)
  })

  test.each(hostTokens)(
    'in front of a host tier of %i tokens finds no less, and answers the same',
    async (tokens) => {
      if ('missing' in setup) return
      const answered: ServedLoad[] = []
      const serve = async (name: string, options: Omit<Parameters<typeof createSmallVllmEngine>[0], 'poolTokens'>) => {
        const served = await serveFewShotLoad(
          setup,
          createSmallVllmEngine({ ...options, poolTokens: longPoolTokens }),
          longLoad,
        )
        const [all, host] = [served.cached, served.fromHost].map((found) => (found / served.prompt).toFixed(3))
        process.stderr.write(`${tokens} tokens of host, ${name}: ${all} found, of it from the host ${host}\n`)
        answered.push(served)
        return served
      }
      const eviction = 'hotprefix'
      if (tokens === hostTokens[0]) {
        await serve('lru without host', {})
        await serve('hotprefix without host', { eviction })
      }
      const stock = await serve('lru, stock offloading', { host: { tokens } })
      await serve('hotprefix, stock offloading', { eviction, host: { tokens } })
      const all = await serve('hotprefix, all admitted', { eviction, host: { tokens, admission: 0 } })
      for (const admission of [2, 10]) {
        await serve(`hotprefix, admitted from ${admission} uses on`, { eviction, host: { tokens, admission } })
      }
      for (const { answers } of answered) expect(answers).toEqual(stock.answers)
      expect(all.cached).toBeGreaterThanOrEqual(stock.cached)
    },
    3_600_000,
  )
})
