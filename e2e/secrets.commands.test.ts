import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { hasRedis, startRedis } from './redis-server.ts'
import { Reprises } from './run-reprise.ts'

const reprises = new Reprises()
let folder: string

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'reprise-secrets-'))
})
afterEach(() => {
  reprises.stopAll()
  rmSync(folder, { recursive: true })
})

const local = ['serve', '--emulate', '--listen', '127.0.0.1:0', '--admin-listen', '127.0.0.1:0']

test('an admin token in a file is renewed without a signal; a file that goes leaves the token as it was', async () => {
  const file = join(folder, 'token')
  writeFileSync(file, 'before\n')
  const { listening, stderr } = await reprises.start(local, { REPRISE_ADMIN_TOKEN_FILE: file })
  const ask = async (token: string): Promise<number> => {
    // whoever comes from another page needs the token
    const headers = { authorization: `Bearer ${token}`, origin: 'http://elsewhere' }
    return (await fetch(`${listening.admin_url}/v1/stats`, { headers })).status
  }
  expect(await ask('before')).toBe(200)
  writeFileSync(file, 'after\n')
  await vi.waitFor(async () => expect(await ask('before')).toBe(401), 20_000)
  expect(await ask('after')).toBe(200)
  rmSync(file)
  await vi.waitFor(() => expect(stderr()).toContain('secrets not reloaded: those before stay'), 20_000)
  expect(await ask('after')).toBe(200)
})

test('with a renewed secret the engines of a request stay, and nothing else of the configuration is read', async () => {
  const [secret, file] = [join(folder, 'token'), join(folder, 'reprise.yaml')]
  writeFileSync(secret, 'before\n')
  writeFileSync(file, 'engines: [{ url: "http://127.0.0.1:9", id: old }]\nmode: "on"\n')
  const at = ['serve', '--config', file, '--listen', '127.0.0.1:0', '--admin-listen', '127.0.0.1:0']
  const { listening, stderr } = await reprises.start(at, { REPRISE_ADMIN_TOKEN_FILE: secret })
  const engines = { engines: [{ url: 'http://127.0.0.1:10', id: 'new' }] }
  const headers = { authorization: 'Bearer before', 'content-type': 'application/json' }
  const put = await fetch(`${listening.admin_url}/v1/engines`, {
    method: 'PUT',
    headers,
    body: JSON.stringify(engines),
  })
  expect(put.status).toBe(200)
  // half edited, and not told
  writeFileSync(file, 'engines: [{ url: "http://127.0.0.1:9", id: old }]\nmode: "off"\nnonsense: {')
  writeFileSync(secret, 'after\n')
  await vi.waitFor(() => expect(stderr()).toContain('configuration reloaded'), 20_000)
  const answer = await fetch(`${listening.admin_url}/v1/mirror`, { headers: { authorization: 'Bearer after' } })
  const { replicas } = (await answer.json()) as { replicas: { replica: string }[] }
  expect(replicas.map(({ replica }) => replica)).toContain('new')
  await vi.waitFor(async () => {
    const told = await fetch(`${listening.admin_url}/v1/stats`, { headers: { authorization: 'Bearer after' } })
    expect(await told.json()).toMatchObject({ mode: 'on', replicas: [{ replica: 'new' }] })
  }, 20_000)
})

test.skipIf(!hasRedis)('a Redis password in a file is renewed without a restart (needs redis-server)', async () => {
  const redis = await startRedis({ args: ['--requirepass', 'before'], clientOptions: { password: 'before' } })
  try {
    const file = join(folder, 'url')
    writeFileSync(file, redis.url.replace('//', '//:before@'))
    const running = await reprises.start(local, { REPRISE_REDIS_URL_FILE: file })
    const isUp = async (): Promise<boolean> =>
      (await (await fetch(`${running.listening.admin_url}/metrics`)).text()).includes('\nreprise_redis_up 1')
    await vi.waitFor(async () => expect(await isUp()).toBe(true), 20_000)
    await redis.client.config('SET', 'requirepass', 'after')
    await redis.client.call('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes')
    await vi.waitFor(async () => expect(await isUp()).toBe(false), 20_000)
    writeFileSync(file, redis.url.replace('//', '//:after@'))
    await vi.waitFor(async () => expect(await isUp()).toBe(true), 20_000)
    expect(running.stderr()).not.toContain('next start')
  } finally {
    await redis.close()
  }
})
