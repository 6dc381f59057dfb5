import { describe, expect, inject, test } from 'vitest'
import { serveFewShotLoad } from './few-shot-load.ts'
import { createSmallVllmEngine } from './vllm-engine.ts'

/*
 * Eviction by hotness in a real `vllm serve`, with the plugin's queue of free blocks. The load is the same as in the
 * test with SGLang, and the figures are the engine's own.
 */

const setup = inject('vllm')
const poolTokens = 1_536

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
})
