import { join } from 'node:path'
import { defineConfig, type ViteUserConfig } from 'vitest/config'

const minute = 60_000

// `npm run test:chart`; pods use much CPU, so one file runs at a time
const config: ViteUserConfig = defineConfig({
  test: {
    name: 'chart',
    root: join(import.meta.dirname, '..'),
    include: ['chart/*.chart.test.ts', 'pod/*.chart.test.ts'],
    globalSetup: ['chart/tools/set-up-tools.ts'],
    testTimeout: 5 * minute,
    hookTimeout: 5 * minute,
    fileParallelism: false,
    reporters: ['default'],
  },
})

export default config
