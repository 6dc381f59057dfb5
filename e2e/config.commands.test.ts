import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { engineKinds } from '#engine-adapters/engine-adapter.ts'
import { hasOpenssl, issue, makeAuthority } from './make-certificates.ts'
import { type RecordingEngineDouble, startRecordingEngineDouble } from './recording-engine-double.ts'
import { Reprises, runReprise } from './run-reprise.ts'
import { postJson, ragRequest } from './start-test-proxy.ts'

const reprises = new Reprises()
let folder: string
let engine: RecordingEngineDouble

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'reprise-config-'))
  engine = await startRecordingEngineDouble()
})
afterEach(async () => {
  reprises.stopAll()
  await engine.close()
  rmSync(folder, { recursive: true })
})

const addresses = 'listen: 127.0.0.1:0\nadmin: { listen: "127.0.0.1:0" }\n'

function write(text: string): string {
  const file = join(folder, 'reprise.yaml')
  writeFileSync(file, addresses + text)
  return file
}

test('serve runs with a file, the environment and flags, the later before the earlier', async () => {
  const file = write(
    `engines: [{ url: "${engine.url}", kind: vllm, id: gpu-7 }]\nlimits: { body_bytes: 10 }\nmode: off`,
  )
  const { listening } = await reprises.start(['serve', '--config', file, '--mode', 'shadow'], {
    REPRISE_LIMITS_BODY_BYTES: '1000',
    REPRISE_MODE: 'on',
  })
  const response = await postJson(`${listening.url}/v1/chat/completions`, ragRequest('q', ['a', 'b']))
  expect(response.status).toBe(200)
  expect(response.headers.get('x-reprise-replica')).toBe('gpu-7')
  expect(response.headers.get('x-reprise-skipped')).toBe('shadow')
  const large = await postJson(`${listening.url}/v1/chat/completions`, ragRequest('q'.repeat(1000), ['a']))
  expect(large.status).toBe(413)
})

test('REPRISE_CONFIG names the file, too', async () => {
  const file = write(`engines: [{ url: "${engine.url}", id: gpu-8 }]`)
  const { listening } = await reprises.start(['serve'], { REPRISE_CONFIG: file })
  const response = await postJson(`${listening.url}/v1/chat/completions`, ragRequest('q', ['a']))
  expect(response.headers.get('x-reprise-replica')).toBe('gpu-8')
})

test.each<[string, Record<string, string>, (string | RegExp)[]]>([
  [
    'engines:\n  - { url: "http://h", kind: tgi }\nlimits: { body_bytes: 1.5 }',
    {},
    [
      `reprise.yaml:4: engines[0].kind: has to be one of ${engineKinds.join(', ')}, not 'tgi'`,
      'reprise.yaml:5: limits.body_bytes: has to be a whole number, not 1.5',
    ],
  ],
  ['mode: [', {}, [/^reprise\.yaml:3:8: Flow sequence .*$/]],
  ['', { REPRISE_DRAIN_SECONDS: '-1' }, ['REPRISE_DRAIN_SECONDS: has to be at least 0, not -1']],
  ['keys: { file: keys.yaml }', {}, [/^keys\.yaml: cannot be read: ENOENT/]],
  [
    'tls: { cert: c.pem, key: k.pem }',
    {},
    [/^tls\.cert: c\.pem cannot be read: ENOENT/, /^tls\.key: k\.pem cannot be read: ENOENT/],
  ],
])('a configuration that cannot be used ends with 1 and a line for each fault: %j %j', (text, env, lines) => {
  const { status, stdout, stderr } = runReprise(['serve', '--emulate', '--config', write(text)], { env })
  const told = stderr.trimEnd().replaceAll(`${folder}/`, '').split('\n')
  expect(told.map((line) => line.replace(/^error: /, ''))).toEqual(
    lines.map((line) => (typeof line === 'string' ? line : (expect.stringMatching(line) as unknown))),
  )
  expect(told.every((line) => line.startsWith('error: '))).toBe(true)
  expect({ status, stdout }).toEqual({ status: 1, stdout: '' })
})

test('check-config finds the same faults, and starts nothing', () => {
  const engines = `engines: [{ url: "${engine.url}" }]\n`
  const file = write(`${engines}keys: { file: keys.yaml }\ntls: { cert: c.pem, key: k.pem }`)
  expect(runReprise(['check-config', file])).toMatchObject({
    status: 1,
    stderr: expect.stringMatching(
      /^error: .*keys\.yaml: cannot be read: .*\nerror: tls\.cert: .*\nerror: tls\.key: .*\n$/,
    ),
  })
  write('mode: maybe')
  expect(runReprise(['check-config', file])).toMatchObject({
    status: 1,
    stderr: expect.stringContaining("not 'maybe'"),
  })
  write('mode: shadow\nengines: []')
  expect(runReprise(['check-config', file])).toMatchObject({
    status: 1,
    stderr: expect.stringMatching(/^error: No engine is named: .*\n$/),
  })
  write(`${engines}record: { folder: traces/of/mine }`)
  expect(runReprise(['check-config', file])).toMatchObject({ status: 0, stderr: `${file} can be used.\n` })
})

