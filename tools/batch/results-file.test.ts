import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeEach, describe, expect, test } from 'vitest'
import type { BatchRequest } from './batch-file.ts'
import { ResultsFile } from './results-file.ts'

const folder = mkdtempSync(join(tmpdir(), 'reprise-results-'))
const path = join(folder, 'out.jsonl')
afterAll(() => rmSync(folder, { recursive: true }))
beforeEach(() => rmSync(path, { force: true }))

const request = (customId: string, digest = 'A'.repeat(22)): BatchRequest => ({
  customId,
  url: '/v1/x',
  id: `batch_req_${digest}`,
  at: 0,
  length: 0,
})
const mine = new Map(['a', 'b'].map((customId) => [customId, request(customId).id]))

function write(customId: string, status: number | undefined, body = '{}', digest?: string): void {
  new ResultsFile(path).add(request(customId, digest), { status, requestId: undefined, body })
}

async function resume(): Promise<[string, string, number][]> {
  const kept: [string, string, number][] = []
  await new ResultsFile(path).resume(mine, (...result) => void kept.push(result))
  return kept
}

describe('a file that is not of this batch is refused, and stays as it is', () => {
  test.each([
    ['a line', 'do not lose me\n'],
    ['a line without an end', 'do not lose me'],
    ['an object', '{"id":"other","n":1}'],
    ['results of somebody else', '{"id":"batch_req_123","custom_id":"a","response":null,"error":{"code":"x"}}\n'],
  ])('%s', async (_, text) => {
    writeFileSync(path, text)
    await expect(resume()).rejects.toThrow(/does not have the results of this batch/)
    expect(readFileSync(path, 'utf8')).toBe(text)
  })

  test('results of another batch, in which everything failed', async () => {
    for (const customId of ['x', 'y']) write(customId, 500)
    write('z', undefined, 'ECONNREFUSED')
    await expect(resume()).rejects.toThrow(/does not have the results of this batch/)
    expect(readFileSync(path, 'utf8').split('\n')).toHaveLength(4)
  })
})

test('a last line that was cut off is dropped; only there', async () => {
  write('a', 200)
  const whole = readFileSync(path, 'utf8')
  writeFileSync(path, `${whole}{"id":"batch_req_AA`)
  expect(await resume()).toEqual([['a', '{}', 200]])
  expect(readFileSync(path, 'utf8')).toBe(whole)
  writeFileSync(path, `${whole}{"id":"batch_req_AA\n`)
  await expect(resume()).rejects.toThrow(/does not have the results/)
})

test('answers with U+2028 and U+2029 in them are read again', async () => {
  write('a', 200, '{"text":"one\u2028two\u2029three"}')
  expect(await resume()).toEqual([['a', '{"text":"one\u2028two\u2029three"}', 200]])
})

test.each([
  [200, 1],
  [400, 1],
  [301, 0],
  [307, 0],
  [404, 0],
  [500, 0],
])('a result with status %i is kept %i times', async (status, times) => {
  write('a', status)
  expect(await resume()).toHaveLength(times)
})

test('what an earlier version took for an answer, and is no JSON object, is not kept', async () => {
  write('a', 200, 'a page')
  write('b', 200)
  expect(await resume()).toEqual([['b', '{}', 200]])
})

test('of two results of one request the first is kept', async () => {
  for (const body of ['{"n":1}', '{"n":2}']) write('a', 200, body)
  write('b', 200)
  expect(await resume()).toEqual([
    ['a', '{"n":1}', 200],
    ['b', '{}', 200],
  ])
  expect(readFileSync(path, 'utf8').split('\n')).toHaveLength(3)
})
