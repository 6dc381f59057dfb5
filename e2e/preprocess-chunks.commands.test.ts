import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { type Emulator, emulatorDefaults, startEmulator } from '#emulator/emulator.ts'
import type { RunningProxy } from '#proxy/start/main.ts'
import { reusing } from './emulated-reuse/reusing-cache.ts'
import { keysIn } from './keys-file.ts'
import { startRunningReprise } from './run-reprise-beside.ts'
import { postJson, ragRequest, startTestProxy } from './start-test-proxy.ts'

const texts = ['Herons', 'Otters', 'Beavers', 'Badgers', 'Martens', 'Lynxes'].map(
  (name) => `${name} live ${'by slow rivers and in the woods that stand beside them, '.repeat(40)}as they always have.`,
)
let folder: string
let emulator: Emulator
let proxy: RunningProxy

beforeAll(() => {
  vi.stubEnv('PYTHONPATH', join(import.meta.dirname, '..', 'kernels'))
})
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'reprise-preprocess-'))
  writeFileSync(join(folder, 'corpus.jsonl'), texts.map((text) => `${JSON.stringify({ text })}\n`).join(''))
  emulator = await startEmulator({ ...emulatorDefaults, host: '127.0.0.1', port: 0, ...reusing(0.15) })
  proxy = await startTestProxy({ url: emulator.url, kind: 'vllm' })
})
afterEach(async () => {
  vi.stubEnv('REPRISE_API_KEY', '')
  await proxy.close()
  await emulator.close()
  rmSync(folder, { recursive: true })
})
afterAll(() => {
  vi.unstubAllEnvs()
})

function add(...args: string[]): ReturnType<typeof startRunningReprise> {
  const where = ['--admin', proxy.adminUrl, '--proxy', proxy.url, '--state', join(folder, 'state')]
  return startRunningReprise(['chunks', 'add', join(folder, 'corpus.jsonl'), '--preprocess', ...where, ...args])
}

/** Asks about two documents. Returns how many tokens were reused from another position. */
async function reused(key: string): Promise<number> {
  const request = ragRequest('Where do they live?', [texts[4]!, texts[1]!], { max_tokens: 16 })
  const headers = { authorization: `Bearer ${key}` }
  let said = ''
  // the emulator may have just closed the connection that was kept open for it
  while (!said.includes('"usage"')) {
    said = await (await postJson(`${proxy.url}/v1/chat/completions`, request, { headers })).text()
  }
  const { usage } = JSON.parse(said) as { usage: { prompt_tokens_details: { reused_tokens?: number } } }
  return usage.prompt_tokens_details.reused_tokens ?? 0
}

test('a corpus that is added is preprocessed for the tenant of the key, and for no other', {
  timeout: 240_000,
}, async () => {
  vi.stubEnv('REPRISE_API_KEY', 'of-one')
  const { status, stdout, stderr } = await add()
  expect({ status, added: stdout, stderr }).toMatchObject({
    status: 0,
    added: '{"added":6,"known":0,"too_short":0,"crowded":0}\n',
    stderr: expect.stringMatching(/preprocessing: \d+ of \d+ prompts\n.*6 documents, [1-9]\d* prompts computed/s),
  })
  expect(await reused('of-one')).toBeGreaterThan(500)
  expect(await reused('of-another')).toBe(0)
})

test('what is preprocessed is not preprocessed again, but for another tenant it is', { timeout: 240_000 }, async () => {
  vi.stubEnv('REPRISE_API_KEY', 'of-one')
  const options = ['--', '--contexts', '1', '--window', '3']
  const first = await add(...options)
  expect(first.stderr).toMatch(/6 documents, [1-9]\d* prompts computed\n/)
  expect((await add(...options)).stderr).toMatch(/6 documents, 0 prompts computed, \d+ were before/)
  vi.stubEnv('REPRISE_API_KEY', 'of-another')
  expect((await add(...options)).stderr).toMatch(/6 documents, [1-9]\d* prompts computed\n/)
})

test('what cannot be preprocessed is said, and what is registered', { timeout: 240_000 }, async () => {
  const none = await add('--python', join(folder, 'no-python'))
  expect(none).toMatchObject({
    status: 2,
    stdout: '',
    stderr: expect.stringMatching(/cannot use reprise_reuse .*--python/),
  })
  for (const option of ['--contexts=0', '--context-count=8'])
    expect(await add('--', option)).toMatchObject({
      status: 2,
      stdout: '',
      stderr: expect.stringMatching(/^error: --preprocess: .*--context/),
    })
  expect(await (await fetch(`${proxy.adminUrl}/v1/chunks`)).json()).toMatchObject({ chunks: 0 })
  for (const [status, reason, ...options] of [
    [2, /--similar-by: No module named 'nomod'/, '--', '--similar-by', 'nomod:f'],
    [2, /serves .*, not large/, '--', '--model', 'large'],
    [1, /127\.0\.0\.1:9 cannot be reached/, '--proxy', 'http://127.0.0.1:9'],
    [2, /is no reprise proxy/, '--proxy', emulator.url],
  ] as const) {
    const said = await add(...options)
    expect(said).toMatchObject({ status, stdout: '', stderr: expect.stringMatching(/Nothing was registered/) })
    expect(said.stderr).toMatch(reason)
  }
  expect(await (await fetch(`${proxy.adminUrl}/v1/chunks`)).json()).toMatchObject({ chunks: 0 })
  expect(existsSync(join(folder, 'state')) ? readFileSync(join(folder, 'state'), 'utf8') : '').toBe('')
  const wrong = await startRunningReprise(['chunks', 'add', join(folder, 'corpus.jsonl'), '--', '--contexts', '8'])
  expect(wrong).toMatchObject({
    status: 2,
    stderr: "error: '--contexts' is an option of --preprocess, which is missing.\n",
  })
})

