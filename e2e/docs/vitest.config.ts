import { defineConfig, type ViteUserConfig } from 'vitest/config'

const minutes = 60_000

// `npm run test:docs`: tests that need third-party packages
const config: ViteUserConfig = defineConfig({
  test: {
    name: 'docs',
    root: import.meta.dirname,
    include: ['*.docs.test.ts'],
    testTimeout: 10 * minutes,
    hookTimeout: 5 * minutes,
    reporters: ['verbose', '../report-skipped.ts'],
  },
})

export default config
