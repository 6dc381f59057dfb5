import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { closeSync, existsSync, mkdtempSync, openSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as delay } from 'node:timers/promises'
import { afterEach, expect, onTestFinished, test, vi } from 'vitest'
import { emulatorWarning } from '#proxy/config/start-warnings.ts'
import { ownEnvironment } from './own-environment.ts'
import { startRecordingEngineDouble } from './recording-engine-double.ts'
import { logLines, Reprises, type RunningReprise, runReprise } from './run-reprise.ts'
import { postJson, ragRequest } from './start-test-proxy.ts'

const free = ['--listen', '127.0.0.1:0']
const reprises = new Reprises()
afterEach(() => reprises.stopAll())

function start(...args: string[]): Promise<RunningReprise> {
  return reprises.start(args)
}

test.each([[{}], [{ REPRISE_ENGINE: 'http://gpu-0:8000' }]])('serve without an engine is wrong usage: %j', (env) => {
  const { status, stdout, stderr } = runReprise(['serve', ...free, '--admin-listen', '127.0.0.1:0'], { env })
  expect({ status, stdout }).toEqual({ status: 2, stdout: '' })
  expect(stderr).toMatch(/^error: .*(--engine http:\/\/HOST:PORT.*--emulate|did you mean REPRISE_ENGINES\?).*\n$/)
})

test('serve --emulate says that it uses the emulator, and answers', async () => {
  const proxy = await start('serve', '--emulate', ...free, '--admin-listen', '127.0.0.1:0')
  const { listening } = proxy
  expect(listening).toEqual({
    event: 'listening',
    url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/),
    admin_url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/),
  })
  await vi.waitFor(() => expect(logLines(proxy, emulatorWarning)).toHaveLength(1))
  const response = await postJson(`${listening.url}/v1/chat/completions`, ragRequest('q', ['a', 'b']))
  expect(await response.json()).toMatchObject({ usage: { prompt_tokens_details: { cached_tokens: 0 } } })
  expect((await fetch(`${listening.admin_url}/readyz`)).status).toBe(200)
})

test('serve lets a stream end after SIGTERM, refuses new requests meanwhile, and exits with 0', async () => {
  const engine = await startRecordingEngineDouble()
  let finish = (): void => {}
  engine.answer((response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.write('data: 1\n\n')
    finish = () => response.end('data: 2\n\n')
  })
  const { child, listening } = await start('serve', ...free, '--admin-listen', '127.0.0.1:0', '--engine', engine.url)
  const response = await postJson(`${listening.url}/v1/chat/completions`, ragRequest('q', ['a']))
  child.kill('SIGTERM')
  while ((await fetch(`${listening.admin_url}/readyz`)).status !== 503) await delay(5)
  const refused = await postJson(`${listening.url}/v1/chat/completions`, ragRequest('q', ['a']))
  expect(refused.status).toBe(503)
  expect(refused.headers.get('connection')).toBe('close')
  expect(await refused.json()).toMatchObject({ error: { code: 'draining' } })
  finish()
  expect(await response.text()).toBe('data: 1\n\ndata: 2\n\n')
  const [code] = await once(child, 'exit')
  expect(code).toBe(0)
  await engine.close()
})

// the signal is delivered within the call: what handles it has to be there before the line is written
const endsItselfOnceItListens = `
  const { write } = process.stdout
  process.stdout.write = function (...line) {
    const isOut = write.apply(this, line)
    process.kill(process.pid, 'SIGTERM')
    return isOut
  }`

test.each([[['serve', '--emulate', '--admin-listen', '127.0.0.1:0']], [['emulate']]])(
  'who reads that it listens may end it at once: %j',
  (command) => {
    const preloaded = `--import=data:text/javascript,${encodeURIComponent(endsItselfOnceItListens)}`
    const { status, stdout } = runReprise([...command, ...free], { env: { NODE_OPTIONS: preloaded } })
    expect(stdout).toMatch(/^\{"event":"listening",.*\}\n$/)
    expect(status).toBe(0)
  },
)

