import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { beforeAll, expect, test } from 'vitest'
import { writeTraceFolder } from './trace-folder.fixture.ts'

const reprise = join(import.meta.dirname, '..', '..', 'bin', 'reprise')
const ids = ['a', 'b', 1, '1']
let folder: string

beforeAll(async () => {
  folder = await writeTraceFolder({
    'blocks.jsonl.gz': ids.map((id) => ({ id, tokens: 100 })),
    'queries.jsonl.gz': [
      { query_id: 'q0', blocks: ['a', 'b', 1] },
      { query_id: 'q1', blocks: ['b', '1', 'a'] },
    ],
    'bad.jsonl': [{ blocks: ['a'] }, 'nonsense'],
  })
})

function run(...args: string[]): { status: number | null; stdout: string; stderr: string } {
  return spawnSync(process.execPath, [reprise, ...args], { encoding: 'utf8' })
}

test('replay prints a table and the bound for people', () => {
  const { status, stdout, stderr } = run('replay', folder)
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
  expect(stdout).toContain(`${basename(folder)}: 2 requests, online, unlimited cache`)
  for (const policy of ['rank', 'sorted', 'paper', 'reprise']) expect(stdout).toMatch(new RegExp(`│ ${policy} +│`))
  expect(stdout).toMatch(/bound: 37\.7 % of the prompt tokens/)
})

test('replay --json prints one object for programs, and takes every option', async () => {
  const orders = join(folder, 'orders.jsonl')
  const plot = join(folder, 'plot.svg')
  const cache = ['--capacity-tokens', '400', '--page-tokens', '1']
  const prompt = ['--system-tokens', '10', '--question-tokens', '0', '--limit', '2']
  const files = ['--orders', orders, '--plot', plot]
  const { status, stdout } = run('replay', folder, '--policy', 'rank,bound', '--json', ...cache, ...prompt, ...files)
  expect(status).toBe(0)
  expect(JSON.parse(stdout)).toMatchObject({
    requests: 2,
    capacity_tokens: 400,
    policies: [
      { policy: 'rank', prompt_tokens: 620, cached_tokens: 10 },
      { policy: 'bound', cached_tokens: 210 },
    ],
  })
  expect((await readFile(orders, 'utf8')).split('\n')[1]).toBe(
    '{"policy":"rank","query_id":"q1","blocks":["b","1","a"]}',
  )
  expect(await readFile(plot, 'utf8')).toMatch(/^<svg /)
})

test('plan prints its lines, or writes them to a file', async () => {
  const printed = run('plan', folder)
  expect(printed.status).toBe(0)
  const lines = printed.stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
  expect(lines.map(({ query_id }) => query_id).sort()).toEqual(['q0', 'q1'])
  expect(lines[0]).toMatchObject({ group: 0, rank: expect.any(Array), search_path: expect.any(Array) })
  const out = join(folder, 'plan.jsonl')
  expect(run('plan', folder, '--out', out)).toMatchObject({ status: 0, stdout: '' })
  expect(await readFile(out, 'utf8')).toBe(printed.stdout)
})

test('plan leaves the file of an earlier plan alone when its input is bad', async () => {
  const out = join(folder, 'kept.jsonl')
  await writeFile(out, 'earlier\n')
  expect(run('plan', join(folder, 'bad.jsonl'), '--out', out).status).toBe(1)
  expect(await readFile(out, 'utf8')).toBe('earlier\n')
})

test('plan ends quietly when nobody reads on', async () => {
  const many = Array.from({ length: 20_000 }, (_, i) => ({ query_id: 'x'.repeat(50) + i, blocks: [] }))
  const file = join(await writeTraceFolder({ 'many.jsonl': many }), 'many.jsonl')
  const child = spawn(process.execPath, [reprise, 'plan', file], { stdio: ['ignore', 'pipe', 'pipe'] })
  let stderr = ''
  child.stderr.on('data', (chunk) => {
    stderr += chunk
  })
  await once(child.stdout, 'data')
  child.stdout.destroy()
  const [code] = await once(child, 'exit')
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
})

test.each([
  [['replay'], 2, /missing required argument/],
  [['replay', 'FOLDER/none'], 2, /none does not exist/],
  [['replay', 'FOLDER', '--policy', 'rank,best'], 2, /'best' is no policy: choose of rank, sorted/],
  [['replay', 'FOLDER', '--mode', 'both'], 2, /Allowed choices are online, offline/],
  [['replay', 'FOLDER', '--capacity-tokens', '0'], 2, /whole number of at least 1/],
  [['replay', 'FOLDER', '--page-tokens', '1.5'], 2, /whole number of at least 1/],
  [['replay', 'FOLDER', '--limit', ''], 2, /whole number of at least 1/],
  [
    ['replay', 'FOLDER', '--policy', 'rank,best'],
    2,
    /'best' is no policy: choose of rank, sorted, paper, reprise, bound/,
  ],
  [['replay', 'FOLDER', '--orders', 'FOLDER/none/orders.jsonl'], 2, /no folder .*none that can be written to/],
  [['replay', 'FOLDER/bad.jsonl/none'], 2, /none does not exist/],
  [['replay', 'FOLDER', '--orders', 'FOLDER/bad.jsonl/none'], 2, /no folder .*bad\.jsonl that can be written to/],
  [['replay', 'FOLDER/bad.jsonl'], 1, /bad\.jsonl:2: not a line of JSON/],
  [['plan'], 2, /missing required argument/],
  [['plan', 'FOLDER/none'], 2, /none does not exist/],
  [['plan', 'FOLDER', '--out', 'FOLDER'], 2, /it is a folder; name a file in it/],
  [['plan', 'FOLDER/bad.jsonl'], 1, /bad\.jsonl:2: not a line of JSON/],
])('%j ends with %i and one line that says what is wrong', (args, code, message) => {
  const { status, stdout, stderr } = run(...args.map((arg) => arg.replace('FOLDER', folder)))
  expect({ status, stdout }).toEqual({ status: code, stdout: '' })
  expect(stderr).toMatch(message)
  expect(stderr.trim().split('\n')).toHaveLength(1)
  expect(existsSync(join(folder, 'none'))).toBe(false)
})

test('an output never takes the place of the trace, nor of another output', async () => {
  const trace = await writeTraceFolder({
    'blocks.jsonl': ids.map((id) => ({ id, tokens: 100 })),
    'queries.jsonl': [{ query_id: 'q0', blocks: ['a', 'b'] }],
  })
  const [queries, blocks] = [join(trace, 'queries.jsonl'), join(trace, 'blocks.jsonl')]
  const before = [await readFile(queries, 'utf8'), await readFile(blocks, 'utf8')]
  for (const args of [
    ['plan', trace, '--out', queries],
    ['plan', queries, '--out', blocks],
    ['replay', trace, '--orders', blocks],
    ['replay', trace, '--orders', join(trace, 'x'), '--plot', join(trace, 'x')],
    ['plan', trace, '--out', ''],
  ]) {
    const { status, stderr } = run(...args)
    expect({ args, status }).toEqual({ args, status: 2 })
    expect(stderr).toMatch(/^error: cannot write .*\n$/)
  }
  expect([await readFile(queries, 'utf8'), await readFile(blocks, 'utf8')]).toEqual(before)
})
