import { afterEach, expect, test } from 'vitest'
import { cutLearntList } from './cut-learnt-list.ts'
import { place, promptsOf, toUnknown } from './learner-texts.fixture.ts'
import { LearnerThread } from './learner-thread.ts'
import type { Learnt } from './template-learner.ts'

const prompts = promptsOf(
  60,
  (documents, question) =>
    `Qua dro vex nam.\n${documents.map((text) => `<zeki>${text}</zeki>`).join('\n')}\n\nTrifer: ${question}`,
)
let thread: LearnerThread | undefined
afterEach(() => thread?.close())

test('learns in a thread what was offered to it', async () => {
  const faults: unknown[] = []
  const learnt = new Promise<Learnt>((resolve) => {
    thread = new LearnerThread({ onLearnt: resolve, onFault: (cause) => faults.push(cause) })
  })
  const offering = (async () => {
    for (const { text } of prompts.slice(0, 40))
      while (!thread!.offer(place, toUnknown(text))) await new Promise((resolve) => setTimeout(resolve, 20))
  })()
  const { template, seen } = await learnt
  expect(cutLearntList(prompts[50]!.text, template)?.blocks.length).toBeGreaterThanOrEqual(7)
  expect(seen.reduce((sum, { lists }) => sum + lists, 0)).toBeGreaterThan(5)
  await offering
  expect(faults).toEqual([])
})

test('takes no more than can wait, and nothing once it is closed', async () => {
  thread = new LearnerThread({ onLearnt: () => {}, onFault: () => {} })
  const taken = prompts.filter(({ text }) => thread!.offer(place, toUnknown(text))).length
  expect(taken).toBe(16)
  expect(thread.offer(place, toUnknown('x'.repeat(2_000_001)))).toBe(false)
  await thread.close()
  expect(thread.offer(place, toUnknown(prompts[20]!.text))).toBe(false)
})
