import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { expect, test } from 'vitest'
import { Sender, userMessage } from './sender.fixture.ts'

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as (options?: { type: 'minor' }) => void

// in a process of its own: how soon V8 calls an object old depends on what was there before
test('a decision leaves next to nothing that only a full collection removes', () => {
  const sender = new Sender()
  const documents = Array.from({ length: 15 }, (_, i) => `${i}: ${'all of it\n'.repeat(20)}`)
  const body = { messages: [userMessage('What?', ...documents)] }
  const decisions = 500
  const decideAll = (): void => {
    for (let i = 0; i < decisions; i++) sender.decide(body)
    // a young object becomes old after surviving two minor collections
    collect({ type: 'minor' })
    collect({ type: 'minor' })
  }
  const oldBytes = (): number =>
    getHeapSpaceStatistics().find(({ space_name: name }) => name === 'old_space')!.space_used_size
  decideAll()
  collect()
  decideAll()
  // now and then compiled code counts as old at once; what a decision leaves behind, it leaves every time
  const left = Array.from({ length: 5 }, () => {
    const before = oldBytes()
    decideAll()
    return (oldBytes() - before) / decisions
  })
  expect(Math.min(...left)).toBeLessThan(4_000)
})
