import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'

let checkout: string
beforeEach(() => {
  checkout = mkdtempSync(join(tmpdir(), 'reprise-bin-'))
  cpSync(join(import.meta.dirname, '..', 'bin'), join(checkout, 'bin'), { recursive: true })
  writeFileSync(join(checkout, 'package.json'), '{"type":"module"}')
  for (const folder of ['index', 'scheduler', 'engine-adapters', 'emulator', 'proxy', 'tools', 'dist/tools']) {
    mkdirSync(join(checkout, folder), { recursive: true })
  }
})
afterEach(() => rmSync(checkout, { recursive: true }))

/** Writes a module that prints its path, last modified `minutesAgo`; for a .json path, a package.json. */
function write(path: string, minutesAgo: number): void {
  writeFileSync(join(checkout, path), path.endsWith('.json') ? '{"type":"module"}' : `console.log('${path}')`)
  const seconds = Date.now() / 1000 - minutesAgo * 60
  utimesSync(join(checkout, path), seconds, seconds)
}

function runBin(env: Record<string, string> = {}): { stdout: string; stderr: string } {
  const options = { encoding: 'utf8' as const, env: { ...process.env, ...env } }
  return spawnSync(process.execPath, [join(checkout, 'bin', 'reprise')], options)
}

function build(minutesAgo: number): void {
  write('dist/tools/cli.js', minutesAgo)
  write('dist/package.json', minutesAgo)
}

function linkPackages(): void {
  mkdirSync(join(checkout, 'node_modules'))
  symlinkSync(join(import.meta.dirname, '..', 'node_modules', 'tsx'), join(checkout, 'node_modules', 'tsx'))
}

test('a build runs where it is newer than all sources, and where there are none', () => {
  build(1)
  expect(runBin().stdout).toBe('dist/tools/cli.js\n')
  write('tools/cli.ts', 2)
  expect(runBin().stdout).toBe('dist/tools/cli.js\n')
})

test('sources run where there is no build, or one of them was changed since', () => {
  linkPackages()
  write('tools/cli.ts', 2)
  expect(runBin().stdout).toBe('tools/cli.ts\n')
  build(1)
  write('index/changed.ts', 0)
  expect(runBin().stdout).toBe('tools/cli.ts\n')
})

test('no code is written to the temporary folder, where others may write', () => {
  linkPackages()
  write('tools/cli.ts', 0)
  const temporary = join(checkout, 'tmp')
  mkdirSync(temporary)
  expect(runBin({ TMPDIR: temporary }).stdout).toBe('tools/cli.ts\n')
  expect(readdirSync(temporary)).toEqual([])
})

// newer versions of Node run TypeScript themselves
test.skipIf('typescript' in process.features && process.features.typescript)(
  'a checkout without packages says what to do',
  () => {
    write('tools/cli.ts', 0)
    expect(runBin().stderr).toBe(
      'error: neither a build nor tsx is there: run `npm ci`, or `npm ci && npm run build`\n',
    )
  },
)
