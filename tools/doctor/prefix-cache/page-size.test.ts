import { expect, test } from 'vitest'
import { judgePromptLength } from './check-prefix-cache.ts'

test('a prompt that fills no page is a warning with the setting that helps, and a longer one is none', () => {
  const states = { pageTokens: 1056, hasStates: true }
  expect(judgePromptLength('short.json', 300, states)).toEqual([
    {
      check: 'prompt_length',
      level: 'warning',
      found: "short.json: its 300 tokens fill no block of the engine's cache (1056): nothing of it is found again",
      fix: expect.stringContaining('--prefix-match-unit 32'),
    },
  ])
  // the last token is always computed
  expect(judgePromptLength('short.json', 1056, states)).toHaveLength(1)
  expect(judgePromptLength('short.json', 1057, states)).toEqual([])
  const [fine] = judgePromptLength('short.json', 300, { ...states, matchTokens: 32 })
  expect(fine!.found).toContain('only prompts that go on from its end find it, in steps of 32')
  expect(fine!.fix).not.toContain('--prefix-match-unit')
  const [pages] = judgePromptLength('short.json', 300, { pageTokens: 512 })
  expect(pages!.fix).toContain('--block-size')
})
