import { setTimeout as pause } from 'node:timers/promises'
import { expect, test } from 'vitest'
import type { Turn } from '../demo/workload.ts'
import type { Answer, Ask } from './ask.ts'
import { repeatedly } from './prompts.ts'
import { lanes, Traffic } from './traffic.ts'

const answer: Answer = { predicted: 0, host: 0, reported: 0, promptTokens: 1, blocks: 0, moved: 0 }
const turns: Turn[] = Array.from({ length: 10 }, (_, i) => {
  return { id: `q${i}`, conversation: undefined, tenant: undefined, question: `${i}?`, blocks: [] }
})

test('traffic sends every turn once, in order, never more than four at a time', async () => {
  const asked: string[] = []
  let most = 0
  let running = 0
  const ask: Ask = async ({ id }) => {
    asked.push(id)
    most = Math.max(most, ++running)
    // longer than all lanes need to become busy
    await pause(400)
    running--
    return answer
  }
  const sent = await new Traffic(ask, turns).finished()
  expect(asked).toEqual(turns.map(({ id }) => id))
  expect(sent.map(({ turn }) => turn.id)).toEqual(asked)
  expect(most).toBe(lanes)
  expect(sent[0]!.beside).toEqual([])
  expect(sent[3]!.beside).toEqual(sent.slice(0, 3).map(({ requestId }) => requestId))
})

test('traffic that is held sends nothing more; what is counted from then on was sent from then on', async () => {
  const traffic = new Traffic(
    async () => {
      await pause(1)
      return answer
    },
    repeatedly(turns.slice(0, 3)),
  )
  await traffic.more(4)
  traffic.hold()
  await pause(200)
  const before = traffic.count
  await pause(200)
  expect(traffic.count).toBe(before)
  expect(traffic.underWay.size).toBe(0)
  traffic.resume()
  const counted = await traffic.more(6)
  await traffic.end()
  expect(counted.every(({ at }) => at >= before)).toBe(true)
  expect(new Set(traffic.sent.map(({ turn }) => turn.question)).size).toBe(traffic.count)
})

test('a request that fails is told with why, and the others go on', async () => {
  const ask: Ask = ({ id }) => (id === 'q3' ? Promise.reject(new Error('502: gone')) : Promise.resolve(answer))
  const sent = await new Traffic(ask, turns).finished()
  expect(sent.map(({ failure }) => failure).filter((failure) => failure !== undefined)).toEqual(['502: gone'])
  expect(sent).toHaveLength(turns.length)
})
