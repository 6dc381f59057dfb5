import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, expect, test } from 'vitest'
import { engineKinds } from '#engine-adapters/engine-adapter.ts'
import { ConfigError } from '../../common/errors.ts'
import { type Config, toConfig } from '../config.ts'
import { configSchema } from '../schema/config-schema.ts'
import { loadConfig } from './config-source.ts'
import type { ServeFlags } from './serve-flags.ts'

const folder = mkdtempSync(join(tmpdir(), 'reprise-config-'))
afterAll(() => rmSync(folder, { recursive: true }))
const file = join(folder, 'reprise.yaml')

type Environment = Record<string, string>

function load(text: string, environment: Environment = {}, flags: ServeFlags = {}): Config {
  writeFileSync(file, text)
  return toConfig(loadConfig({ file, environment, flags }).settings)
}

/** The lines of the error, without the file's folder. */
function faultsOf(text: string, environment: Environment = {}, flags: ServeFlags = {}): string[] {
  try {
    load(text, environment, flags)
  } catch (error) {
    expect(error).toBeInstanceOf(ConfigError)
    return (error as Error).message.replaceAll(`${folder}/`, '').split('\n')
  }
  return []
}

test('a flag goes before the environment, that before the file, and the file before the default', () => {
  const text = 'limits: { body_bytes: 1, in_flight_per_replica: 2, max_wait_seconds: 3 }\nlogs: { level: warn }'
  const environment = {
    REPRISE_LIMITS_BODY_BYTES: '10',
    REPRISE_LIMITS_IN_FLIGHT_PER_REPLICA: '20',
    REPRISE_MODE: 'off',
  }
  expect(load(text, environment, { mode: 'shadow' })).toMatchObject({
    limits: { body_bytes: 10, in_flight_per_replica: 20, max_wait_seconds: 3 },
    mode: 'shadow',
    drain_seconds: 30,
    logs: { level: 'warn' },
  })
})

test('a time that no timer can wait for is refused: it would be over at once', () => {
  const most = 'drain_seconds: 2147483\nlimits: { max_wait_seconds: 2147483 }'
  expect(load(most)).toMatchObject({ drain_seconds: 2_147_483, limits: { max_wait_seconds: 2_147_483 } })
  expect(faultsOf('', { REPRISE_DRAIN_SECONDS: '2147484' })).toEqual([
    'REPRISE_DRAIN_SECONDS: has to be at most 2147483, not 2147484',
  ])
  expect(faultsOf('drain_delay_seconds: 9999999\nlimits: { max_wait_seconds: 2147484 }')).toEqual([
    'reprise.yaml:2: limits.max_wait_seconds: has to be at most 2147483, not 2147484',
    'reprise.yaml:1: drain_delay_seconds: has to be at most 2147483, not 9999999',
  ])
})

test('JSON, comments, anchors and an empty file are all YAML', () => {
  expect(load('{"mode": "shadow", "engines": [{"url": "http://h:1"}]}')).toMatchObject({
    mode: 'shadow',
    engines: [{ url: 'http://h:1', kind: 'openai', id: 'engine' }],
  })
  expect(load('# nothing yet\n')).toEqual(load(''))
  const anchored =
    'engines:\n  - &a { url: "http://h:1", kind: vllm }\n  - { <<: *a, url: "http://h:2", id: other }\n  - { <<: *a, url: "http://h:3" }'
  expect(load(anchored).engines).toMatchObject([
    { url: 'http://h:1', kind: 'vllm', id: 'engine' },
    { url: 'http://h:2', kind: 'vllm', id: 'other' },
    { url: 'http://h:3', kind: 'vllm', id: 'engine-2' },
  ])
})

test('on and off may be written as YAML 1.1 and JSON have them', () => {
  expect(load('mode: off').mode).toBe('off')
  expect(load('mode: true').mode).toBe('on')
})

test('options are written as in the header of a request', () => {
  expect(load('options: annotate=off, overlaps=on').options).toBe('annotate=off, overlaps=on')
  expect(faultsOf('options: annotate=never')).toEqual([
    expect.stringMatching(
      /^reprise\.yaml:1: options: 'annotate=never' is not an option of reprise; known are reorder=on\|off/,
    ),
  ])
})

