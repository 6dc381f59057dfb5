import { join } from 'node:path'
import { defineConfig, type ViteUserConfig } from 'vitest/config'

const minute = 60_000
const common = { root: join(import.meta.dirname, '..'), testTimeout: 5 * minute, hookTimeout: 5 * minute }

// `npm run test:chart`; pods use much CPU, so one file of them runs at a time
const config: ViteUserConfig = defineConfig({
  test: {
    globalSetup: ['e2e/chart/tools/set-up-tools.ts'],
    reporters: ['default'],
    projects: [
      {
        test: {
          ...common,
          name: 'chart',
          include: ['chart/*.chart.test.ts'],
          maxWorkers: 2,
          sequence: { groupOrder: 0 },
        },
      },
      {
        test: { ...common, name: 'pods', include: ['pod/*.chart.test.ts'], maxWorkers: 1, sequence: { groupOrder: 1 } },
      },
    ],
  },
})

export default config
