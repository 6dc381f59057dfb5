import { writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { writeTraceFolder } from '../trace-folder.fixture.ts'
import { readTrace } from './read-trace.ts'

const blocks = [
  { id: 'a', tokens: 3 },
  { id: 'b', text: 'hello world' },
]

describe('readTrace', () => {
  it('reads requests in the order of their arrival, and sizes from tokens or text', async () => {
    const folder = await writeTraceFolder({
      'blocks.jsonl.gz': blocks,
      'queries.jsonl.gz': [
        { query_id: 'late', query: 'Late?', blocks: ['a', 'b', 'a'], arrival: 2, tenant: 't' },
        { query_id: 7, blocks: [], arrival: 1 },
      ],
    })
    const { name, requests, skipped } = await readTrace(folder)
    expect(name).toBe(basename(folder))
    expect(skipped).toBe(0)
    expect(requests.map(({ queryId }) => queryId)).toEqual([7, 'late'])
    expect(requests[1]).toMatchObject({ query: 'Late?', tenant: 't', fixed: false })
    expect(requests[1]!.blocks.map(({ id, tokens }) => [id, tokens])).toEqual([
      ['a', 3],
      ['b', 2],
      ['a', 3],
    ])
  })

  it('reads a file of requests with the blocks beside it', async () => {
    const folder = await writeTraceFolder({ 'blocks.jsonl': blocks, 'mine.jsonl': [{ blocks: ['a'] }] })
    const { name, requests } = await readTrace(join(folder, 'mine.jsonl'))
    expect({ name, ids: requests.map(({ queryId }) => queryId) }).toEqual({ name: basename(folder), ids: ['line 1'] })
  })

  it('tells the text "1" from the number 1', async () => {
    const folder = await writeTraceFolder({
      'blocks.jsonl': [
        { id: 1, tokens: 10 },
        { id: '1', tokens: 20 },
      ],
      'queries.jsonl': [{ blocks: ['1', 1] }],
    })
    const [request] = (await readTrace(folder)).requests
    expect(request!.blocks.map(({ id, key, tokens }) => [id, key, tokens])).toEqual([
      ['1', '"1"', 20],
      [1, '1', 10],
    ])
  })

  it('derives ids from conversation and turn, and takes top100 where there are no blocks', async () => {
    const folder = await writeTraceFolder({
      'blocks.jsonl': blocks,
      'questions.jsonl': [
        { conversation: 'c', turn: 2, question: 'Why?', blocks: ['a'] },
        { conversation: 'c', q: 0, top100: ['b'] },
      ],
    })
    const { requests } = await readTrace(folder)
    expect(requests.map(({ queryId, query }) => [queryId, query])).toEqual([
      ['c/2', 'Why?'],
      ['c/0', undefined],
    ])
    expect(requests[1]!.blocks[0]!.id).toBe('b')
  })

  it('leaves out turns without text, and counts them', async () => {
    const folder = await writeTraceFolder({
      'blocks.jsonl': blocks,
      'turns.jsonl': [
        { conversation: 'c', turn: 1, blocks: ['none'], has_text: false },
        { conversation: 'c', turn: 2, blocks: ['a'], has_text: true },
      ],
    })
    expect(await readTrace(folder)).toMatchObject({ skipped: 1, requests: [{ queryId: 'c/2' }] })
  })

  it('counts one token for a block of unknown size where that is asked for, with a blocks file and without', async () => {
    const requests = [{ blocks: ['a', 'zz'] }]
    const sizes = async (path: string): Promise<number[]> =>
      (await readTrace(path, { unknownSizes: true })).requests[0]!.blocks.map(({ tokens }) => tokens)
    expect(await sizes(await writeTraceFolder({ 'queries.jsonl': requests }))).toEqual([1, 1])
    const known = { 'queries.jsonl': requests, 'blocks.jsonl': [{ id: 'a', tokens: 9 }, { id: 'zz' }] }
    expect(await sizes(await writeTraceFolder(known))).toEqual([9, 1])
  })

  it('reads a trace of prefix blocks: 512 tokens each, the last one what remains', async () => {
    const folder = await writeTraceFolder({
      'conversation_trace.jsonl': [{ timestamp: 0, input_length: 1030, output_length: 5, hash_ids: [0, 1, 2] }],
    })
    const [request] = (await readTrace(folder)).requests
    expect(request).toMatchObject({ fixed: true, blocks: [{ id: 0 }, { id: 1 }, { id: 2 }] })
    expect(request!.blocks.map(({ tokens }) => tokens)).toEqual([512, 512, 6])
  })

  it('reads a trace of calls: a prompt is the previous one of its session, cut, and a suffix', async () => {
    const call = (session: string, lcp_prev_chars: number, suffix: string): object => ({
      session,
      lcp_prev_chars,
      suffix,
    })
    const folder = await writeTraceFolder({
      // traces count characters as code points
      'calls.jsonl': [
        call('s', 0, '😀 one two three'),
        call('s', 5, ' four'),
        call('r', 0, '😀 one'),
        call('s', 0, 'x'),
      ],
    })
    const { requests } = await readTrace(folder)
    const ids = requests.map((request) => request.blocks.map(({ id }) => id))
    expect(requests.every(({ fixed }) => fixed)).toBe(true)
    // '😀 one' begins the first three prompts
    expect(ids[1]![0]).toBe(ids[0]![0])
    expect(ids[2]).toEqual([ids[0]![0]])
    expect(ids[3]![0]).not.toBe(ids[0]![0])
    expect(new Set(ids.flat()).size).toBe(4)
  })

  it('reads files with a byte order mark and with lines that end as on Windows', async () => {
    const folder = await writeTraceFolder({
      'blocks.jsonl': ['\uFEFF{"id":"a","tokens":3}\r'],
      'queries.jsonl': ['\uFEFF{"query_id":"q","blocks":["a"]}\r', '\r'],
    })
    const { requests } = await readTrace(folder)
    expect(requests.map(({ queryId, blocks }) => [queryId, blocks.map(({ id }) => id)])).toEqual([['q', ['a']]])
  })

  it.each([
    ['a line that is no JSON', '{"query_id":', /queries\.jsonl:2: not a line of JSON$/],
    ['a line that is no object', '[1]', /queries\.jsonl:2: a JSON object is expected$/],
    ['a request without blocks', { query_id: 'q' }, /queries\.jsonl:2: "blocks", a list of block ids, is missing$/],
    ['blocks that are no list', { blocks: 'a' }, /queries\.jsonl:2: "blocks", a list of block ids, is missing$/],
    ['an id of another type', { blocks: [null] }, /queries\.jsonl:2: block id null is neither a string nor a number$/],
    ['an id JSON cannot hold', '{"blocks":[9007199254740993]}', /queries\.jsonl:2: block id .* write it as a string$/],
    ['an unknown block', { blocks: ['a', 'zz'] }, /queries\.jsonl:2: block "zz" is not in the trace's blocks file$/],
    ['a number for a text', { blocks: [], query: 3 }, /queries\.jsonl:2: "query" is not a string$/],
    ['a wrong arrival', { blocks: [], arrival: 'x' }, /queries\.jsonl:2: "arrival" is not a number$/],
    ['an arrival JSON cannot hold', '{"blocks":[],"arrival":1e999}', /queries\.jsonl:2: "arrival" is not a number$/],
    ['a wrong id', { blocks: [], query_id: [] }, /queries\.jsonl:2: "query_id" is neither a string nor a number$/],
  ])('names file and line of %s', async (_, line, message) => {
    const folder = await writeTraceFolder({ 'blocks.jsonl': blocks, 'queries.jsonl': [{ blocks: ['a'] }, line] })
    await expect(readTrace(folder)).rejects.toMatchObject({ message: expect.stringMatching(message), exitCode: 1 })
  })

  it.each([
    ['without an id', { text: 't' }, /blocks\.jsonl:3: a block needs an "id"/],
    ['without text and tokens', { id: 'c' }, /blocks\.jsonl:3: block "c" has neither "text" nor "tokens"$/],
    ['of half a token', { id: 'c', tokens: 0.5 }, /blocks\.jsonl:3: "tokens" is not a whole number of at least 0$/],
    ['of fewer than no tokens', { id: 'c', tokens: -1 }, /blocks\.jsonl:3: "tokens" is not a whole number/],
    ['given twice and differently', { id: 'a', tokens: 4 }, /blocks\.jsonl:3: block "a" was given before/],
  ])('names file and line of a block %s', async (_, line, message) => {
    const folder = await writeTraceFolder({ 'blocks.jsonl': [...blocks, line], 'queries.jsonl': [{ blocks: ['a'] }] })
    await expect(readTrace(folder)).rejects.toMatchObject({ message: expect.stringMatching(message), exitCode: 1 })
  })

  it('names a call that keeps more of a prompt than there was, and hashes that do not fit their prompt', async () => {
    const calls = await writeTraceFolder({ 'calls.jsonl': [{ session: 's', lcp_prev_chars: 1, suffix: 'x' }] })
    await expect(readTrace(calls)).rejects.toThrow(/calls\.jsonl:1: "lcp_prev_chars" is more/)
    const prefixes = await writeTraceFolder({ 'conversation_trace.jsonl': [{ input_length: 513, hash_ids: [1] }] })
    await expect(readTrace(prefixes)).rejects.toThrow(/conversation_trace\.jsonl:1: 1 "hash_ids" do not fit/)
  })

  it('takes a path that leads nowhere, or to no trace, for wrong usage', async () => {
    const empty = await writeTraceFolder({})
    const alone = await writeTraceFolder({ 'queries.jsonl': [{ blocks: [] }] })
    await expect(readTrace(join(empty, 'none'))).rejects.toMatchObject({ exitCode: 2 })
    await expect(readTrace(empty)).rejects.toMatchObject({
      exitCode: 2,
      message: expect.stringMatching(/has no queries/),
    })
    await expect(readTrace(alone)).rejects.toMatchObject({
      exitCode: 2,
      message: expect.stringMatching(/no blocks\.jsonl/),
    })
  })

  it('says that a file is empty, or that one named .gz is none', async () => {
    const empty = await writeTraceFolder({ 'blocks.jsonl': blocks, 'queries.jsonl': ['  '] })
    await expect(readTrace(empty)).rejects.toThrow(/queries\.jsonl is empty/)
    await writeFile(join(empty, 'plain.jsonl.gz'), '{}')
    await expect(readTrace(join(empty, 'plain.jsonl.gz'))).rejects.toThrow(/plain\.jsonl\.gz is no gzip file/)
  })
})
