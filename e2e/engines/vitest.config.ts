import { defineConfig, type ViteUserConfig } from 'vitest/config'

const minutes = 60_000

// `npm run test:engines`; two engines at a time, each with one thread, so that one starts while the other is asked
const config: ViteUserConfig = defineConfig({
  test: {
    name: 'engines',
    root: import.meta.dirname,
    include: ['*.engines.test.ts'],
    globalSetup: ['set-up-engines.ts'],
    testTimeout: 10 * minutes,
    hookTimeout: 15 * minutes,
    maxWorkers: 2,
    // what is evicted while a request waits in its engine is chance, and more of them wait on a busy machine
    retry: 2,
    reporters: ['verbose', '../report-skipped.ts'],
  },
})

export default config
