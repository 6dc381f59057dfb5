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
  // these have no defaults: setting any of their values switches them on
  const isDefault = (path: string): boolean =>
    valueAt(path) !== undefined || /^(plugin\.(reuse|pages)|store\.mooncake\.options)\./.test(path)
  expect(pathsOf({ properties: own }).filter((path) => !isDefault(path))).toEqual([])
})

test.each([
  ['reuse', ['python/reprise_settings/reuse_settings.py']],
  ['pages', ['python/reprise_settings/page_settings.py', 'vllm/plugin/reprise_vllm/select_pages/settings.py']],
])('%s takes the settings that the plugin has', (value, files) => {
  const names = files.flatMap((file) => {
    const plugin = readFileSync(join(chart, '../../engine-adapters', file), 'utf8')
    const [, settings] = /class (?:Reuse|Page)Settings\b.*?:\n(.*?) {4}(?:@|def )/s.exec(plugin)!
    return [...settings!.matchAll(/^ {4}(\w+): /gm)].map(([, name]) => `plugin.${value}.${name}`)
  })
  const paths = pathsOf(valuesSchema() as SchemaNode).filter((path) => path.startsWith(`plugin.${value}.`))
  expect(paths.toSorted()).toEqual(names.toSorted())
})

test('options of Mooncake are those that the plugin has', () => {
  const store = readFileSync(join(chart, '../../kernels/reprise_reuse/stores/store.py'), 'utf8')
  const names = [.../_MOONCAKE = (\{.*\})/.exec(store)![1]!.matchAll(/"(\w+)"/g)].map(([, name]) => name)
  const { options } = (valuesSchema() as SchemaNode).properties!.store!.properties!.mooncake!.properties!
  // the size of the segments has a value of its own, and each pod its own address
  expect([...Object.keys(options!.properties!), 'segment_bytes', 'local'].toSorted()).toEqual(names.toSorted())
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

const block = (cidr: string, ...except: string[]): object => ({ ipBlock: { cidr, except } })
const engineAt = (rest: object): object => ({ engines: [{ url: 'http://a:8000', kind: 'vllm', ...rest }] })

test.each<[object, string]>([
  ...['10.0.0.0', '10.0.0.0/33', '10.0.0.256/8', 'fd00::/129', 'fd00', 'any'].flatMap((cidr): [object, string][] => [
    [{ networkPolicy: { apps: [block(cidr)] } }, '/networkPolicy/apps/0/ipBlock/cidr '],
    [{ networkPolicy: { admin: [block('10.0.0.0/8', cidr)] } }, '/networkPolicy/admin/0/ipBlock/except/0 '],
    [{ networkPolicy: { egress: [{ to: [block(cidr)] }] } }, '/networkPolicy/egress/0/to/0/ipBlock/cidr '],
  ]),
  [{ networkPolicy: { apps: [{ ipblock: {} }] } }, '/networkPolicy/apps/0 ipblock'],
  [{ networkPolicy: { egress: [{ ports: [{ port: 65_536 }] }] } }, '/networkPolicy/egress/0/ports/0/port '],
  [{ networkPolicy: { egress: [{ ports: [{ port: 'A_B' }] }] } }, '/networkPolicy/egress/0/ports/0/port '],
  [
    { networkPolicy: { egress: [{ ports: [{ port: 1, protocol: 'ICMP' }] }] } },
    '/networkPolicy/egress/0/ports/0/protocol ',
  ],
  [{ networkPolicy: { engines: { port: 0 } } }, '/networkPolicy/engines/port '],
  [{ networkPolicy: { engines: { podSelector: { app: 'vllm' } } } }, '/networkPolicy/engines/podSelector app'],
  ...['10.0.0.0/33', '300.0.0.1', 'gateway'].map((peer): [object, string] => [
    { config: { tenants: { trusted_peers: [peer] } } },
    '/config/tenants/trusted_peers/0 ',
  ]),
  ...['0.0.0.0:80', '999.0.0.1', 'a b', '[::]', ''].map((listenHost): [object, string] => [
    { listenHost },
    '/listenHost ',
  ]),
  ...['http://', 'http://a:0', 'http://a:65536', 'http://u:p@a', 'http://a/v1?k=1', 'http://a/#x', 'ftp://a'].map(
    (url): [object, string] => [engineAt({ url }), '/engines/0/url '],
  ),
  ...['tcp://a:0', 'tcp://a:99999', 'tcp://*:5557', 'tcp://0.0.0.0:5557', 'tcp://[::]:1', 'tcp://a'].flatMap(
    (place): [object, string][] => [
      [engineAt({ events: place }), '/engines/0/events '],
      [engineAt({ events: 'tcp://a:1', replay: place }), '/engines/0/replay '],
    ],
  ),
  [{ redis: { url: 'redis:6379' } }, '/redis/url '],
  [{ service: { port: 65_536 } }, '/service/port '],
  [{ ports: { data: 0 } }, '/ports/data '],
  ...['commonLabels', 'podLabels', 'nodeSelector'].flatMap((name): [object, string][] => [
    [{ [name]: { a: 'with a space' } }, `/${name}/a `],
    [{ [name]: { a: 'x'.repeat(64) } }, `/${name}/a `],
    [{ [name]: { 'a b': 'c' } }, `/${name} `],
    [{ [name]: { 'UPPER/a': 'c' } }, `/${name} `],
  ]),
  [{ podAnnotations: { 'a b': 'any text: yes' } }, '/podAnnotations '],
  [{ metrics: { podMonitor: { labels: { release: '-' } } } }, '/metrics/podMonitor/labels/release '],
  [{ fullnameOverride: 'Upper' }, '/fullnameOverride '],
  [{ nameOverride: 'a.b' }, '/nameOverride '],
  [{ secrets: { keys: { existingSecret: 'my keys' } } }, '/secrets/keys/existingSecret '],
])('what Kubernetes or reprise would refuse is refused: %j', (change, fault) => {
  expect(errorsOf(change).filter((one) => !one.startsWith(`${fault.trim()}/`))).toEqual([fault])
})

test.each([
  ...['0.0.0.0/0', '10.1.2.3/32', '::/0', 'fd00::/8', '2001:db8::1/128', '::ffff:10.0.0.0/104'].map((cidr) => ({
    networkPolicy: { apps: [block(cidr)], egress: [{ to: [block(cidr)], ports: [{ port: 'http', endPort: 9 }] }] },
  })),
  { networkPolicy: { admin: [{ namespaceSelector: {}, podSelector: { matchLabels: { 'a.io/b': 'c' } } }] } },
  { networkPolicy: { egress: [{ ports: [{ port: 1, endPort: 65_535, protocol: 'SCTP' }] }, {}] } },
  { config: { tenants: { trusted_peers: ['10.0.0.0/8', '192.168.0.1', 'fd00::/8', '::1'] } } },
  ...['0.0.0.0', '::', '10.0.0.1', 'fd00::1', 'pod.local'].map((listenHost) => ({ listenHost })),
  ...['http://a', 'https://a.b-c:65535/v1', 'http://[fd00::1]:8000', 'http://10.0.0.1:1/x/', 'http://a_b'].map((url) =>
    engineAt({ url }),
  ),
  engineAt({ events: 'tcp://vllm-0.vllm:5557', replay: 'tcp://[fd00::1]:65535' }),
  ...[
    '',
    'redis://r',
    'rediss://a:1/0',
    'redis+sentinel://a:26379,b:26379/mymaster/1',
    'redis+cluster://[::1]:1,b',
  ].map((url) => ({ redis: { url } })),
  { commonLabels: { team: '', 'example.com/a_b.c': 'A-1_b.c' }, podAnnotations: { 'a.io/b': 'any text: yes {}' } },
])('what both take is taken: %j', (change) => {
  expect(errorsOf(change)).toEqual([])
})

test('what the chart sets itself are settings of the product', () => {
  for (const path of Object.keys(setByTheChart)) {
    const found = path
      .split('.')
      .reduce<SettingSchema | undefined>((schema, key) => schema?.properties?.[key], configSchema)
    expect({ path, found: found !== undefined }).toEqual({ path, found: true })
  }
})
