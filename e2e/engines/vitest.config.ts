import { defineConfig, type ViteUserConfig } from 'vitest/config'

const minutes = 60_000
/** how many times longer a long run takes (reuse-faults.contract.ts) */
const longer = Math.max(1, Number(process.env.REPRISE_TEST_ANSWERS ?? 0) / 48)

// `npm run test:engines`; two engines at a time, each with one thread, so that one starts while the other answers
const config: ViteUserConfig = defineConfig({
  test: {
    name: 'engines',
    root: import.meta.dirname,
    include: ['*.engines.test.ts'],
    globalSetup: ['set-up-engines.ts'],
    testTimeout: 10 * minutes * longer,
    hookTimeout: 15 * minutes * longer,
    maxWorkers: 2,
    // evictions while a request waits in its engine are random, and on a busy machine more requests wait
    retry: 2,
    reporters: ['verbose', '../report-skipped.ts'],
  },
})

export default config
