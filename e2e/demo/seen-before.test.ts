import { describe, expect, it } from 'vitest'
import { SYSTEM_MESSAGE, toUserMessage } from './prompt.ts'
import { shareSeenBefore } from './seen-before.ts'
import type { Turn } from './workload.ts'

function turn(question: string, ...texts: string[]): Turn {
  const blocks = texts.map((text) => ({ id: `${text}.md`, text }))
  return { id: question, conversation: undefined, tenant: undefined, question, blocks }
}

describe('shareSeenBefore', () => {
  it('counts documents of this and of earlier turns once with their sources, and questions never', () => {
    const turns = [turn('why?', 'one', 'three'), turn('how?', 'three', 'two')]
    const all = turns.reduce((sum, one) => sum + SYSTEM_MESSAGE.content.length + toUserMessage(one).content.length, 0)
    const fresh = 'why?how?source="three.md"threesource="two.md"two'.length
    expect(shareSeenBefore(turns, [turn('who?', 'one')])).toBeCloseTo(1 - fresh / all)
  })

  it('knows of no sources where documents stand side by side', () => {
    const asked = { ...turn('why?', 'one', 'three'), isPlain: true }
    const all = SYSTEM_MESSAGE.content.length + toUserMessage(asked).content.length
    const seen = [{ ...turn('who?', 'one'), isPlain: true }]
    expect(shareSeenBefore([asked], seen)).toBeCloseTo(1 - 'why?three'.length / all)
  })

  it('is nothing of nothing', () => {
    expect(shareSeenBefore([], [])).toBe(0)
  })
})
