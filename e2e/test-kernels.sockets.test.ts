import { spawnSync } from 'node:child_process'
import { expect, test } from 'vitest'

test('kernels whose tests could not be set up are a failure that says what to do', () => {
  // no folder can be created there
  const env = { ...process.env, XDG_CACHE_HOME: '/dev/null' }
  const done = spawnSync(process.execPath, ['--import', 'tsx', 'e2e/test-kernels.ts'], { env, encoding: 'utf8' })
  expect(done.status).toBe(1)
  expect(done.stderr.trim().split('\n').at(-1)).toBe(
    'the kernels were not tested: setup.sh failed as said above; mend that, then run `npm run test:kernels`',
  )
})
