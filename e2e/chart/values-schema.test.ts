import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Ajv } from 'ajv'
import { expect, test } from 'vitest'
import { parse } from 'yaml'
import { configSchema } from '#proxy/config/schema/config-schema.ts'
import type { SettingSchema } from '#proxy/config/schema/setting-schema.ts'
import { setByTheChart, valuesSchema } from './values-schema.ts'

const chart = join(import.meta.dirname, '..', '..', 'charts', 'reprise')
const validate = new Ajv({ allErrors: true, allowUnionTypes: true }).compile(valuesSchema())
const values = parse(readFileSync(join(chart, 'values.yaml'), 'utf8')) as Record<string, unknown>

/** Returns the paths of all keys below a value; lists and values that Kubernetes checks are leaves. */
function pathsOf(schema: SchemaNode, path: readonly string[] = []): string[] {
  return Object.entries(schema.properties ?? {}).flatMap(([key, below]) => [
    [...path, key].join('.'),
    ...pathsOf(below, [...path, key]),
  ])
}

interface SchemaNode {
  readonly properties?: Readonly<Record<string, SchemaNode>>
}

function valueAt(path: string): unknown {
  return path
    .split('.')
    .reduce<unknown>(
      (value, key) => (typeof value === 'object' && value !== null ? Reflect.get(value, key) : undefined),
      values,
    )
}

function errorsOf(change: object): string[] {
  validate({ ...values, ...change })
  const faults = (validate.errors ?? []).map(
    ({ instancePath, params }) => `${instancePath} ${'additionalProperty' in params ? params.additionalProperty : ''}`,
  )
  // each alternative of an `anyOf` reports its own error
  return [...new Set(faults)]
}

test('the published schema is the one that the product’s settings make: `npm run chart:schema` mends it', () => {
  expect(JSON.parse(readFileSync(join(chart, 'values.schema.json'), 'utf8'))).toEqual(
    JSON.parse(JSON.stringify(valuesSchema())),
  )
})

test('the default values fit it, and every key of it has a default that can be read in values.yaml', () => {
  expect(errorsOf({})).toEqual([])
  const { config: _, engines: __, global: ___, ...own } = (valuesSchema() as SchemaNode).properties!
  // `plugin.reuse` has no defaults: setting any of its values switches it on
  const isDefault = (path: string): boolean => valueAt(path) !== undefined || path.startsWith('plugin.reuse.')
  expect(pathsOf({ properties: own }).filter((path) => !isDefault(path))).toEqual([])
})

test('reuse takes the settings that the plugin has', () => {
  const plugin = readFileSync(join(chart, '../../engine-adapters/vllm/plugin/reprise_vllm/reuse/settings.py'), 'utf8')
  const [, settings] = /class ReuseSettings:(.*?)@property/s.exec(plugin)!
  const names = [...settings!.matchAll(/^ {4}(\w+): /gm)].map(([, name]) => `plugin.reuse.${name}`)
  const paths = pathsOf(valuesSchema() as SchemaNode).filter((path) => path.startsWith('plugin.reuse.'))
  expect(paths.toSorted()).toEqual(names.toSorted())
})

test.each([
  [{ mod: 'gateway' }, ' mod'],
  [{ metrics: { podMonitor: { enable: true } } }, '/metrics/podMonitor enable'],
  [{ plugin: { reuse: { ration: 0.2 } } }, '/plugin/reuse ration'],
  [{ plugin: { reuse: { ratio: 7 } } }, '/plugin/reuse/ratio '],
  [{ config: { limits: { body_byte: 1 } } }, '/config/limits body_byte'],
  [{ config: { listen: '0.0.0.0:1' } }, '/config listen'],
  [{ config: { admin: { token: 'secret' } } }, '/config admin'],
  [{ config: { redis: { url: 'redis://r' } } }, '/config/redis url'],
  [{ engines: [{ url: 'http://a', api_key: 'secret' }] }, '/engines/0 api_key'],
  [{ engines: [{ kind: 'vllm' }] }, '/engines/0 '],
  [{ redis: { url: 'redis://:secret@redis:6379' } }, '/redis/url '],
  [{ extraEnv: [{ name: 'REPRISE_FOO', value: '1' }] }, '/extraEnv/0/name '],
  [{ extraEnv: [{ name: 'REPRISE_LISTEN', value: '127.0.0.1:80' }] }, '/extraEnv/0/name '],
])('%j is refused', (change, fault) => {
  expect(errorsOf(change)).toEqual([fault])
})

test('what the chart sets itself are settings of the product', () => {
  for (const path of Object.keys(setByTheChart)) {
    const found = path
      .split('.')
      .reduce<SettingSchema | undefined>((schema, key) => schema?.properties?.[key], configSchema)
    expect({ path, found: found !== undefined }).toEqual({ path, found: true })
  }
})