test('words behind a history surround what is moved', () => {
  const faults = (frame: string): string[] => faultsOf(`hygiene: { behind_history: ["${frame}"] }`)
  expect([...faults('from'), ...faults('from {any} to')]).toEqual([])
  for (const frame of ['{any}to', 'from{any}', ' ', 'a{any}b{any}c'])
    expect(faults(frame)).toEqual([
      'reprise.yaml:1: hygiene.behind_history[0]: has to have words, and at most one {any} between them',
    ])
})

test('a quote that is not closed is named where it was opened', () => {
  expect(faultsOf('logs: { level: info }\nmode: "on\nlisten: 127.0.0.1:80\n\ndrain_seconds: 3\n')).toEqual([
    expect.stringMatching(/^reprise\.yaml:2:7: Missing closing/),
  ])
})

test('one address for applications and the control plane is a fault', () => {
  expect(faultsOf('listen: 127.0.0.1:80\nadmin: { listen: "127.0.0.1:80" }')).toEqual([
    'reprise.yaml:2: admin.listen: is where applications connect (listen): give each an address of its own',
  ])
})

test('relative paths in the file start at the file, those in the environment where we are', () => {
  const text = 'keys: { file: keys.yaml }\ntls: { cert: tls/cert.pem, key: /etc/key.pem }'
  expect(load(text)).toMatchObject({
    keys: { file: join(folder, 'keys.yaml') },
    tls: { cert: join(folder, 'tls/cert.pem'), key: '/etc/key.pem' },
  })
  const engines = 'engines: [{ url: "https://h", tls: { ca: ca.pem } }]'
  expect(load(engines, { REPRISE_KEYS_FILE: 'k.yaml' })).toMatchObject({
    keys: { file: 'k.yaml' },
    engines: [{ tls: { ca: join(folder, 'ca.pem') } }],
  })
})

test('engines get names that no other has, and the shared key where they have none of their own', () => {
  const text = `engines:
  - { url: "http://a" }
  - { url: "http://b", id: engine-2, api_key: own }
  - { url: "http://c" }`
  expect(load(text, { REPRISE_ENGINE_API_KEY: 'shared' }).engines).toMatchObject([
    { id: 'engine', api_key: 'shared' },
    { id: 'engine-2', api_key: 'own' },
    { id: 'engine-3', api_key: 'shared' },
  ])
})

test('every fault is named, with file, line, path and reason', () => {
  expect(
    faultsOf(`listen: 8080
engines:
  - url: http://h
  - url: http://i
    kind: tgi
    weight: 3
  - kind: vllm
limits:
  body_bytes: lots
  max_wait_seconds: -1
annotations: { order: "read {oder}" }
keys: { allow_engine_paths: [metrics], entries: [] }
mod: on`),
  ).toEqual([
    'reprise.yaml:13: mod: is not a setting: did you mean mode?',
    'reprise.yaml:1: listen: has to be a text, not 8080',
    'reprise.yaml:6: engines[1].weight: is not a setting: known are url, kind, id, api_key, events, replay, models, discover, tls',
    `reprise.yaml:5: engines[1].kind: has to be one of ${engineKinds.join(', ')}, not 'tgi'`,
    'reprise.yaml:7: engines[2].url: is missing',
    "reprise.yaml:11: annotations.order: has to contain {order}, not 'read {oder}'",
    'reprise.yaml:12: keys.entries: is not a setting: known are file, allow_engine_paths, forward_client_authorization',
    'reprise.yaml:12: keys.allow_engine_paths[0]: has to begin with /; * stands at its end alone',
    "reprise.yaml:9: limits.body_bytes: has to be a whole number, not 'lots'",
    'reprise.yaml:10: limits.max_wait_seconds: has to be at least 1, not -1',
  ])
})

