import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { Assembled } from './assembled.fixture.ts'

const listen = ['--listen', '127.0.0.1:0']
let assembled: Assembled
let engine: Record<string, string>
let given: string

beforeAll(async () => {
  assembled = new Assembled()
  given = mkdtempSync(join(tmpdir(), 'reprise-given-'))
  chmodSync(given, 0o755)
  engine = await assembled.start('emulate', ...listen)
}, 180_000)
afterAll(() => {
  assembled?.remove()
  if (given !== undefined) rmSync(given, { recursive: true })
})

function filesBelow(folder: string): string[] {
  return readdirSync(join(assembled.folder, folder), { recursive: true, encoding: 'utf8' })
}

/** Starts a proxy with a template. */
async function startProxy(): Promise<{ url: string; admin_url: string }> {
  const config = { templates: [{ name: 'sections', block: '§§§ {block}\n', after: '\nQuestion:' }] }
  writeFileSync(join(given, 'config.json'), JSON.stringify(config), { mode: 0o644 })
  const admin = ['--admin-listen', '127.0.0.1:0']
  const engines = ['--engine', `${engine.url},kind=vllm,id=gpu-0`]
  const started = await assembled.start(
    'serve',
    ...listen,
    ...admin,
    ...engines,
    '--config',
    join(given, 'config.json'),
  )
  return started as { url: string; admin_url: string }
}

test('it holds no sources, no tests and no compiler, and is as small as that', () => {
  const compiled = filesBelow('dist')
  expect(compiled.filter((name) => /\.ts$|\.test\.|\.fixture\.|double|\.py$/.test(name))).toEqual([])
  expect(compiled).toContain('tools/cli.js.map')
  expect(filesBelow('').filter((name) => /^(e2e|kernels|lab|proxy|packaging)\b/.test(name))).toEqual([])
  for (const name of ['tsx', 'esbuild', 'typescript', 'vitest', '@biomejs']) {
    expect({ name, there: existsSync(join(assembled.folder, 'node_modules', name)) }).toEqual({ name, there: false })
  }
})

test('a user who owns nothing and may write nowhere runs it: requests, templates, dashboard, metrics', async () => {
  const { url, admin_url: admin } = await startProxy()
  const body = {
    model: 'm',
    messages: [
      { role: 'user', content: '§§§ The first section.\n§§§ The second section, which is longer.\n\nQuestion: which?' },
    ],
  }
  const post = { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }
  const answer = await fetch(`${url}/v1/chat/completions`, post)
  expect(answer.status).toBe(200)
  expect(answer.headers.get('x-reprise-blocks')).toBe('2')
  const page = await (await fetch(admin)).text()
  expect(page).toContain('<title>')
  expect((await fetch(`${admin}/metrics`)).status).toBe(200)
  expect((await fetch(`${admin}/readyz`)).status).toBe(200)
  expect(await (await fetch(`${admin}/v1/openapi.json`)).json()).toMatchObject({ openapi: '3.1.0' })
})

test('doctor, replay with a plot, and the schema run from it as well', () => {
  const trace = join(given, 'trace')
  writeTrace(trace)
  const replayed = assembled.run('replay', trace, '--policy', 'rank,reprise', '--json')
  expect(replayed).toMatchObject({ status: 0, stderr: '' })
  const { policies } = JSON.parse(replayed.stdout) as { policies: { policy: string }[] }
  expect(policies.map(({ policy }) => policy)).toEqual(['rank', 'reprise'])
  expect(assembled.run('doctor', '--engine', `${engine.url},kind=vllm`).stdout).toContain('prefix')
  const schema = readFileSync(join(assembled.folder, 'docs', 'config.schema.json'), 'utf8')
  expect(JSON.parse(assembled.run('config-schema').stdout)).toEqual(JSON.parse(schema))
})

function writeTrace(folder: string): void {
  const queries = ['["a","b","c"]', '["b","a","d"]'].map((blocks, i) => `{"query_id":"q${i}","blocks":${blocks}}\n`)
  const blocks = ['a', 'b', 'c', 'd'].map((id) => `{"id":"${id}","text":"text of ${id}"}\n`)
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder)
  writeFileSync(join(folder, 'queries.jsonl'), queries.join(''))
  writeFileSync(join(folder, 'blocks.jsonl'), blocks.join(''))
}

test('the proxy ends with 0 when it is told to', async () => {
  expect(await assembled.terminate()).toBe(0)
})