test.skipIf(!hasOpenssl)(
  'check-config, serve and doctor warn of certificates that have expired (needs openssl)',
  async () => {
    const authority = makeAuthority(folder, 'authority')
    const [expired, valid] = [-1, 1].map((days) => issue(folder, `for ${days}`, authority, 'DNS:localhost', days))
    const engineTls = (shown: typeof expired): string =>
      `engines: [{ url: "https://localhost:1", tls: { cert: "${shown!.cert}", key: "${shown!.key}" } }]\n`
    const listener = `tls: { cert: "${folder}/shown.pem", key: "${folder}/shown.key" }`
    const show = (one: typeof expired): void => {
      copyFileSync(one!.cert, join(folder, 'shown.pem'))
      copyFileSync(one!.key, join(folder, 'shown.key'))
    }
    show(expired)
    const file = write(engineTls(expired) + listener)
    const told = [
      /tls\.cert: .*shown\.pem has expired \(.* GMT\)/,
      /engines\[0\]\.tls\.cert: .* has expired \(.* GMT\)/,
    ]
    const { status, stderr } = runReprise(['check-config', file])
    const { stdout } = runReprise(['doctor', '--config', file, '--timeout-seconds', '1'])
    const serving = await reprises.start(['serve', '--config', file])
    for (const one of told) {
      expect(stderr).toMatch(one)
      expect(stdout.replace(/\s+/g, ' ')).toMatch(one)
      await vi.waitFor(() => expect(serving.stderr()).toMatch(one))
    }
    expect(status).toBe(0)
    show(valid)
    expect(runReprise(['check-config', write(engineTls(valid) + listener)]).stderr).toBe(`${file} can be used.\n`)
    await vi.waitFor(() => expect(serving.stderr()).toContain('certificates reloaded'), 10_000)
    const warnings = (): number => serving.stderr().match(/has expired/g)!.length
    const before = warnings()
    show(expired)
    await vi.waitFor(() => expect(warnings()).toBe(before + 1), 10_000)
    serving.child.kill('SIGHUP')
    await vi.waitFor(() => expect(serving.stderr()).toContain('configuration reloaded'), 10_000)
    expect(warnings()).toBe(before + 1)
  },
)

test('every missing file has a line, from serve and check-config alike', () => {
  const file = write(`engines:
  - { url: "https://127.0.0.1:1", tls: { ca: none-0.pem } }
  - { url: "https://127.0.0.1:2", tls: { ca: none-1.pem } }
redis: { url: "rediss://127.0.0.1:3", tls: { ca: none-2.pem } }
keys: { file: none.yaml }
record: { folder: reprise.yaml/traces }`)
  for (const args of [
    ['check-config', file],
    ['serve', '--config', file],
  ]) {
    const { status, stderr } = runReprise(args)
    const lines = stderr.trimEnd().replaceAll(`${folder}/`, '').split('\n')
    expect(lines.map((line) => line.replace(/ENOENT.*|\(E.*/, '…'))).toEqual([
      'error: engines[0].tls.ca: none-0.pem cannot be read: …',
      'error: engines[1].tls.ca: none-1.pem cannot be read: …',
      'error: none.yaml: cannot be read: …',
      'error: redis.tls.ca: none-2.pem cannot be read: …',
      'error: record.folder: cannot write to reprise.yaml/traces …',
    ])
    expect(status).toBe(1)
  }
})

test('a folder for records that cannot be made is refused by serve and check-config alike', () => {
  const file = write(`engines: [{ url: "${engine.url}" }]\nrecord: { folder: reprise.yaml/traces }`)
  for (const args of [
    ['check-config', file],
    ['serve', '--config', file],
  ]) {
    const { status, stderr } = runReprise(args)
    expect(stderr).toMatch(
      /^error: record\.folder: cannot write to .*reprise\.yaml\/traces \(.*\): name a folder .*\n$/,
    )
    expect(status).toBe(1)
  }
})

test('a file that is not there ends with 1', () => {
  const { status, stderr } = runReprise(['serve', '--config', join(folder, 'none.yaml')])
  expect(status).toBe(1)
  expect(stderr).toMatch(/^error: .*none\.yaml: cannot be read: ENOENT.*\n$/)
})

test('SIGHUP takes on what it can, names the rest, and keeps what it has when the file breaks', async () => {
  const engines = `engines: [{ url: "${engine.url}" }]\n`
  const file = write(`${engines}logs: { level: info }`)
  const { child, listening, stderr } = await reprises.start(['serve', '--config', file])
  const answer = async (): Promise<number> =>
    (await postJson(`${listening.url}/v1/chat/completions`, ragRequest('q', ['a', 'b']))).status
  expect(await answer()).toBe(200)
  write(`${engines}record: { text: true }\nlogs: { level: warn }\n`)
  child.kill('SIGHUP')
  await vi.waitFor(() => expect(stderr()).toContain('"settings":["record.text"]'), 20_000)
  await vi.waitFor(() => expect(stderr()).toContain('these settings take effect at the next start'))
  write(`${engines}logs: { level: loud }\n`)
  child.kill('SIGHUP')
  await vi.waitFor(() => expect(stderr()).toContain('configuration not reloaded: the one before stays'), 20_000)
  expect(stderr()).toContain(`logs.level: has to be one of debug, info, warn, error, silent, not 'loud'`)
  expect(await answer()).toBe(200)
  expect(child.exitCode).toBeNull()
})
