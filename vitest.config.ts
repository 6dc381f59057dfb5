import { configDefaults, defineConfig } from 'vitest/config'

// '*.sockets.test.ts' starts real servers and child processes; every other test needs neither
const sockets = '**/*.sockets.test.ts'
// real engines, by `npm run test:engines`
const engines = '**/*.engines.test.ts'
// the Helm chart, by `npm run test:chart`
const chart = '**/*.chart.test.ts'

export default defineConfig({
  test: {
    projects: [
      {
        test: {
          name: 'unit',
          include: ['**/*.test.ts'],
          exclude: [...configDefaults.exclude, sockets, engines, chart],
          testTimeout: 60_000,
        },
      },
      { test: { name: 'sockets', include: [sockets], testTimeout: 60_000, hookTimeout: 60_000 } },
    ],
  },
})
