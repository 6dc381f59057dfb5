import { mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { ConfigError, ProxyError } from '../common/errors.ts'
import { askAdmin, readAdminToken } from './ask-admin.ts'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'reprise-token-'))
  vi.stubEnv('REPRISE_ADMIN_TOKEN', '')
})
afterEach(() => {
  vi.unstubAllEnvs()
  vi.unstubAllGlobals()
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

/** What a command says of an address that answers so. */
async function toldOf(body: string, status: number): Promise<string> {
  vi.stubGlobal('fetch', async () => new Response(body, { status }))
  return askAdmin('http://host:9090/', '/v1/templates', 'GET').then(JSON.stringify, (error: Error) => error.message)
}

test('what an admin listener refuses is told in its words; anything else is told not to be one', async () => {
  const refused = new ProxyError('not_found', "There is no template 'x'.")
  expect(await toldOf('{"mode":"on"}', 200)).toBe('{"mode":"on"}')
  expect(await toldOf(refused.toBody(), refused.status)).toBe(refused.message)
  for (const [body, status] of [
    ['<html>hello</html>', 200],
    ['Bad gateway', 502],
    ['[]', 200],
    ['{"error":{"message":"Not Found","type":"Not Found","param":null,"code":404}}', 404],
    ['{"detail":"Not Found"}', 404],
  ] as const)
    expect(await toldOf(body, status)).toBe(
      `http://host:9090/v1/templates answers ${status}, and is no admin listener of reprise: give what 'reprise serve' prints as admin_url.`,
    )
})

test('an answer that breaks off is told in one line', async () => {
  const body = new ReadableStream({ pull: (controller) => controller.error(new Error('other side closed')) })
  vi.stubGlobal('fetch', async () => new Response(body))
  await expect(askAdmin('http://host:9090', '/v1/templates', 'GET')).rejects.toThrow(
    new ConfigError(
      'http://host:9090/v1/templates does not answer (other side closed): is the proxy running, and is this its admin listener?',
    ),
  )
})