describe('a tenant for whom nothing would be computed is refused before anything is registered', () => {
  const sha256 = (key: string): string => createHash('sha256').update(key).digest('hex')
  const records = ['a', 'b'].map((tenant) => ({ name: tenant, tenant, sha256: sha256(`key-of-${tenant}`) }))
  const chunks = async (): Promise<unknown> => (await fetch(`${proxy.adminUrl}/v1/chunks`)).json()
  const restart = async (config: Parameters<typeof startTestProxy>[1]): Promise<void> => {
    await proxy.close()
    proxy = await startTestProxy({ url: emulator.url, kind: 'vllm' }, config)
  }

  test.each([
    ['the key of another', { key: 'key-of-a', tenant: 'b' }, "are those of 'a', not of 'b'"],
    ['a name that no key has', { key: 'key-of-a', tenant: 'carol' }, "are those of 'a', not of 'carol'"],
    ['no key', { key: '', tenant: 'a' }, "are those of 'default', not of 'a'"],
    ['an unknown key', { key: 'x', tenant: 'a' }, 'x-reprise-key is no API key'],
  ])('%s', async (_, { key, tenant }, reason) => {
    await restart({ keys: keysIn(...records) })
    vi.stubEnv('REPRISE_API_KEY', key)
    const said = await add('--tenant', tenant)
    expect(said).toMatchObject({ status: expect.toSatisfy((code) => code > 0), stdout: '' })
    expect(said.stderr).toContain(reason)
    expect(await chunks()).toMatchObject({ chunks: 0 })
  })

  test('a key that the proxy does not know', async () => {
    await restart({ keys: keysIn(...records) })
    vi.stubEnv('REPRISE_API_KEY', 'x')
    const said = await add()
    expect(said).toMatchObject({ status: 1, stderr: expect.stringMatching(/answers 401.*Nothing was registered/s) })
    expect(await chunks()).toMatchObject({ chunks: 0 })
  })

  test('where all are one', async () => {
    await restart({ tenants: { from: 'none' } })
    const said = await add('--tenant', 'carol')
    expect(said).toMatchObject({ status: 2, stderr: expect.stringMatching(/tenants\.from is none.*Nothing/) })
  })

  test('and not the tenant of the key, or one whom a trusted peer names', { timeout: 120_000 }, async () => {
    const once = ['--', '--contexts', '1', '--window', '3', '--neighbours', 'random']
    await restart({ keys: keysIn(...records) })
    vi.stubEnv('REPRISE_API_KEY', 'key-of-b')
    expect(await add('--tenant', 'b', ...once)).toMatchObject({ status: 0 })
    await restart({ tenants: { from: 'header', trusted_peers: ['127.0.0.1'] } })
    expect(await add('--tenant', 'carol', ...once)).toMatchObject({ status: 0 })
  })

  test('--idle says which setting permits the figures that it needs', { timeout: 120_000 }, async () => {
    const keys = keysIn(...records)
    await restart({ keys })
    vi.stubEnv('REPRISE_API_KEY', 'key-of-a')
    const idle = ['--', '--idle', '--contexts', '1', '--window', '3', '--neighbours', 'random']
    const said = await add(...idle)
    expect(said).toMatchObject({ status: 1, stderr: expect.stringMatching(/403.*keys\.allow_engine_paths.*Nothing/s) })
    await restart({ keys: { ...keys, allow_engine_paths: ['/metrics'] } })
    // the emulator has figures, though not these
    expect(await add(...idle)).toMatchObject({
      status: 2,
      stderr: expect.stringMatching(/\/metrics tells no vllm:num/),
    })
  })
})

test.each(['SIGINT', 'SIGTERM'] as const)(
  '%s while it registers leaves no text behind',
  { timeout: 120_000 },
  async (signal) => {
    const reprise = join(import.meta.dirname, '..', 'bin', 'reprise')
    const args = ['chunks', 'add', '-', '--preprocess', '--admin', proxy.adminUrl, '--proxy', proxy.url]
    const child = spawn(process.execPath, [reprise, ...args], {
      // the rest of its input never comes
      stdio: ['pipe', 'ignore', 'inherit'],
      env: { ...process.env, TMPDIR: folder },
    })
    const texts = () => readdirSync(folder).filter((name) => name.startsWith('reprise-corpus-'))
    child.stdin.write(readFileSync(join(folder, 'corpus.jsonl')))
    await vi.waitFor(() => expect(texts()).toHaveLength(1), { timeout: 60_000 })
    await vi.waitFor(() => expect(readFileSync(join(folder, texts()[0]!, 'corpus.jsonl'), 'utf8')).not.toBe(''), {
      timeout: 60_000,
    })
    child.kill(signal)
    expect(await once(child, 'exit')).toEqual([null, signal])
    expect(texts()).toEqual([])
  },
)