test('what a setting lacks is named with the line of the setting', () => {
  const text = `engines: [{ url: "http://h" }]\ntemplates:\n  - { name: a, block: "[{n}] {block}" }\n  - { name: "", block: "# {block}" }`
  expect(faultsOf(text)).toEqual(['reprise.yaml:4: templates[1].name: must not be empty'])
  expect(faultsOf(text.replace('""', 'b'))).toContain(
    'reprise.yaml:3: templates[0].after: is needed, since nothing ends the last block: write what is behind it, or {end}',
  )
})

test.each([
  ['a: [1', /^reprise\.yaml:1:6: Flow sequence/],
  ['mode: on\nmode: off', /^reprise\.yaml:2:1: Map keys must be unique$/],
  ['mode: !!binary aGk=', /^reprise\.yaml:1: mode: has to be one of auto, ask, on, shadow, off/],
  ['mode: *nowhere', /^reprise\.yaml: Unresolved alias .*: nowhere$/],
  ['- listen', /^reprise\.yaml: has to be a group of settings, not \["listen"\]$/],
  ['mode: on\n---\nmode: off', /^reprise\.yaml:2:1: Source contains multiple documents/],
  ['__proto__: { mode: off }', /^reprise\.yaml:1: __proto__: is not a setting/],
])('what cannot be read is said in one line: %j', (text, message) => {
  const faults = faultsOf(text)
  expect(faults).toHaveLength(1)
  expect(faults[0]).toMatch(message)
})

test('an alias inside what it names is a fault', () => {
  expect(faultsOf('engines: &a [*a]')).toEqual(['reprise.yaml: an alias stands inside what its anchor names'])
})

test('an alias of a model stands for no other alias, unless that is a model with fall-backs', () => {
  const of = (aliases: string): string => `engines: [{url: "http://e", kind: vllm}]\naliases: ${aliases}`
  expect(faultsOf(of('[{name: a, models: [b]}, {name: b, models: [a]}]'))).toEqual([
    expect.stringMatching(/aliases.*'b' is an alias itself/),
    expect.stringMatching(/aliases.*'a' is an alias itself/),
  ])
  expect(faultsOf(of('[{name: a, models: [b]}, {name: b, models: [b, c]}]'))).toEqual([])
})

test('aliases that multiply do not fill the memory', () => {
  const levels = ['a0: &a0 [x, x, x, x, x, x, x, x, x]']
  for (let i = 1; i < 12; i++)
    levels.push(
      `a${i}: &a${i} [${Array(9)
        .fill(`*a${i - 1}`)
        .join(', ')}]`,
    )
  expect(faultsOf(levels.join('\n'))).toEqual([expect.stringMatching(/^reprise\.yaml: Excessive alias count/)])
})

test('a file that is not there is named', () => {
  expect(() => loadConfig({ file: join(folder, 'none.yaml'), environment: {} })).toThrow(
    /none\.yaml: cannot be read: ENOENT/,
  )
})

