import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { expect, test } from 'vitest'
import { Sender } from './sender.fixture.ts'

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void

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