test('emulate serves alone', async () => {
  const { listening } = await start('emulate', ...free, '--kind', 'sglang', '--capacity-tokens', 'unlimited')
  const response = await postJson(`${listening.url}/v1/chat/completions`, ragRequest('q', ['a', 'b']))
  expect(await response.json()).toMatchObject({ usage: { prompt_tokens: expect.any(Number) } })
})

test.each([
  [['serve', '--engine', 'ftp://x'], /is not the URL of an engine/],
  [['serve', '--engine', 'http://x,kind=tgi'], /'kind=tgi' is not a setting/],
  [['serve', '--engine', 'http://x,id=a', '--engine', 'http://y,id=a'], /another engine is called 'a' too/],
  [['serve', '--engine', 'http://x,replay=tcp://x:5558'], /replay/],
  [['serve', '--engine', 'http://x,events=x:5557'], /is not a setting/],
  [['serve', '--engine', 'http://x,kind=vllm,events=tcp://*:5557'], /engines\[0\]\.events: .* tcp:\/\/x:5557/],
  [['serve', '--engine', 'http://x,kind=vllm,events=tcp://x:99999'], /engines\[0\]\.events: 99999 is not a port/],
  [['serve', '--engine', 'http://x,events=tcp://x:5557'], /engines\[0\]\.events: .*kind=vllm/],
  [['doctor', '--engine', 'http://x,kind=vllm,events=tcp://*:5557'], /events: '\*' is where the engine listens/],
  [['doctor', '--engine', 'http://x,kind=vllm,replay=tcp://x:5558'], /replay: needs `events` beside it/],
  [['serve', '--redis', 'http://:secret@x'], /^(?!.*secret).*not the URL of a Redis/],
  [['serve', '--listen', '127.0.0.1:9', '--admin-listen', '127.0.0.1:9'], /admin\.listen: .* an address of its own/],
  [['serve', '--emulate', '--engine', 'http://x'], /leave out either/],
  [['serve', '--listen', '8080'], /write HOST:PORT/],
  [['serve', '--mode', 'maybe'], /Allowed choices are auto, ask, on, shadow, off/],
  [['serve', '--nonsense'], /unknown option '--nonsense': see 'reprise serve --help'/],
  [['serve', '--engine'], /argument missing: see 'reprise serve --help'/],
  [['plan'], /missing required argument 'contexts': see 'reprise plan --help'/],
  [['help', 'serv'], /unknown command 'serv' \(Did you mean serve\?\)/],
  [['serv', '--help'], /unknown command 'serv' \(Did you mean serve\?\)/],
  [['serve', '--liste', '127.0.0.1:0'], /unknown option '--liste' \(Did you mean --listen\?\)/],
  [['serv'], /unknown command 'serv' \(Did you mean serve\?\)/],
  [['emulate', '--block-size', '0'], /whole number/],
  [['emulate', '--callback', 'notaurl'], /is not a URL/],
  [['nonsense'], /unknown command 'nonsense': see 'reprise --help'/],
  [['templates', 'of'], /'of' is none of list, show, on, off, forget/],
])('wrong usage ends with 2 and one line that says what to write: %j', (args, message) => {
  const { status, stderr } = runReprise(args)
  expect(status).toBe(2)
  expect(stderr.trim()).toMatch(message)
  expect(stderr.trim().split('\n')).toHaveLength(1)
})

test.each([[['serve', '--emulate', '--admin-listen', '127.0.0.1:0']], [['emulate']]])(
  'an address that is taken ends with 1 and one line: %j',
  async (command) => {
    const { listening } = await start('emulate', ...free)
    const { host } = new URL(listening.url!)
    const { status, stderr } = runReprise([...command, '--listen', host])
    expect(status).toBe(1)
    expect(stderr.trim().split('\n').at(-1)).toMatch(
      /^error: Cannot listen on 127\.0\.0\.1:\d+: .+: choose another address\.$/,
    )
    expect(stderr).not.toContain('    at ')
  },
)

