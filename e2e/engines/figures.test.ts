import { expect, test } from 'vitest'
import type { Turn } from '../demo/workload.ts'
import { figuresOf, reportOf } from './figures.ts'
import type { Sent } from './traffic.ts'

const turn: Turn = { id: 'q1', conversation: undefined, tenant: undefined, question: 'why?', blocks: [] }

function sent(at: number, predicted: number, reported: number): Sent {
  const answer = { predicted, host: 0, reported, promptTokens: 100, blocks: 3, moved: 1 }
  return { requestId: `r${at}`, turn, at, beside: at === 0 ? [] : ['r0'], answer, failure: undefined }
}

const failed: Sent = { ...sent(9, 0, 0), answer: undefined, failure: '502: gone' }

test('figures count predictions by which way they are off, and leave out what failed', () => {
  expect(figuresOf([sent(0, 64, 64), sent(1, 64, 32), sent(2, 0, 32), failed])).toEqual({
    answered: 3,
    promptTokens: 300,
    cachedTokens: 128,
    exact: 1,
    over: 1,
    under: 1,
  })
})

test('a report names every mismatch and every failure', () => {
  expect(reportOf('here', [sent(0, 64, 64), sent(1, 64, 32), sent(2, 7, 32), failed], 32).split('\n')).toEqual([
    'here: 3 requests, 300 tokens, 43 % of them cached; 1 predicted exactly, 1 too high, 1 too low',
    '  r9 failed: 502: gone',
    '  r1 (q1): predicted 64, reported 32: +32 tokens, +1 blocks; 100 in the prompt, 3 documents, 1 moved; beside r0',
    '  r2 (q1): predicted 7, reported 32: -25 tokens, no whole blocks; 100 in the prompt, 3 documents, 1 moved; beside r0',
  ])
})

test('a report of many mismatches says how many it leaves out', () => {
  const many = Array.from({ length: 30 }, (_, at) => sent(at, 0, 32))
  expect(reportOf('here', many, 32).split('\n').at(-1)).toBe('  … and 5 more')
})
