import { expect, type Mock, test, vi } from 'vitest'
import type { Config } from './config.ts'
import { LiveConfig, reloadable } from './live-config.ts'
import { configSchema } from './schema/config-schema.ts'
import { valueAt } from './setting-values.ts'
import { type ConfigSource, createConfigSource } from './sources/config-source.ts'
import { toFlagLayer } from './sources/serve-flags.ts'

type Logs = (details: { settings?: string[]; faults?: string[] }, message: string) => void

/** A configuration from an environment that the test changes. */
function live(environment: Record<string, string>): {
  config: LiveConfig
  log: { [level in 'info' | 'warn' | 'error']: Mock<Logs> }
  heard: Config[]
} {
  const source: ConfigSource = createConfigSource({ file: undefined, environment, flags: toFlagLayer({}) })
  const config = new LiveConfig(source)
  const heard: Config[] = []
  config.onReload((next) => heard.push(next))
  return { config, log: { info: vi.fn<Logs>(), warn: vi.fn<Logs>(), error: vi.fn<Logs>() }, heard }
}

test('a reload takes on what it can and names what waits for a restart', () => {
  const environment: Record<string, string> = { REPRISE_LISTEN: '127.0.0.1:1' }
  const { config, log, heard } = live(environment)
  Object.assign(environment, {
    REPRISE_LISTEN: '127.0.0.1:2',
    REPRISE_LOGS_LEVEL: 'debug',
    REPRISE_LIMITS_WAITING_REQUESTS: '5',
    REPRISE_ADMIN_TOKEN: 't',
    REPRISE_ADMIN_LISTEN: '127.0.0.1:3',
  })
  config.reload(log)
  expect(config.config).toMatchObject({
    listen: { port: 1 },
    logLevel: 'debug',
    waitingRequests: 5,
    adminToken: 't',
    adminListen: { port: 9090 },
  })
  expect(heard).toEqual([config.config])
  expect(log.warn.mock.calls[0]?.[0]).toEqual({ settings: ['listen', 'admin.listen'] })
  expect(log.info.mock.calls[0]?.[0].settings?.toSorted()).toEqual([
    'admin.token',
    'limits.waiting_requests',
    'logs.level',
  ])
})

test('a setting that was taken back has its default again', () => {
  const environment: Record<string, string> = { REPRISE_LOGS_LEVEL: 'debug', REPRISE_ADMIN_TOKEN: 't' }
  const { config, log } = live(environment)
  delete environment.REPRISE_LOGS_LEVEL
  delete environment.REPRISE_ADMIN_TOKEN
  config.reload(log)
  expect(config.config).toMatchObject({ logLevel: 'info', adminToken: undefined })
})

test.each([
  ['sesame\n', 'sesame'],
  ['\n', undefined],
])('the admin token is what a header can carry of it: %j', (token, adminToken) => {
  expect(live({ REPRISE_ADMIN_TOKEN: token }).config.config).toMatchObject({ adminToken })
})

test('a broken configuration is logged with every fault, and the one before stays', () => {
  const environment: Record<string, string> = { REPRISE_LOGS_LEVEL: 'warn' }
  const { config, log, heard } = live(environment)
  Object.assign(environment, { REPRISE_LOGS_LEVEL: 'loud', REPRISE_MODE: 'maybe' })
  config.reload(log)
  expect(config.config.logLevel).toBe('warn')
  expect(heard).toEqual([])
  expect(log.error.mock.calls[0]?.[0].faults).toHaveLength(2)
  environment.REPRISE_LOGS_LEVEL = 'error'
  environment.REPRISE_MODE = 'off'
  config.reload(log)
  expect(config.config).toMatchObject({ logLevel: 'error', mode: 'off' })
})

test('a listener that fails is logged and keeps none of the others from hearing', () => {
  const { config, log, heard } = live({})
  config.onReload(() => {
    throw new Error('certificate gone')
  })
  config.onReload((next) => heard.push(next))
  config.reload(log)
  expect(heard).toHaveLength(2)
  expect(log.error.mock.calls[0]?.[0]).toEqual({ faults: ['certificate gone'] })
})

test('what is said to be reloadable exists', () => {
  for (const setting of reloadable) {
    const path = setting.split('.').flatMap((key) => ['properties', key])
    expect({ setting, schema: valueAt(configSchema, path) }).toMatchObject({ schema: expect.any(Object) })
  }
})
