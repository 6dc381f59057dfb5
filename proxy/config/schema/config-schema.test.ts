import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Ajv } from 'ajv'
import { expect, test } from 'vitest'
import { checkSettings } from '../faults/check-settings.ts'
import { defaultConfig } from '../sources/config-source.ts'
import { configSchema } from './config-schema.ts'
import type { SettingSchema } from './setting-schema.ts'

const published = join(import.meta.dirname, '..', '..', '..', 'docs', 'config.schema.json')

test('the published schema is the one in use: `reprise config-schema > docs/config.schema.json` mends it', () => {
  expect(JSON.parse(readFileSync(published, 'utf8'))).toEqual(JSON.parse(JSON.stringify(configSchema)))
})

test('every setting is described, and every default follows the schema', () => {
  const check = (schema: SettingSchema, path: string): void => {
    for (const [name, setting] of Object.entries(schema.properties ?? schema.items?.properties ?? {})) {
      expect({ path: `${path}.${name}`, description: setting.description }).toMatchObject({
        description: expect.stringMatching(/[.…]$|HOST:PORT$/),
      })
      if (setting.default !== undefined)
        expect({ path: `${path}.${name}`, faults: checkSettings(setting, setting.default) }).toMatchObject({
          faults: [],
        })
      check(setting, `${path}.${name}`)
    }
  }
  check(configSchema, '')
})

test('what nothing is configured for is what the contract says', () => {
  expect(defaultConfig()).toEqual({
    listen: { host: '127.0.0.1', port: 8080 },
    tls: undefined,
    adminListen: { host: '127.0.0.1', port: 9090 },
    adminToken: undefined,
    engines: [],
    engineApiKey: undefined,
    aliases: new Map(),
    mode: 'auto',
    wording: {
      order: 'Please read the context in the following priority order: {order} and answer the question.',
      location: 'Please refer to {label} in the previous conversation.',
      block: '[Doc_{k}] {text}',
    },
    options: {},
    templates: [],
    learn: true,
    maxChunks: 1_000_000,
    hygiene: { sortTools: false, behindHistory: [] },
    tenantsFrom: 'key',
    trustedPeers: [],
    readyz: 'proxy',
    keys: { file: undefined, records: [], allowedPaths: [], forwardClientAuthorization: false },
    bodyLimitBytes: 64 * 1024 * 1024,
    bodyStallSeconds: 30,
    workLimits: { bytes: 8 * 1024 * 1024, texts: 2_048, milliseconds: 30 },
    groupWindowMilliseconds: 20,
    inFlightPerReplica: 4096,
    waitingRequests: 10_000,
    maxWaitSeconds: 300,
    warmUpSeconds: 10,
    pins: { tokens: 0, tenantTokens: 0 },
    keepAliveSeconds: 10,
    hasHeaders: true,
    drainDelaySeconds: 0,
    drainSeconds: 30,
    health: { intervalSeconds: 5 },
    logLevel: 'info',
    logPrompts: false,
  })
})

test('it is a schema by the meta-schema, which a start does not look at', () => {
  expect(new Ajv({ formats: { 'file-path': true } }).validateSchema(configSchema)).toBe(true)
})
