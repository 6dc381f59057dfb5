import { describe, expect, inject, test } from 'vitest'
import { serveFewShotLoad } from './few-shot-load.ts'
import { createSglangEngine } from './sglang-engine.ts'

/*
 * Eviction by hotness in a real SGLang server: few-shot prompts of tasks with unequal frequencies, in a cache that
 * holds only some of them. The figures are the engine's own.
 */

const setup = inject('sglang')
const poolTokens = 1_500

describe.skipIf('missing' in setup)('SGLang that evicts by hotness', () => {
  test('finds more of a few-shot load than with its own policy, and answers the same', async () => {
    if ('missing' in setup) return
    const stock = await serveFewShotLoad(setup, createSglangEngine({ poolTokens }))
    const env = { REPRISE_EVICTION: 'hotprefix' }
    const hot = await serveFewShotLoad(setup, createSglangEngine({ poolTokens, env }))
    process.stderr.write(`cached tokens of ${stock.prompt}: ${stock.cached} with lru, ${hot.cached} with hotprefix\n`)
    expect(hot.answers).toEqual(stock.answers)
    expect(stock.cached).toBeLessThan(stock.prompt / 2)
    expect(hot.cached).toBeGreaterThan(1.1 * stock.cached)
  })
})
