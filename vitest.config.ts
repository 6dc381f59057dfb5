import { availableParallelism } from 'node:os'
import { configDefaults, defineConfig } from 'vitest/config'

// '*.sockets.test.ts' starts real servers, and no command of reprise; unit tests start nothing
const sockets = '**/*.sockets.test.ts'
// processes of bin/reprise, as its users start them, by `npm run test:commands`
const commands = '**/*.commands.test.ts'
// load, faults and whole traces, by `npm run test:long`
const long = '**/*.long.test.ts'
// real engines, by `npm run test:engines`
const engines = '**/*.engines.test.ts'
// frameworks of others, by `npm run test:docs`
const docs = '**/*.docs.test.ts'
// the Helm chart, by `npm run test:chart`
const chart = '**/*.chart.test.ts'

const patient = './e2e/patient-waits.ts'

export default defineConfig({
  test: {
    reporters: ['default', './e2e/report-skipped.ts'],
    projects: [
      {
        test: {
          name: 'unit',
          setupFiles: [patient],
          include: ['**/*.test.ts'],
          exclude: [...configDefaults.exclude, sockets, commands, long, engines, docs, chart],
          // a file leaves nothing behind: modules are loaded once a worker, which halves the time beside the tests
          isolate: false,
          testTimeout: 60_000,
          hookTimeout: 60_000,
          // sockets tests start processes of their own; these keep to their worker, and two cores take two
          maxWorkers: Math.max(2, availableParallelism() - 1),
          sequence: { groupOrder: 0 },
        },
      },
      {
        test: {
          name: 'sockets',
          setupFiles: [patient],
          include: [sockets],
          isolate: false,
          // they wait more than they compute
          maxWorkers: 3,
          testTimeout: 60_000,
          hookTimeout: 60_000,
          sequence: { groupOrder: 1 },
        },
      },
      {
        test: {
          name: 'commands',
          setupFiles: [patient],
          include: [commands],
          isolate: false,
          maxWorkers: 3,
          testTimeout: 60_000,
          hookTimeout: 60_000,
          sequence: { groupOrder: 2 },
        },
      },
      {
        test: {
          name: 'long',
          setupFiles: [patient],
          include: [long],
          maxWorkers: 2,
          testTimeout: 180_000,
          hookTimeout: 60_000,
          sequence: { groupOrder: 3 },
        },
      },
    ],
  },
})
