import { mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { readAdminToken } from './ask-admin.ts'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'reprise-token-'))
  vi.stubEnv('REPRISE_ADMIN_TOKEN', '')
})
afterEach(() => {
  vi.unstubAllEnvs()
  rmSync(folder, { recursive: true })
})

test('the admin token is that of the environment, or what its file holds', () => {
  expect(readAdminToken()).toBeUndefined()
  writeFileSync(join(folder, 'token'), 'from-file\n')
  vi.stubEnv('REPRISE_ADMIN_TOKEN_FILE', join(folder, 'token'))
  expect(readAdminToken()).toBe('from-file')
  vi.stubEnv('REPRISE_ADMIN_TOKEN', ' own ')
  expect(readAdminToken()).toBe('own')
})

test('a file that cannot be its own is named, and not read', () => {
  const large = join(folder, 'large')
  writeFileSync(large, '')
  truncateSync(large, 2 ** 33)
  for (const [file, reason] of [
    [folder, /no regular file/],
    [large, /larger than/],
    [join(folder, 'none'), /ENOENT/],
  ] as const) {
    vi.stubEnv('REPRISE_ADMIN_TOKEN_FILE', file)
    expect(readAdminToken).toThrow(reason)
    expect(readAdminToken).toThrow(`REPRISE_ADMIN_TOKEN_FILE: ${file} cannot be read`)
  }
})
