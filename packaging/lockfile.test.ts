import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { noticesFile, writeNotices } from './third-party-notices.ts'

interface LockedPackage {
  readonly integrity?: string
  readonly hasInstallScript?: boolean
  readonly dev?: boolean
}

const root = join(import.meta.dirname, '..')
const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as {
  packages: Record<string, LockedPackage>
}
const installed = Object.entries(packages).filter(([path]) => path !== '')

test('npm ci verifies every package, those of other platforms too', () => {
  expect(installed.filter(([, { integrity }]) => !integrity?.startsWith('sha512-')).map(([path]) => path)).toEqual([])
})

test('the operations page names the packages with install scripts', () => {
  const page = readFileSync(join(root, 'docs', 'operations.md'), 'utf8')
  const scripted = installed.filter(([, { hasInstallScript }]) => hasInstallScript).map(([path]) => path)
  const named = scripted.map((path) => path.replace(/^.*node_modules\//, ''))
  expect(named.filter((name) => !page.includes(`\`${name}\``))).toEqual([])
})

test('what compiles TypeScript is needed by nobody who runs the product', () => {
  const compilers = ['tsx', 'esbuild', 'typescript']
  expect(compilers.map((name) => packages[`node_modules/${name}`]?.dev)).toEqual([true, true, true])
})

test('the notices name the licences of what is installed with the product: else run `npm run notices`', () => {
  const notices = writeNotices()
  expect(readFileSync(noticesFile, 'utf8')).toBe(notices)
  expect(notices).not.toContain('| undefined |')
})
