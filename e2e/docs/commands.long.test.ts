import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Emulator, emulatorDefaults, startEmulator } from '#emulator/emulator.ts'
import type { RunningProxy } from '#proxy/start/main.ts'
import { ragRequest, startTestProxy } from '../start-test-proxy.ts'
import { pages, root } from './pages.ts'
import { programOf, readCommands } from './read-commands.ts'
import { readSnippets } from './read-snippets.ts'

/** Programs in the docs that are tested elsewhere or are third-party, and why; a new one must be added deliberately. */
const elsewhere: Readonly<Record<string, string>> = {
  npm: 'its scripts are run by .ci/run; pages.test.ts looks that they are there',
  vllm: 'run by test:engines, with a real vLLM',
  python: 'run by test:engines, with a real SGLang',
  pip: 'run by test-wheels.sh, from wheels',
  docker: 'there is no container engine; assembled.long.test.ts runs the same steps',
  'redis-cli': 'its rights are tried by redis-rights.sockets.test.ts',
  python3: "an export from others' stores",
  psql: "an export from others' stores",
  jq: "an export from others' stores",
  mongoexport: "an export from others' stores",
  'open-webui': "another's server",
  helm: 'the install command and the test are run by test:chart',
  kubectl: 'there is no cluster; test:chart runs what pods run',
}

interface DocumentedCommand {
  readonly where: string
  readonly command: string
}

const commands: DocumentedCommand[] = pages
  .flatMap(readSnippets)
  .filter(({ language }) => language === 'sh')
  .flatMap((snippet) => readCommands(snippet).map((command) => ({ where: `${snippet.page}:${snippet.line}`, command })))
const isOurs = ({ command }: DocumentedCommand): boolean => /^(bin\/)?reprise$/.test(programOf(command))
const isCurl = ({ command }: DocumentedCommand): boolean => programOf(command) === 'curl'
/** Needs an engine that reuses at any position: e2e/preprocess-chunks.commands.test.ts runs it. */
const isElsewhere = ({ command }: DocumentedCommand): boolean => command.includes('--preprocess')
const isServer = ({ command }: DocumentedCommand): boolean => /\breprise (serve|emulate)\b/.test(command)

let folder: string
let emulators: Emulator[]
let proxy: RunningProxy

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'reprise-docs-'))
  layOut()
  const local = { ...emulatorDefaults, host: '127.0.0.1', port: 0 }
  const { sglangBlockSize: _, ...options } = local
  emulators = [await startEmulator(local), await startEmulator({ ...options, kind: 'sglang', blockSize: 1 })]
  proxy = await startTestProxy({ url: emulators[0]!.url, kind: 'vllm', id: 'gpu-0' })
})
afterAll(async () => {
  await proxy?.close()
  for (const emulator of emulators ?? []) await emulator.close()
  rmSync(folder, { recursive: true })
})

/** Creates the files that the docs refer to by name (a trace, a request, chunks), and puts `reprise` on the path. */
function layOut(): void {
  const text = 'A text that is long enough to be taken for a chunk of a corpus.'
  mkdirSync(join(folder, 'TRACE'))
  mkdirSync(join(folder, 'texts'))
  mkdirSync(join(folder, 'programs'))
  symlinkSync(join(root, 'bin'), join(folder, 'bin'))
  symlinkSync(join(root, 'bin', 'reprise'), join(folder, 'programs', 'reprise'))
  const queries = ['{"query_id":"q1","blocks":["b7","b2"]}', '{"query_id":"q2","blocks":["b2","b7"]}']
  writeFileSync(join(folder, 'TRACE', 'queries.jsonl'), `${queries.join('\n')}\n`)
  writeFileSync(join(folder, 'TRACE', 'blocks.jsonl'), '{"id":"b7","text":"First."}\n{"id":"b2","text":"Second."}\n')
  writeFileSync(join(folder, 'chunks.jsonl'), `${JSON.stringify({ id: 'a-1', text })}\n`)
  writeFileSync(join(folder, 'texts', 'a.md'), text)
  const body = ragRequest('Which?', ['one', 'two'])
  const request = { custom_id: 'q-1', method: 'POST', url: '/v1/chat/completions', body }
  writeFileSync(join(folder, 'batch.jsonl'), `${JSON.stringify(request)}\n`)
  writeFileSync(join(folder, 'request.json'), JSON.stringify(ragRequest('Which?', ['one', 'two'])))
  // stand-ins for exports from a database
  for (const name of ['some-export', 'psql']) {
    writeFileSync(join(folder, 'programs', name), `#!/bin/sh\ncat ${join(folder, 'chunks.jsonl')}\n`)
    chmodSync(join(folder, 'programs', name), 0o755)
  }
}

