import { beforeEach, expect, test } from 'vitest'
import { mostShapes, type NotedPrompt, RecentPrompts } from './recent-prompts.ts'

let now: number
let recent: RecentPrompts
beforeEach(() => {
  now = 1_000
  recent = new RecentPrompts(() => now)
})

function promptOf(texts: readonly string[], rest: Partial<NotedPrompt> & { role?: string } = {}): NotedPrompt {
  const { role = 'user', ...noted } = rest
  const message = { place: 0, role, texts: texts.map((_, i) => i), rest: '', isTextOnly: true }
  return {
    api: 'chat_completions',
    set: {
      texts: texts.map((text, i) => ({ path: ['messages', i], text, isRaw: false })),
      prompts: [{ preamble: '', messages: [message] }],
    },
    skipped: 'no_blocks',
    refusals: [],
    chunks: { matched: 0, refused: {} },
    templates: [],
    differs: false,
    ...noted,
  }
}

test('prompts of one shape are counted together, the latest first', () => {
  recent.note(promptOf(['a'.repeat(5_000)]))
  recent.note(promptOf(['b'.repeat(6_000)]))
  now = 9_000
  recent.note(promptOf(['c'.repeat(5_000)], { role: 'tool' }))
  const first = { api: 'chat_completions', skipped: 'no_blocks', reason: null, characters: 4_096 }
  expect(recent.shapes).toMatchObject([
    { ...first, role: 'tool', count: 1, last_seen_seconds_ago: 0 },
    { ...first, role: 'user', count: 2, last_seen_seconds_ago: 8, remedy: expect.stringContaining('docs/chunks.md') },
  ])
})

test.each<[what: string, prompt: NotedPrompt, reason: string | null, remedy: RegExp]>([
  ['short', promptOf(['hello']), null, /^none: too short/],
  [
    'left alone',
    promptOf(['a', 'b'.repeat(900)], { refusals: [{ refused: 'no_evidence', text: 1, start: 0, end: 9 }] }),
    'no_evidence',
    /announce the list/,
  ],
  [
    'of a template whose numbers do not count up',
    promptOf(['a', 'b'], { templates: [{ template: 'bot', refused: 'numbers', text: 1 }] }),
    'template_numbers',
    /count up/,
  ],
  [
    'known chunks of one text',
    promptOf(['a'], { chunks: { matched: 3, refused: { one_text: 1 } } }),
    'known_chunks_one_text',
    /^none/,
  ],
  ['scores', promptOf(['a'], { skipped: 'nothing_to_gain', differs: true }), 'differs_by_score', /^leave scores out/],
  [
    'a question in front of the documents',
    promptOf(['a'], { skipped: 'differs_before' }),
    'differs_before',
    /put it behind them$/,
  ],
  [
    'a question in front of what tools return',
    promptOf(['a'], {
      skipped: 'differs_before',
      differing: { prompt: 0, place: 0, message: undefined, areResults: true },
    }),
    'differs_before',
    /what tools return differs/,
  ],
])('what would help is told: %s', (_, prompt, reason, remedy) => {
  recent.note(prompt)
  expect(recent.shapes).toMatchObject([{ reason, remedy: expect.stringMatching(remedy) }])
})

test.each([undefined, 'nothing_to_gain', 'spoken_of', 'shadow'] as const)(
  'where something was found nothing is listed: %s',
  (skipped) => {
    recent.note(promptOf(['a'], { skipped }))
    expect(recent.shapes).toEqual([])
  },
)

test('no word of a prompt is kept, not even a role that a client has made up', () => {
  recent.note(promptOf(['a secret'], { role: 'secret role' }))
  expect(JSON.stringify(recent.shapes)).not.toContain('secret')
})

/** A fake text of the given length, of which only the beginning can be read. */
function textOf(length: number): string {
  return { length, slice: (_: number, to: number) => 'a'.repeat(Math.min(to, 8_192)) } as string
}

test('only so many shapes are kept, and those seen last', () => {
  for (let power = 10; power < 27; power++) {
    for (const role of ['developer', 'user', 'system', 'tool']) recent.note(promptOf([textOf(2 ** power)], { role }))
  }
  expect(recent.shapes).toHaveLength(mostShapes)
  expect(recent.shapes[0]).toMatchObject({ role: 'tool', characters: 2 ** 26 })
})

test('it is known when a prompt held known chunks last', () => {
  expect(recent.secondsSinceChunks).toBeNull()
  recent.note(promptOf(['a'], { skipped: undefined, chunks: { matched: 2, refused: {} } }))
  now += 5_400
  recent.note(promptOf(['a']))
  expect(recent.secondsSinceChunks).toBe(5)
})
