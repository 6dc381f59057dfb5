import { writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { describe, expect, it, vi } from 'vitest'
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
    expect(requests[1]).toMatchObject({ query: 'Late?', tenant: 't' })
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

  it('passes on where a request went, whether its blocks might be moved, and what exactly was sent', async () => {
    const request = { path: '/v1/chat/completions', body: { messages: [] } }
    const folder = await writeTraceFolder({
      'blocks.jsonl': blocks,
      'queries.jsonl': [{ blocks: ['a'], route: '/v1/messages', reorder: false, request }, { blocks: [] }],
    })
    const { requests } = await readTrace(folder)
    expect(requests.map(({ route, reorder, request: sent }) => [route, reorder, sent])).toEqual([
      ['/v1/messages', false, request],
      [undefined, undefined, undefined],
    ])
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
    ['an answer for a list of answers', { blocks: [], answers: 'x' }, /:2: "answers" is not a list of texts$/],
    ['answers that are no texts', { blocks: [], answers: [null] }, /:2: "answers" is not a list of texts$/],
    ['a word for a switch', { blocks: [], reorder: 'off' }, /:2: "reorder" is neither true nor false$/],
    ['a request without a path', { blocks: [], request: { body: {} } }, /:2: "request" is not an object of a "path"/],
    ['a request without a body', { blocks: [], request: { path: '/', body: [] } }, /:2: "request" is not an object/],
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

  describe('of a trace whose recording was broken off', () => {
    const pack = (...lines: object[]): Buffer => gzipSync(lines.map((line) => `${JSON.stringify(line)}\n`).join(''))
    const cutEnd = (file: Buffer): Buffer => file.subarray(0, -3)
    const first = pack({ query_id: 1, blocks: ['a'] })
    const second = pack({ query_id: 2, blocks: ['b'] }, { query_id: 3, blocks: ['a', 'b'] })
    const third = pack({ query_id: 4, blocks: ['a'] })

    /** Returns the ids of the requests that are read, and the warnings. */
    async function read(files: Readonly<Record<string, Buffer>>): Promise<[unknown[], string[]]> {
      const folder = await writeTraceFolder({})
      for (const [name, bytes] of Object.entries(files)) await writeFile(join(folder, name), bytes)
      const warnings: string[] = []
      const { requests } = await readTrace(folder, {
        warn: (message) => warnings.push(message.replaceAll(`${folder}/`, '')),
      })
      return [requests.map(({ queryId }) => queryId), warnings]
    }

    it('takes the whole members, and says what it left out', async () => {
      const queries = cutEnd(Buffer.concat([first, second]))
      expect(await read({ 'blocks.jsonl.gz': pack(...blocks), 'queries.jsonl.gz': queries })).toEqual([
        [1],
        [`queries.jsonl.gz is cut or damaged: ${second.length - 3} of its ${queries.length} bytes are left out`],
      ])
    })

    it('leaves out requests whose blocks are lost', async () => {
      const [a, b] = blocks.map((block) => pack(block)) as [Buffer, Buffer]
      const cut = cutEnd(Buffer.concat([a, b]))
      const queries = Buffer.concat([first, second, third])
      expect(await read({ 'blocks.jsonl.gz': cut, 'queries.jsonl.gz': queries })).toEqual([
        [1, 4],
        [
          `blocks.jsonl.gz is cut or damaged: ${b.length - 3} of its ${cut.length} bytes are left out, ` +
            'and 2 requests that name blocks of it',
        ],
      ])
    })

    it('reads on behind damage, and tells of both files in one line', async () => {
      const queries = Buffer.concat([first, second.subarray(0, 20), third])
      const damaged = Buffer.concat([pack(blocks[0]!), pack(blocks[1]!).subarray(5)])
      const [ids, warnings] = await read({ 'blocks.jsonl.gz': damaged, 'queries.jsonl.gz': queries })
      expect(ids).toEqual([1, 4])
      expect(warnings).toEqual([
        expect.stringMatching(/^queries\.jsonl\.gz is .*: 20 of .* left out; blocks\.jsonl\.gz is .* left out$/),
      ])
    })

    it('takes the first size of a block that was estimated twice, before the disk failed and after', async () => {
      const damaged = Buffer.concat([pack(blocks[0]!), pack(blocks[1]!).subarray(5), pack({ id: 'a', tokens: 4 })])
      const [ids] = await read({ 'blocks.jsonl.gz': damaged, 'queries.jsonl.gz': first })
      expect(ids).toEqual([1])
    })

    it('refuses a file of which nothing can be read, and names it', async () => {
      const files = { 'blocks.jsonl.gz': pack(...blocks), 'queries.jsonl.gz': cutEnd(first) }
      await expect(read(files)).rejects.toThrow(/queries\.jsonl\.gz is no gzip file, or nothing of it can be read$/)
    })

    it('warns on the standard error output unless it is told where', async () => {
      const folder = await writeTraceFolder({ 'blocks.jsonl': blocks })
      await writeFile(join(folder, 'queries.jsonl.gz'), cutEnd(Buffer.concat([first, second])))
      const write = vi.spyOn(process.stderr, 'write').mockReturnValue(true)
      await readTrace(folder)
      expect(write.mock.calls).toEqual([[expect.stringMatching(/^warning: .*queries\.jsonl\.gz is cut .*\n$/)]])
      write.mockRestore()
    })
  })

  it('reads the size of the cache, where the trace has one', async () => {
    const files = { 'blocks.jsonl': blocks, 'queries.jsonl': [{ blocks: [] }] }
    const sizeIn = async (...meta: unknown[]): Promise<number | undefined> =>
      (await readTrace(await writeTraceFolder({ ...files, 'meta.json': meta }))).capacityTokens
    expect(await sizeIn({ capacity_tokens: 5000 })).toBe(5000)
    for (const other of ['{"capacity_tok', '[]', '{"capacity_tokens":-1}']) expect(await sizeIn(other)).toBeUndefined()
  })

  it('says that a file is empty, or that one named .gz is none', async () => {
    const empty = await writeTraceFolder({ 'blocks.jsonl': blocks, 'queries.jsonl': ['  '] })
    await expect(readTrace(empty)).rejects.toThrow(/queries\.jsonl is empty/)
    await writeFile(join(empty, 'plain.jsonl.gz'), '{}')
    await expect(readTrace(join(empty, 'plain.jsonl.gz'))).rejects.toThrow(/plain\.jsonl\.gz is no gzip file/)
  })
})
