import { defineConfig, type ViteUserConfig } from 'vitest/config'

// a long run (reuse-faults.contract.ts) takes as many times longer
const minutes = 60_000 * Math.max(1, Number(process.env.REPRISE_TEST_ANSWERS ?? 0) / 72)

// `npm run test:engines`; two engines at a time, each with one thread, so that one starts while the other answers
const config: ViteUserConfig = defineConfig({
  test: {
    name: 'engines',
    root: import.meta.dirname,
    include: ['*.engines.test.ts'],
    globalSetup: ['set-up-engines.ts'],
    testTimeout: 10 * minutes,
    hookTimeout: 15 * minutes,
    maxWorkers: 2,
    // evictions while a request waits in its engine are random, and on a busy machine more requests wait
    retry: 2,
    reporters: ['verbose', '../report-skipped.ts'],
  },
})

export default config
