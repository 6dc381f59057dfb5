import { setTimeout as pause } from 'node:timers/promises'
import { expect, test, vi } from 'vitest'
import { type RedisReply, setCommand } from './redis-command.ts'
import { RedisDouble } from './redis-double.fixture.ts'
import { WriteBehind } from './write-behind.ts'

function create(maxKeys = 100) {
  const redis = new RedisDouble()
  const replies: [key: string, reply: RedisReply, isRepeated: boolean][] = []
  const onGivenUp = vi.fn()
  const writes = new WriteBehind<string, string>(redis, {
    maxKeys,
    toCommand: (key, change) => (change === 'nothing' ? undefined : setCommand(key, change, 60)),
    onReply: (key, _change, reply, isRepeated) => void replies.push([key, reply, isRepeated]),
    onGivenUp,
  })
  return { redis, writes, replies, onGivenUp }
}

const refusal = (message: string): RedisReply => ({ error: Object.assign(new Error(message), { name: 'ReplyError' }) })
const settled = (writes: { size: number }): Promise<void> => vi.waitFor(() => expect(writes.size).toBe(0))

test('what is put in one go is one pipeline, not written before requests go on, and of a key only the last', async () => {
  const { redis, writes } = create()
  for (const [key, value] of ['a1', 'b1', 'a2', 'c1']) writes.put(key!, value!)
  writes.put('d', 'nothing')
  writes.delete('c')
  expect(redis.batches).toEqual([])
  await settled(writes)
  expect(redis.batches).toHaveLength(1)
  expect(redis.written).toEqual(['b=1', 'a=2'])
})

test('nothing is written while Redis is away, and all of it when it is back', async () => {
  const { redis, writes } = create()
  redis.isUp = false
  writes.put('a', '1')
  await pause(20)
  expect(redis.batches).toEqual([])
  redis.isUp = true
  writes.wake()
  await settled(writes)
  expect(redis.written).toEqual(['a=1'])
})

test('what a full or a broken Redis did not take is written again, unless it has changed since', async () => {
  const { redis, writes, replies } = create()
  let open!: () => void
  redis.gate = new Promise((resolve) => {
    open = resolve
  })
  redis.answer = ({ key }) => (key === 'a' ? refusal('OOM full') : { error: new Error('Connection is closed.') })
  writes.put('a', '1')
  writes.put('b', '1')
  await vi.waitFor(() => expect(redis.batches).toHaveLength(1))
  writes.put('a', '2')
  redis.answer = (
    (before) => (command) =>
      before(command)
  )(redis.answer)
  open()
  await vi.waitFor(() => expect(replies.length).toBeGreaterThanOrEqual(2))
  expect(replies.slice(0, 2).map(([key, , isRepeated]) => [key, isRepeated])).toEqual([
    ['a', true],
    ['b', true],
  ])
  redis.answer = () => ({ value: 'OK' })
  await settled(writes)
  expect(redis.written.slice(2).toSorted()).toEqual(['a=2', 'b=1'])
})

test('what Redis will never take is given up and told of', async () => {
  const { redis, writes, replies } = create()
  redis.answer = () => refusal('WRONGTYPE of another kind')
  writes.put('a', '1')
  await vi.waitFor(() => expect(replies).toHaveLength(1))
  expect(replies[0]![2]).toBe(false)
  expect(writes.size).toBe(0)
})

test('beyond its bound the oldest are given up, which is told once there is room', async () => {
  const { redis, writes, onGivenUp } = create(3)
  redis.isUp = false
  for (const key of 'abcde') writes.put(key, '1')
  expect(writes.size).toBe(3)
  expect(onGivenUp).not.toHaveBeenCalled()
  redis.isUp = true
  writes.wake()
  await vi.waitFor(() => expect(onGivenUp).toHaveBeenCalledTimes(1))
  expect(redis.written).toEqual(['c=1', 'd=1', 'e=1'])
})

test('the end waits for what can be written, and no longer than it may', async () => {
  const { redis, writes } = create(10_000)
  for (let i = 0; i < 1_000; i++) writes.put(String(i), 'x')
  await writes.close(2_000, () => performance.now())
  expect(redis.written).toHaveLength(1_000)
  const { redis: stuck, writes: waiting } = create()
  stuck.gate = new Promise(() => {})
  waiting.put('a', '1')
  // without the limit it would wait for ever
  await waiting.close(50, () => performance.now())
})
