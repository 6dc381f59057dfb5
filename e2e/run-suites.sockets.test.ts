import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'

test('every suite runs though one fails, and the summary names what failed, test by test, and what was skipped', () => {
  const folder = mkdtempSync(join(tmpdir(), 'reprise-suites-'))
  const scripts = {
    broken: "echo one is wrong; printf '\\033[31m FAIL \\033[0m x.test.ts > is right\\nError: it is not\\n'; exit 3",
    lacking: "echo 'SKIPPED the tests of Redis: there is no redis-server'",
    whole: 'echo all is well',
  }
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ scripts }))
  const script = join(import.meta.dirname, 'run-suites.sh')
  const run = spawnSync('bash', [script, ...Object.keys(scripts)], { cwd: folder, encoding: 'utf8' })
  rmSync(folder, { recursive: true })
  expect(run.status).toBe(1)
  expect(run.stderr).toMatch(/^failed: broken$/m)
  const summary = run.stdout.slice(run.stdout.indexOf('suites:'))
  expect(
    summary
      .replaceAll(/ +/g, ' ')
      .replaceAll(/\d+ s /g, 'N s ')
      .trim()
      .split('\n'),
  ).toEqual([
    'suites:',
    ' broken FAILED N s 0 skipped',
    ' lacking passed N s 1 skipped',
    ' whole passed N s 0 skipped',
    ' lacking: SKIPPED the tests of Redis: there is no redis-server',
    ' broken: FAIL x.test.ts > is right',
    ' broken: Error: it is not',
  ])
})
