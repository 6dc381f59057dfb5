import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { engineKinds } from '#engine-adapters/engine-adapter.ts'
import { configSchema } from '../schema/config-schema.ts'
import { readEnvironment } from './read-environment.ts'

function read(environment: Record<string, string>): ReturnType<typeof readEnvironment> {
  return readEnvironment(environment, configSchema)
}

test('a variable is the path of its setting, and is read as what the setting is', () => {
  const { settings } = read({
    REPRISE_LIMITS_BODY_BYTES: '1000',
    REPRISE_LOGS_PROMPTS: 'true',
    REPRISE_ADMIN_TOKEN: '0123',
    REPRISE_MODE: 'off',
    REPRISE_DRAIN_SECONDS: '0',
    REPRISE_ENGINES: '[{"url": "http://h:1", "kind": "vllm"}]',
    REPRISE_TENANTS_TRUSTED_PEERS: '[10.0.0.0/8, "::1"]',
  })
  expect(settings).toEqual({
    limits: { body_bytes: 1000 },
    logs: { prompts: true },
    admin: { token: '0123' },
    mode: 'off',
    drain_seconds: 0,
    engines: [{ url: 'http://h:1', kind: 'vllm' }],
    tenants: { trusted_peers: ['10.0.0.0/8', '::1'] },
  })
})

test('a variable for one setting goes before that of its group, and an empty one counts as none', () => {
  expect(
    read({ REPRISE_LOGS_LEVEL: 'warn', REPRISE_LOGS: '{ level: debug, prompts: true }', REPRISE_MODE: '' }),
  ).toMatchObject({ settings: { logs: { level: 'warn', prompts: true } } })
  expect(read({ REPRISE_MODE: '' }).settings).toEqual({})
})

test('faults name the variable, all at once, and no secret', () => {
  expect(() =>
    read({
      REPRISE_LIMITS_BODY_BYTES: '1k',
      REPRISE_ENGINES: '[{ url: "http://h", kind: tgi }]',
      REPRISE_TENANTS: '{ salt_secret: [sk-secret] }',
      REPRISE_ANNOTATIONS: '[',
    }),
  ).toThrow(
    [
      `REPRISE_ENGINES: [0].kind: has to be one of ${engineKinds.join(', ')}, not 'tgi'`,
      'REPRISE_ANNOTATIONS:1:2: Flow sequence must end with a ]',
      'REPRISE_TENANTS: salt_secret: has to be a text',
      "REPRISE_LIMITS_BODY_BYTES: has to be a whole number, not '1k'",
    ].join('\n'),
  )
})

test('variables of others and of Kubernetes are no settings, and no faults', () => {
  const { settings } = read({
    REPRISE_CALLBACK_URL: 'http://h',
    REPRISE_CONFIG: 'f',
    REPRISE_SERVICE_HOST: '10.0.0.1',
    REPRISE_SERVICE_PORT_HTTP: '80',
    REPRISE_PORT: 'tcp://10.0.0.1:80',
    REPRISE_ADMIN_PORT_9090_TCP_ADDR: '10.0.0.1',
    PATH: '/bin',
  })
  expect(settings).toEqual({})
})

test.each([
  ['REPRISE_ENGINE', 'did you mean REPRISE_ENGINES?'],
  ['REPRISE_LIMIT_BODY_BYTES', 'did you mean REPRISE_LIMITS_BODY_BYTES?'],
  ['REPRISE_CALLBACK_URI', 'did you mean REPRISE_CALLBACK_URL?'],
  ['REPRISE_SERVICES_HOST', 'see `reprise config-schema`'],
  ['REPRISE_X', 'see `reprise config-schema`'],
])('%s is wrong usage: %s', (name, remedy) => {
  expect(() => read({ [name]: 'x' })).toThrowError(
    expect.objectContaining({ message: `${name} is no setting of reprise: ${remedy}`, exitCode: 2 }),
  )
})

test('no two settings share a variable', () => {
  const names: string[] = []
  const collect = (schema: typeof configSchema, path: string): void => {
    for (const [key, setting] of Object.entries(schema.properties ?? {})) {
      names.push(`${path}_${key}`.toUpperCase())
      collect(setting as typeof configSchema, `${path}_${key}`)
    }
  }
  collect(configSchema, 'REPRISE')
  expect(new Set(names).size).toBe(names.length)
  expect(names).toContain('REPRISE_LIMITS_BODY_BYTES')
})

test('a secret whose file cannot be read stays as it was, and others are renewed', () => {
  const folder = mkdtempSync(join(tmpdir(), 'reprise-secrets-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const [token, salt] = [join(folder, 'token'), join(folder, 'salt')]
  const files = { REPRISE_ADMIN_TOKEN_FILE: token, REPRISE_TENANTS_SALT_SECRET_FILE: salt }
  const write = (tokenText: string, saltText: string): void => {
    writeFileSync(token, tokenText)
    writeFileSync(salt, saltText)
  }
  const before = 'a salt of sixteen or more characters'
  write('one', before)
  const { secretFiles: known, staleFiles: none } = readEnvironment(files, configSchema)
  expect(none).toEqual([])
  write('two', '')
  const { settings, staleFiles } = readEnvironment(files, configSchema, known)
  expect(settings).toEqual({ admin: { token: 'two' }, tenants: { salt_secret: before } })
  expect(staleFiles).toEqual([expect.stringMatching(/^REPRISE_TENANTS_SALT_SECRET_FILE: .*it is empty/)])
})

test('a secret may be in a file, without the line break behind it', () => {
  const folder = mkdtempSync(join(tmpdir(), 'reprise-secrets-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const file = join(folder, 'token')
  writeFileSync(file, 't o k e n \n')
  const { settings, secretFiles } = read({ REPRISE_ADMIN_TOKEN_FILE: file, REPRISE_REDIS_URL_FILE: '' })
  expect(settings).toEqual({ admin: { token: 't o k e n ' } })
  expect([...secretFiles!.keys()]).toEqual([file])
  expect(() => read({ REPRISE_ADMIN_TOKEN_FILE: file, REPRISE_ADMIN_TOKEN: 't' })).toThrow(
    'REPRISE_ADMIN_TOKEN and REPRISE_ADMIN_TOKEN_FILE are both set: leave out one of them',
  )
  expect(() => read({ REPRISE_REDIS_URL_FILE: join(folder, 'none') })).toThrow(
    /^REPRISE_REDIS_URL_FILE: .*none cannot be read: ENOENT/,
  )
  writeFileSync(file, '\n')
  expect(() => read({ REPRISE_ADMIN_TOKEN_FILE: file })).toThrow('it is empty')
  expect(() => read({ REPRISE_ADMIN_TOKEN_FILE: '/dev/zero' })).toThrow('it is no regular file')
  expect(() => read({ REPRISE_MODE_FILE: file })).toThrow('REPRISE_MODE_FILE is no setting of reprise')
})