/** Replaces the placeholder addresses in a command with those of the servers of this test. */
function made(command: string): string {
  return command
    .replaceAll(/http:\/\/(ENGINE:30000)/g, emulators[1]!.url)
    .replaceAll(/http:\/\/(ENGINE:8000|127\.0\.0\.1:8000|gpu-0:8000)/g, emulators[0]!.url)
    .replaceAll(/http:\/\/(PROXY|127\.0\.0\.1):9090/g, proxy.adminUrl)
    .replaceAll(/http:\/\/(PROXY|127\.0\.0\.1):8080/g, proxy.url)
    .replaceAll(/tcp:\/\/ENGINE:/g, 'tcp://127.0.0.1:1')
    .replaceAll('redis://REDIS:6379', 'redis://127.0.0.1:1')
    .replaceAll(/\breprise chunks (add \S+|count)/g, `$& --admin ${proxy.adminUrl}`)
    .replaceAll(/\bcurl /g, 'curl --fail-with-body ')
}

function environment(): NodeJS.ProcessEnv {
  return { ...process.env, PATH: `${join(folder, 'programs')}:${process.env.PATH}`, DIFY_DB: '' }
}

test('every program that pages run is run here, or it is said where', () => {
  const strangers = commands.filter(
    (one) => !isOurs(one) && !isCurl(one) && !Object.hasOwn(elsewhere, programOf(one.command)),
  )
  expect(strangers).toEqual([])
  expect(commands.filter(isOurs).length).toBeGreaterThan(18)
})

test.each(commands.filter((one) => isOurs(one) && isServer(one)))('$where: $command', async ({ command }) => {
  const free = `--listen 127.0.0.1:0${command.includes('serve') ? ' --admin-listen 127.0.0.1:0' : ''}`
  const child = spawn('bash', ['-c', `exec ${made(command)} ${free}`], { cwd: folder, env: environment() })
  let stderr = ''
  child.stderr.on('data', (chunk) => {
    stderr += chunk
  })
  const ended = once(child, 'exit').then(() => `it ended: ${stderr}`)
  const line = once(createInterface(child.stdout), 'line').then(([text]) => text as string)
  const first = await Promise.race([line, ended])
  child.kill('SIGTERM')
  await ended
  expect(first).toContain('"listening"')
})

const others = commands.filter((one) => isOurs(one) && !isServer(one) && !isElsewhere(one))
test.each(others)('$where: $command', async ({ command }) => {
  const run = promisify(execFile)('bash', ['-c', made(command)], { cwd: folder, env: environment() })
  const done = await run.then(
    ({ stdout, stderr }) => ({ code: 0, stdout, stderr }),
    (error: { code: number; stdout: string; stderr: string }) => error,
  )
  // doctor exits with 1 if something is fatal: there is no Redis here, and the emulator publishes no events
  const isDoctor = command.includes('reprise doctor')
  expect({ code: done.code, stderr: done.stderr }).toMatchObject({ code: isDoctor ? expect.toBeOneOf([0, 1]) : 0 })
  if (isDoctor) expect(done.stdout).toContain('cached tokens')
})

test.each(commands.filter(isCurl))('$where: $command', async ({ command }) => {
  const script = made(command)
  const { stdout } = await promisify(execFile)('bash', ['-c', script], { cwd: folder, env: environment() })
  expect(stdout).not.toBe('')
})

test('the README’s second answer has the headers that it promises', async () => {
  const fresh = await startTestProxy({ url: emulators[0]!.url, kind: 'vllm', id: 'gpu-0' })
  const asked = commands.filter(({ where, command }) => where.startsWith('README.md') && command.startsWith('curl'))
  const answers: string[] = []
  for (const { command } of asked) {
    const script = command.replaceAll('http://127.0.0.1:8080', fresh.url)
    answers.push((await promisify(execFile)('bash', ['-c', script])).stdout)
  }
  await fresh.close()
  const promised = /headers say what was done: `([^`]+)`, `([^`]+)`/.exec(
    readFileSync(join(root, 'README.md'), 'utf8'),
  )!
  for (const header of promised.slice(1)) expect(answers[1]).toContain(header)
})
