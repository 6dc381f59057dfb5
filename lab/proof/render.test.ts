import { expect, test } from 'vitest'
import { mapAnswer, renderPrompt, variants } from './render.ts'
import type { Task } from './tasks.ts'

const task: Task = {
  name: 'numbered',
  order: 'free',
  label: (place) => `[${place}] `,
  instruction: (question) => question,
  answerTokens: 1,
  samples: [],
}
const texts = ['a', 'b', 'c']

test('labels count up in any order, and numbers of an answer name the same texts', () => {
  const prompts = variants.map((variant) => renderPrompt(task, texts, 'q', variant))
  expect(prompts).toEqual([
    '[1] a\n\n[2] b\n\n[3] c\n\nq',
    '[1] c\n\n[2] b\n\n[3] a\n\nq',
    '[1] c\n\n[2] a\n\n[3] b\n\nq',
    '[1] a\n\n[2] b\n\n[3] c\n\n\nq',
  ])
  const answers = variants.map((variant) => mapAnswer(task, 'See [1], document 3 and [9] of 1999.', 3, variant))
  expect(answers).toEqual([
    'See [1], document 3 and [9] of 1999.',
    'See [3], document 1 and [9] of 1999.',
    'See [2], document 1 and [9] of 1999.',
    'See [1], document 3 and [9] of 1999.',
  ])
})
