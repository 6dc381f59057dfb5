import { describe, expect, it } from 'vitest'
import { SYSTEM_MESSAGE, toUserMessage } from './prompt.ts'
import { shareSeenBefore } from './seen-before.ts'
import type { Turn } from './workload.ts'

function turn(question: string, ...texts: string[]): Turn {
  const blocks = texts.map((text, at) => ({ id: String(at), text }))
  return { id: question, conversation: undefined, tenant: undefined, question, blocks }
}

describe('shareSeenBefore', () => {
  it('counts documents of this and of earlier turns once, and questions never', () => {
    const turns = [turn('why?', 'one', 'three'), turn('how?', 'three', 'two')]
    const all = turns.reduce((sum, one) => sum + SYSTEM_MESSAGE.content.length + toUserMessage(one).content.length, 0)
    const fresh = 'why?'.length + 'how?'.length + 'three'.length + 'two'.length
    expect(shareSeenBefore(turns, [turn('who?', 'one')])).toBeCloseTo(1 - fresh / all)
  })

  it('is nothing of nothing', () => {
    expect(shareSeenBefore([], [])).toBe(0)
  })
})