test('npm start passes the signal on that ends it', async () => {
  const npm = spawn('npm', ['start', '--silent', '--', ...free, '--admin-listen', '127.0.0.1:0'], {
    cwd: join(import.meta.dirname, '..'),
    stdio: ['ignore', 'pipe', 'ignore'],
    env: ownEnvironment,
  })
  const [line] = (await once(createInterface(npm.stdout), 'line')) as [string]
  const { url } = JSON.parse(line) as { url: string }
  npm.kill()
  await vi.waitFor(() => expect(fetch(url)).rejects.toThrow())
})

test('a key is read from the standard input, and only its hash is printed', () => {
  const { status, stdout } = runReprise(['hash-key', '--tenant', 'acme'], { input: 'sk-secret\n' })
  expect(status).toBe(0)
  expect(stdout).toBe(`- { tenant: "acme", sha256: "${createHash('sha256').update('sk-secret').digest('hex')}" }\n`)
  // headers are read as Latin-1: a key beyond ASCII would match none
  for (const input of ['', ' \n', 'two keys\n', 'schlüssel\n']) {
    const refused = runReprise(['hash-key'], { input })
    expect(refused).toMatchObject({ status: 1, stdout: '', stderr: expect.stringMatching(/^error: .*\n$/) })
  }
  // the keys file refuses it
  const unnamed = runReprise(['hash-key', '--tenant', ''], { input: 'sk-secret\n' })
  expect(unnamed).toMatchObject({ status: 2, stdout: '', stderr: expect.stringMatching(/^error: .*--tenant.*\n$/) })
})

test
  .runIf(existsSync('/dev/full'))
  .each([
    [['--help']],
    [['config-schema']],
    [['hash-key']],
    [['emulate', ...free]],
    [['doctor', '--prompt', join(import.meta.dirname, 'fixtures', 'haystack-plain.json')]],
  ])('an output that cannot be written ends with 1 and one line: %j', (args) => {
  const full = openSync('/dev/full', 'w')
  const { status, stderr } = runReprise(args, { input: 'sk-secret\n', stdout: full })
  closeSync(full)
  expect({ status, stderr }).toEqual({
    status: 1,
    stderr: expect.stringMatching(/^error: cannot write to the standard output: ENOSPC.*\n$/),
  })
})

test
  .runIf(existsSync('/proc/self/mem'))
  .each([
    [['chunks', 'add', '/proc/self/mem']],
    [['batch', '/proc/self/mem', '--engine', 'http://127.0.0.1:9', '--out', join(tmpdir(), 'unwritten.jsonl')]],
  ])('a file that fails while it is read ends with 1 and one line: %j', (args) => {
  const { status, stderr } = runReprise(args)
  expect(status).toBe(1)
  expect(stderr).toMatch(/(^|\n)error: \/proc\/self\/mem cannot be read: EIO: [^\n]*\n$/)
  expect(stderr).not.toContain('    at ')
})

test.runIf(existsSync('/dev/full'))('chunks are not read from a device, which may have no end', () => {
  const { status, stderr } = runReprise(['chunks', 'add', '/dev/full'])
  expect({ status, stderr }).toEqual({
    status: 2,
    stderr: expect.stringMatching(/^error: \/dev\/full cannot [^\n]+\n$/),
  })
})

test('chunks that cannot be unpacked, or read while they are, end with 1 and one line', () => {
  const folder = mkdtempSync(join(tmpdir(), 'reprise-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const [damaged, failing] = [join(folder, 'damaged.jsonl.gz'), join(folder, 'failing.jsonl.gz')]
  writeFileSync(damaged, 'not packed')
  symlinkSync('/proc/self/mem', failing)
  for (const file of existsSync('/proc/self/mem') ? [damaged, failing] : [damaged]) {
    const { status, stderr } = runReprise(['chunks', 'add', file])
    expect({ status, stderr }).toEqual({ status: 1, stderr: expect.stringMatching(/^error: [^\n]+\n$/) })
    expect(stderr).toContain(`${file} cannot be read: `)
  }
})

test('the schema of the configuration is printed as it is published', () => {
  const published = readFileSync(join(import.meta.dirname, '..', 'docs', 'config.schema.json'), 'utf8')
  expect(JSON.parse(runReprise(['config-schema']).stdout)).toEqual(JSON.parse(published))
})
