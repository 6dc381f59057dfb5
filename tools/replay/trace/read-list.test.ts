import { expect, it } from 'vitest'
import { writeTraceFolder } from '../trace-folder.fixture.ts'
import { readTrace } from './read-trace.ts'

const ids = ['a', 'b', '[', '] ', '1', '2', 'gap']
const blocks = ids.map((id) => ({ id, tokens: 3, characters: 10 }))
const list = {
  blocks: [
    ['[', null, '] ', 'a'],
    ['[', null, '] ', 'b'],
  ],
  labels: ['1', '2'],
  gaps: [['gap']],
  shortened: [null, ['[', null, 'gap']],
  stays: true,
  order_tokens: 20,
}

async function readFirst(fields: object): Promise<Awaited<ReturnType<typeof readTrace>>['requests'][number]> {
  const folder = await writeTraceFolder({
    'blocks.jsonl': blocks,
    'queries.jsonl': [{ blocks: ['a', 'b'], ...fields }],
  })
  return (await readTrace(folder)).requests[0]!
}

it('reads what marks the blocks of a list', async () => {
  const read = (await readFirst({ list })).list!
  expect(read.blocks.map((pieces) => pieces.map((piece) => piece?.id))).toEqual([
    ['[', undefined, '] ', 'a'],
    ['[', undefined, '] ', 'b'],
  ])
  expect(read.labels.map(({ id, characters }) => [id, characters])).toEqual([
    ['1', 10],
    ['2', 10],
  ])
  expect(read.gaps.map((gap) => gap.map(({ id }) => id))).toEqual([['gap']])
  expect(read.shortened.map((pieces) => pieces?.map((piece) => piece?.id))).toEqual([
    undefined,
    ['[', undefined, 'gap'],
  ])
  expect(read).toMatchObject({ stays: true, orderTokens: 20 })
})

it('reads traces whose blocks are not marked, and lists of the least', async () => {
  expect((await readFirst({})).list).toBeUndefined()
  expect((await readFirst({ list: { blocks: [['a'], ['b']], gaps: [[]] } })).list).toMatchObject({
    labels: [],
    stays: false,
    orderTokens: 0,
  })
})

it.each([
  [[], /"list" is not an object with "blocks"/],
  [{ ...list, blocks: ['a', 'b'] }, /"list" is not an object/],
  [{ ...list, order_tokens: -1 }, /"list" is not an object/],
  [{ ...list, shortened: ['a', 'b'] }, /"list" is not an object/],
  [{ ...list, shortened: [null] }, /"list" does not have as many parts as "blocks"/],
  [{ ...list, gaps: [] }, /"list" does not have as many parts as "blocks"/],
  [{ ...list, labels: ['1'] }, /"list" does not have as many parts as "blocks"/],
  [{ ...list, blocks: [['a']], gaps: [] }, /"list" does not have as many parts as "blocks"/],
  [{ ...list, gaps: [['unknown']] }, /block "unknown" is not in the trace's blocks file/],
])('names the line of a list that cannot be read: %j', async (broken, message) => {
  await expect(readFirst({ list: broken })).rejects.toThrow(message)
  await expect(readFirst({ list: broken })).rejects.toThrow(/queries\.jsonl:1: /)
})
