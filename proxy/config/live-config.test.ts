import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, type Mock, test, vi } from 'vitest'
import type { Config } from './config.ts'
import { fixedAtStart, LiveConfig } from './live-config.ts'
import { configSchema } from './schema/config-schema.ts'
import { valueAt } from './setting-values.ts'

/** A configuration from an environment that the test changes. */
function live(environment: Record<string, string>): {
  config: LiveConfig
  reload: (apply?: (config: Config) => void) => void
  log: { [level in 'info' | 'warn' | 'error']: Mock }
  heard: Config[]
} {
  const config = new LiveConfig({ file: undefined, environment })
  const heard: Config[] = []
  const log = { info: vi.fn(), warn: vi.fn(), error: vi.fn() }
  const reload = (apply: (config: Config) => void = (next) => heard.push(next)): void => config.reload(log, apply)
  return { config, reload, log, heard }
}

test('a reload takes on what it can and names what waits for a restart', () => {
  const environment: Record<string, string> = { REPRISE_LISTEN: '127.0.0.1:1' }
  const { config, reload, log, heard } = live(environment)
  Object.assign(environment, {
    REPRISE_LISTEN: '127.0.0.1:2',
    REPRISE_LOGS_LEVEL: 'debug',
    REPRISE_LIMITS_MAX_WAIT_SECONDS: '5',
    REPRISE_ADMIN_TOKEN: 't',
    REPRISE_ADMIN_LISTEN: '127.0.0.1:3',
  })
  reload()
  expect(config.config).toMatchObject({
    listen: '127.0.0.1:1',
    logs: { level: 'debug' },
    limits: { max_wait_seconds: 5 },
    admin: { token: 't', listen: '127.0.0.1:9090' },
  })
  expect(heard).toEqual([config.config])
  expect(log.warn.mock.calls[0]?.[0]).toEqual({ settings: ['listen', 'admin.listen'] })
  expect(log.info.mock.calls[0]?.[0].settings?.toSorted()).toEqual([
    'admin.token',
    'limits.max_wait_seconds',
    'logs.level',
  ])
})

test('a setting that was taken back has its default again', () => {
  const environment: Record<string, string> = { REPRISE_LOGS_LEVEL: 'debug', REPRISE_ADMIN_TOKEN: 't' }
  const { config, reload } = live(environment)
  delete environment.REPRISE_LOGS_LEVEL
  delete environment.REPRISE_ADMIN_TOKEN
  reload()
  expect(config.config).toMatchObject({ logs: { level: 'info' }, admin: { token: undefined } })
})

test.each([
  ['sesame\n', 'sesame'],
  ['\n', undefined],
])('the admin token is what a header can carry of it: %j', (token, adminToken) => {
  expect(live({ REPRISE_ADMIN_TOKEN: token }).config.config).toMatchObject({ admin: { token: adminToken } })
})

test('a renewed secret takes nothing else on, and no configuration that was refused', () => {
  const folder = mkdtempSync(join(tmpdir(), 'reprise-live-'))
  try {
    const [file, token] = [join(folder, 'reprise.yaml'), join(folder, 'token')]
    const write = (mode: string, secret: string): void => {
      writeFileSync(file, `mode: "${mode}"\n`)
      writeFileSync(token, secret)
    }
    write('on', 'first')
    const environment = { REPRISE_ADMIN_TOKEN_FILE: token }
    const config = new LiveConfig({ file, environment })
    const log = { info: vi.fn(), warn: vi.fn(), error: vi.fn() }
    write('off', 'second')
    config.reload(log, () => {
      throw new Error('its certificate cannot be read')
    })
    expect(config.config).toMatchObject({ mode: 'on', admin: { token: 'first' } })
    config.reload(log, () => {}, 'secrets')
    expect(config.config).toMatchObject({ mode: 'on', admin: { token: 'second' } })
    writeFileSync(file, 'nonsense: {')
    writeFileSync(token, 'third')
    config.reload(log, () => {}, 'secrets')
    expect(config.config).toMatchObject({ mode: 'on', admin: { token: 'third' } })
  } finally {
    rmSync(folder, { recursive: true })
  }
})

test('a broken configuration is logged with every fault, and the one before stays', () => {
  const environment: Record<string, string> = { REPRISE_LOGS_LEVEL: 'warn' }
  const { config, reload, log, heard } = live(environment)
  Object.assign(environment, { REPRISE_LOGS_LEVEL: 'loud', REPRISE_MODE: 'maybe' })
  reload()
  expect(config.config.logs.level).toBe('warn')
  expect(heard).toEqual([])
  expect(log.error.mock.calls[0]?.[0].faults).toHaveLength(2)
  environment.REPRISE_LOGS_LEVEL = 'error'
  environment.REPRISE_MODE = 'off'
  reload()
  expect(config.config).toMatchObject({ logs: { level: 'error' }, mode: 'off' })
})

test('a configuration that cannot be applied is logged as that alone, and its changes wait for the next reload', () => {
  const environment: Record<string, string> = {}
  const { config, reload, log } = live(environment)
  environment.REPRISE_DRAIN_SECONDS = '7'
  environment.REPRISE_LISTEN = '127.0.0.1:2'
  const before = config.config
  reload(() => {
    throw new Error('certificate gone\nkeys gone')
  })
  expect(config.config).toBe(before)
  expect(log.error.mock.calls.map(([details]) => details)).toEqual([{ faults: ['certificate gone', 'keys gone'] }])
  expect(log.info).not.toHaveBeenCalled()
  expect(log.warn).not.toHaveBeenCalled()
  reload()
  expect(config.config.drain_seconds).toBe(7)
  expect(log.info.mock.calls[0]?.[0]).toEqual({ settings: ['drain_seconds'] })
})

test('a configuration that would let everyone in keeps its keys until the next start', () => {
  const environment: Record<string, string> = { REPRISE_KEYS_FILE: 'keys.yaml' }
  const { config, reload, log } = live(environment)
  delete environment.REPRISE_KEYS_FILE
  environment.REPRISE_KEYS_ALLOW_ENGINE_PATHS = '["/metrics"]'
  reload()
  expect(config.config.keys).toMatchObject({ file: 'keys.yaml', allow_engine_paths: ['/metrics'] })
  expect(log.warn.mock.calls[0]?.[0]).toEqual({ settings: ['keys.file'] })
  expect(log.info.mock.calls[0]?.[0]).toEqual({ settings: ['keys.allow_engine_paths'] })
})

test('what is said to wait for a start exists', () => {
  for (const setting of fixedAtStart) {
    const path = setting.split('.').flatMap((key) => ['properties', key])
    expect({ setting, schema: valueAt(configSchema, path) }).toMatchObject({ schema: expect.any(Object) })
  }
})

test('another login to the same Redis is taken on, another Redis waits for a restart', () => {
  const environment: Record<string, string> = { REPRISE_REDIS_URL: 'redis://:old@h:1' }
  const { config, reload, log } = live(environment)
  environment.REPRISE_REDIS_URL = 'redis://u:new@h:1'
  reload()
  expect(config.config.redis.url).toBe('redis://u:new@h:1')
  expect(log.warn).not.toHaveBeenCalled()
  environment.REPRISE_REDIS_URL = 'redis://u:new@other:1'
  reload()
  expect(config.config.redis.url).toBe('redis://u:new@h:1')
  expect(log.warn.mock.calls[0]?.[0]).toEqual({ settings: ['redis.url'] })
})
