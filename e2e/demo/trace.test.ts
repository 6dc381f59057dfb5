import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { readTrace } from './trace.ts'

const BLOCKS = [
  { id: 'a', text: 'about a' },
  { id: 'b', text: 'about b' },
]

describe('readTrace', () => {
  let folder: string

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'reprise-trace-'))
  })

  afterEach(() => rm(folder, { recursive: true }))

  const write = async (name: string, lines: readonly unknown[]): Promise<void> => {
    const text = lines.map((line) => (typeof line === 'string' ? line : JSON.stringify(line))).join('\n')
    await writeFile(join(folder, name), name.endsWith('.gz') ? gzipSync(text) : text)
  }

  it('reads requests in the order of their arrival, with the texts of their blocks', async () => {
    await write('blocks.jsonl', BLOCKS)
    await write('queries.jsonl', [
      { query_id: 'q1', query: 'One?', blocks: ['b', 'a'], arrival: 2, tenant: 't' },
      { query_id: 'q2', query: 'Two?', blocks: ['a'], arrival: 1, conversation: 'c' },
    ])
    const { turns } = await readTrace(folder)
    expect(turns).toEqual([
      { id: 'q2', conversation: 'c', tenant: undefined, question: 'Two?', blocks: [BLOCKS[0]] },
      { id: 'q1', conversation: undefined, tenant: 't', question: 'One?', blocks: [BLOCKS[1], BLOCKS[0]] },
    ])
  })

  it('reads gzip, takes `question` for `query` and keeps the order of a file without arrivals', async () => {
    await write('blocks.jsonl.gz', BLOCKS)
    await write('turns.jsonl.gz', [
      { conversation: 'c', question: 'One?', blocks: ['a'] },
      { conversation: 'c', question: 'Two?', blocks: [] },
    ])
    const { turns } = await readTrace(folder)
    expect(turns.map((turn) => turn.question)).toEqual(['One?', 'Two?'])
  })

  it('says that a folder does not exist, as wrong usage', async () => {
    await expect(readTrace(join(folder, 'none'))).rejects.toMatchObject({
      message: `the trace ${join(folder, 'none')} does not exist`,
      exitCode: 2,
    })
  })

  it('says which file a folder lacks', async () => {
    await write('blocks.jsonl', BLOCKS)
    await expect(readTrace(folder)).rejects.toThrow(/has no queries\.jsonl or turns\.jsonl or questions\.jsonl/)
  })

  it.each([
    ['a line that is no JSON', '{"query_id":', /queries\.jsonl:2: not a line of JSON/],
    ['a line that is no object', '[1]', /queries\.jsonl:2: a JSON object is expected/],
    ['a request without blocks', { query_id: 'q' }, /queries\.jsonl:2: "blocks", a list of block ids, is missing/],
    ['an unknown block', { blocks: ['zz'] }, /queries\.jsonl:2: block "zz" is not in the trace's blocks file/],
    ['a wrong type', { blocks: [], query: 3 }, /queries\.jsonl:2: "query" is not a string/],
    ['a wrong arrival', { blocks: [], arrival: 'x' }, /queries\.jsonl:2: "arrival" is not a number/],
  ])('names file and line of %s', async (_, line, message) => {
    await write('blocks.jsonl', BLOCKS)
    await write('queries.jsonl', [{ query_id: 'q0', query: 'Q', blocks: ['a'] }, line])
    await expect(readTrace(folder)).rejects.toThrow(message)
  })

  it('refuses requests for blocks that have a token count instead of a text', async () => {
    await write('blocks.jsonl', [BLOCKS[0], { id: 'n', tokens: 12 }])
    await write('queries.jsonl', [{ query_id: 'q0', query: 'Q', blocks: ['a', 'n'] }])
    await expect(readTrace(folder)).rejects.toThrow(/block "n" of the trace has no "text", and the demo sends texts/)
  })

  it('says that a file named .gz is none', async () => {
    await writeFile(join(folder, 'blocks.jsonl.gz'), 'plain')
    await write('queries.jsonl', [{ blocks: [] }])
    await expect(readTrace(folder)).rejects.toThrow(/blocks\.jsonl\.gz is no gzip file/)
  })
})