test.each<[string, string, Environment, ServeFlags, string[]]>([
  [
    'options of one request',
    'options: citations=keep,set=on',
    {},
    {},
    [
      'reprise.yaml:1: options: set and order say something of one request: its sender states them in x-reprise-options',
    ],
  ],
  [
    'a tenant named by nobody',
    '',
    { REPRISE_TENANTS_FROM: 'header' },
    {},
    ['REPRISE_TENANTS_FROM: tenants.from: needs trusted_peers: nobody else may name a tenant'],
  ],
  [
    'two engines of one name',
    'engines: [{ url: "http://a", id: x }, { url: "http://b", id: x }]',
    {},
    {},
    ["reprise.yaml:1: engines[1].id: another engine is called 'x' too: give each its own, whatever its case"],
  ],
  [
    'half a certificate',
    'tls:\n  cert: a.pem',
    {},
    {},
    ['reprise.yaml:2: tls: has a cert and no key: both are needed'],
  ],
  [
    'clients’ certificates without one of ours',
    'tls:\n  client_ca: a.pem',
    {},
    {},
    ['reprise.yaml:2: tls.client_ca: needs cert and key beside it'],
  ],
  [
    'certificates for plain HTTP',
    'engines: [{ url: "http://a", tls: { cert: c.pem } }]',
    {},
    {},
    [
      'reprise.yaml:1: engines[0].tls: needs a url that begins with https://',
      'reprise.yaml:1: engines[0].tls: has a cert and no key: both are needed',
    ],
  ],
  [
    'peers that are no addresses',
    'tenants: { trusted_peers: [10.0.0.0/8, 10.0.0.0/33, gateway] }',
    {},
    {},
    [
      "reprise.yaml:1: tenants.trusted_peers[1]: '10.0.0.0/33' is neither an address nor a range: write for example 10.0.0.0/8 or ::1",
      "reprise.yaml:1: tenants.trusted_peers[2]: 'gateway' is neither an address nor a range: write for example 10.0.0.0/8 or ::1",
    ],
  ],
  [
    'templates that cannot be told from documents',
    'templates:\n  - { name: n, block: "<doc>{block}</doc>" }\n  - { name: n, block: "<d>{block}</d>" }\n  - { block: "# {title}" }',
    {},
    {},
    [
      "reprise.yaml:3: templates[1].name: another template is called 'n' too",
      'reprise.yaml:4: templates[2].block: {title} cannot be there: write {block}, {any}, {n}',
      'reprise.yaml:4: templates[2].block: has to contain {block} once',
    ],
  ],
  [
    'addresses that are none',
    'listen: here',
    { REPRISE_ADMIN_LISTEN: '9090' },
    {},
    [
      "reprise.yaml:1: listen: 'here' is not an address: write HOST:PORT.",
      "REPRISE_ADMIN_LISTEN: admin.listen: '9090' is not an address: write HOST:PORT.",
    ],
  ],
  [
    'where events are repeated, without where they are published',
    '',
    {},
    { engine: [{ url: 'http://a', replay: 'tcp://a:2' }] },
    ['--engine: engines[0].replay: needs `events` beside it: say where the engine publishes them'],
  ],
])('contradictions are named where they were set: %s', (_title, text, environment, flags, faults) => {
  expect(faultsOf(text, environment, flags)).toEqual(faults)
})

test('only flags at fault are wrong usage', () => {
  const exitCodeOf = (text: string, flags: ServeFlags): number | undefined => {
    try {
      load(text, {}, flags)
    } catch (error) {
      return (error as ConfigError).exitCode
    }
    return undefined
  }
  expect(exitCodeOf('', { redis: 'http://h' })).toBe(2)
  expect(exitCodeOf('', { listen: '127.0.0.1:1', adminListen: '127.0.0.1:1' })).toBe(2)
  expect(exitCodeOf('listen: here', { redis: 'http://h' })).toBe(1)
})

test('no value and no name in a file makes an error of several lines, or speaks to the terminal', () => {
  expect(faultsOf(JSON.stringify({ listen: 'a\nb\u001b[2J', 'x\ny': 1, ' ': 1, ['n'.repeat(1000)]: 1 }))).toHaveLength(
    3,
  )
  expect(faultsOf(JSON.stringify({ listen: 'a\nb\u001b[2J', mode: 'm\nn' }))).toEqual([
    "reprise.yaml:1: mode: has to be one of auto, ask, on, shadow, off, not 'm n'",
  ])
  expect(faultsOf(JSON.stringify({ listen: 'a\nb\u001b[2J' }))).toEqual([
    "reprise.yaml:1: listen: 'a b [2J' is not an address: write HOST:PORT.",
  ])
})

const anySettings = fc.oneof(
  fc.string(),
  fc.json(),
  fc
    .record(
      Object.fromEntries(Object.keys(configSchema.properties!).map((name) => [name, fc.jsonValue({ maxDepth: 3 })])),
      { requiredKeys: [] },
    )
    .map((settings) => JSON.stringify(settings)),
)

test('whatever stands in the file, it can be used or every line of the error names the file', () => {
  fc.assert(
    fc.property(anySettings, (text) => {
      for (const fault of faultsOf(text)) expect(fault).toMatch(/^reprise\.yaml(:\d+){0,2}: \P{Cc}+$/u)
    }),
    { numRuns: 100 },
  )
})
