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
    listen: '127.0.0.1:8080',
    tls: {},
    admin: { listen: '127.0.0.1:9090', token: undefined },
    engines: [],
    aliases: [],
    mode: 'auto',
    annotations: {
      order: 'Please read the context in the following priority order: {order} and answer the question.',
      location: 'Please refer to {label} in the previous conversation.',
    },
    templates: [],
    learn: true,
    chunks: { max_chunks: 1_000_000 },
    hygiene: { sort_tools: false, behind_history: [] },
    tenants: { from: 'key', trusted_peers: [] },
    health: { readyz: 'proxy' },
    keys: { allow_engine_paths: [], forward_client_authorization: false },
    limits: { body_bytes: 64 * 1024 * 1024, in_flight_per_replica: 4096, max_wait_seconds: 300 },
    workLimits: { bytes: 8 * 1024 * 1024, texts: 2_048, milliseconds: 30 },
    bodyStallSeconds: 30,
    groupWindowMilliseconds: 20,
    waitingRequests: 10_000,
    warm_up: true,
    warmUpSeconds: 10,
    pins: { tokens: 0 },
    keepAliveSeconds: 10,
    headers: true,
    drain_delay_seconds: 0,
    drain_seconds: 30,
    checks: { intervalSeconds: 5 },
    logs: { level: 'info', prompts: false },
    record: { text: false },
    redis: { namespace: 'default', share_tokens: false },
  })
})

test('it is a schema by the meta-schema, which a start does not look at', () => {
  expect(new Ajv({ formats: { 'file-path': true } }).validateSchema(configSchema)).toBe(true)
})
