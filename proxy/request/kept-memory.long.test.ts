import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { expect, test } from 'vitest'
import { Sender, userMessage } from '../reuse/sender.fixture.ts'

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as (options?: { type: 'minor' }) => void

test('what is remembered of a prompt does not keep the whole of it in memory', () => {
  const sender = new Sender()
  const prompts = 60
  const size = 1_000_000
  const send = (i: number): void => {
    const document = `<document id="a-label-that-is-long-enough-to-be-cut-${i}">\n${`${i}: all of it\n`.repeat(30)}</document>`
    const context = `<documents>\n${document}\n<document id="b-label-that-is-long-enough-${i}">\nother</document>\n</documents>`
    sender.send([
      { role: 'system', content: `${i} ${'x'.repeat(size)}` },
      { role: 'user', content: `${context}\n\nWhat? ${'y'.repeat(size)}` },
      { role: 'user', content: `${context}\n\nAnd again? ${'z'.repeat(size)}` },
    ])
  }
  // V8 keeps the last string a regular expression was tried on, whoever owns it: make it a short one
  const bytesHeld = (): number => {
    sender.send([{ role: 'user', content: '<documents>\n<document>One</document>\n</documents>\n\nWhat?' }])
    collect()
    return process.memoryUsage().heapUsed
  }
  // warm up: code compiled meanwhile must not count as kept prompts
  for (let i = -3; i < 0; i++) send(i)
  const before = bytesHeld()
  for (let i = 1; i <= prompts; i++) send(i)
  const kept = (bytesHeld() - before) / prompts
  expect(kept).toBeLessThan(size / 10)
})

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
