import { readFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { plan, replay } from './replay.ts'
import { type ReplayOptions, replayDefaults } from './replay-options.ts'
import { writeTraceFolder } from './trace-folder.fixture.ts'

const options: ReplayOptions = {
  ...replayDefaults,
  policy: ['rank', 'sorted', 'paper', 'reprise', 'bound'],
}
const files = {
  'blocks.jsonl': [1, 'b', '1', 'd'].map((id) => ({ id, tokens: 100 })),
  'queries.jsonl': [
    { query_id: 'q0', blocks: [1, 'b', '1'] },
    { query_id: 'q1', blocks: ['b', 1, 'd'] },
    { query_id: 'q1', blocks: ['d', '1'] },
    { query_id: 'q3', blocks: ['1', 'd', 'd'] },
    { query_id: 'q4', blocks: [] },
  ],
}
const ignore = (): void => undefined

async function linesOf(file: string): Promise<{ policy: string; query_id: string; blocks: unknown[] }[]> {
  return (await readFile(file, 'utf8'))
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
}

describe('replay', () => {
  it('reports what the contract says, no more and no less', async () => {
    const folder = await writeTraceFolder(files)
    const report = await replay(folder, { ...options, capacityTokens: 5000 }, ignore)
    const promptTokens = 5 * 230 + 11 * 100
    expect(report).toEqual({
      trace: basename(folder),
      requests: 5,
      mode: 'online',
      capacity_tokens: 5000,
      bound: (4 * 200 + 2 * 100 + 2 * 100 + 3 * 100) / promptTokens,
      policies: options.policy.map((policy) => ({
        policy,
        hit_ratio: expect.any(Number),
        cached_tokens: expect.any(Number),
        prompt_tokens: promptTokens,
        p50_us: expect.any(Number),
        p99_us: expect.any(Number),
        seconds: expect.any(Number),
      })),
    })
    // the 12 whole pages of the system prompt, four times
    expect(report.policies[0]).toMatchObject({ cached_tokens: 4 * 192, hit_ratio: (4 * 192) / promptTokens })
    expect(report.policies.at(-1)!.hit_ratio).toBe(report.bound)
    for (const { hit_ratio, cached_tokens } of report.policies) expect(hit_ratio).toBe(cached_tokens / promptTokens)
  })

  it('says null for an unlimited cache', async () => {
    expect((await replay(await writeTraceFolder(files), options, ignore)).capacity_tokens).toBeNull()
  })

  it('writes orders that are permutations, in execution order, with the ids as they were', async () => {
    const folder = await writeTraceFolder(files)
    const orders = join(folder, 'orders.jsonl')
    await replay(folder, { ...options, orders }, ignore)
    const lines = await linesOf(orders)
    expect(lines.map(({ policy }) => policy)).toEqual(
      ['rank', 'sorted', 'paper', 'reprise'].flatMap((p) => Array(5).fill(p)),
    )
    lines.forEach(({ query_id, blocks }, at) => {
      const request = files['queries.jsonl'][at % 5]!
      expect(query_id).toBe(request.query_id)
      expect(blocks.map((id) => JSON.stringify(id)).sort()).toEqual(
        request.blocks.map((id) => JSON.stringify(id)).sort(),
      )
    })
    expect(lines.slice(0, 5).map(({ blocks }) => blocks)).toEqual(files['queries.jsonl'].map(({ blocks }) => blocks))
  })

  it('orders the first requests as it does without the others', async () => {
    const folder = await writeTraceFolder(files)
    const ordersOf = async (limit?: number): Promise<Awaited<ReturnType<typeof linesOf>>> => {
      const orders = join(folder, `orders-${limit}.jsonl`)
      await replay(folder, { ...options, capacityTokens: 700, orders, ...(limit ? { limit } : {}) }, ignore)
      return linesOf(orders)
    }
    const all = await ordersOf()
    const first = await ordersOf(3)
    for (const policy of ['rank', 'sorted', 'paper', 'reprise']) {
      const of = (lines: typeof all): typeof all => lines.filter((line) => line.policy === policy)
      expect(of(first)).toEqual(of(all).slice(0, 3))
    }
  })

  it('tells of prompts that do not fit, and of requests without text', async () => {
    const notes: string[] = []
    const queries = [...files['queries.jsonl'], { blocks: ['?'], has_text: false }]
    const folder = await writeTraceFolder({ ...files, 'queries.jsonl': queries })
    await replay(folder, { ...options, policy: ['rank', 'paper'], capacityTokens: 500 }, (note) => notes.push(note))
    expect(notes).toEqual([
      expect.stringMatching(/^1 requests are left out/),
      '3 prompts are larger than the cache: only their fronts stay cached',
    ])
  })

  it('draws every policy and the bound against cache size', async () => {
    const folder = await writeTraceFolder(files)
    const plot = join(folder, 'plot.svg')
    await replay(folder, { ...options, plot }, ignore)
    const svg = await readFile(plot, 'utf8')
    for (const name of options.policy) expect(svg).toContain(`>${name}</text>`)
    expect(svg).toContain(`>${basename(folder)}, online</text>`)
    expect(svg).toContain('>unlimited</text>')
    expect(svg).not.toMatch(/NaN|undefined|Infinity/)
  })

  it('refuses more token ids than an engine has', async () => {
    const folder = await writeTraceFolder({
      'blocks.jsonl': [{ id: 'a', tokens: 2 ** 32 }],
      'queries.jsonl': [{ blocks: ['a'] }],
    })
    await expect(replay(folder, options, ignore)).rejects.toMatchObject({ exitCode: 1 })
  })

  it('names a prompt that no engine would take, before it lays it out', async () => {
    const folder = await writeTraceFolder({
      'blocks.jsonl': [{ id: 'a', tokens: 1e9 }],
      'queries.jsonl': [{ query_id: 'long', blocks: ['a'] }],
    })
    await expect(replay(folder, options, ignore)).rejects.toThrow(/request "long" has 1000000230 tokens/)
  })
})

describe('plan', () => {
  it('is one line for each request, with its order, its ranking, its group and its place', async () => {
    const folder = await writeTraceFolder({ 'queries.jsonl': files['queries.jsonl'] })
    const lines = (await plan(join(folder, 'queries.jsonl'), ignore)).map((line) => JSON.parse(line))
    expect(lines.map(({ query_id }) => query_id).sort()).toEqual(['q0', 'q1', 'q1', 'q3', 'q4'])
    for (const line of lines) {
      expect(Object.keys(line)).toEqual(['query_id', 'blocks', 'rank', 'group', 'search_path'])
      const names = (ids: unknown[]): string[] => ids.map((id) => JSON.stringify(id)).sort()
      expect(names(line.blocks)).toEqual(names(line.rank))
    }
    const groups = lines.map(({ group }) => group)
    expect(groups).toEqual(groups.toSorted((a, b) => a - b))
    expect(new Set(groups)).toEqual(new Set(groups.map((_, i) => i).slice(0, new Set(groups).size)))
  })
})
