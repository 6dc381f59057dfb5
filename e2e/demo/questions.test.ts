import { beforeAll, describe, expect, it } from 'vitest'
import { readCorpus } from './corpus.ts'
import { askQuestions } from './questions.ts'
import { createRetriever } from './retrieve.ts'
import type { Turn } from './workload.ts'

/** The word in a conversation's first question that shows which package it is about. */
const TOPICS: readonly [word: RegExp, name: string][] = [
  [/commander/i, 'commander'],
  [/pino/i, 'pino'],
  [/prom-client/i, 'prom-client'],
  [/hono/i, '@hono/node-server'],
  [/ajv/i, 'ajv'],
  [/lru-cache/i, 'lru-cache'],
  [/minisearch/i, 'minisearch'],
  [/fast-check/i, 'fast-check'],
  [/JSON with comments/, 'jsonc-parser'],
  [/eventsource-parser/i, 'eventsource-parser'],
  [/cli-progress/i, 'cli-progress'],
  [/cli-table3/i, 'cli-table3'],
  [/undici|MockAgent|SnapshotAgent|RetryHandler|mocked request|interceptors?|NO_PROXY|SOCKS5/i, 'undici'],
]

describe('the committed questions', () => {
  let turns: Turn[]
  let openers: Map<string, Turn>

  beforeAll(async () => {
    turns = askQuestions(createRetriever(await readCorpus()), 10)
    openers = new Map()
    for (const turn of turns) if (!openers.has(turn.conversation!)) openers.set(turn.conversation!, turn)
  })

  it('are about 150, each asked once', () => {
    expect(turns.length).toBeGreaterThanOrEqual(140)
    expect(turns.length).toBeLessThanOrEqual(170)
    expect(new Set(turns.map((turn) => turn.question)).size).toBe(turns.length)
  })

  it('are follow-ups for a third, mixed with the questions of other users', () => {
    const followUps = turns.filter((turn) => openers.get(turn.conversation!) !== turn)
    expect(followUps.length / turns.length).toBeGreaterThan(0.28)
    expect(followUps.length / turns.length).toBeLessThan(0.4)
    const straightOn = followUps.filter((turn) => turns[turns.indexOf(turn) - 1]!.conversation === turn.conversation)
    expect(straightOn.length).toBeLessThan(followUps.length / 4)
  })

  it('find sections of the package they are about among the best three', () => {
    for (const turn of turns) {
      const topic = TOPICS.find(([word]) => word.test(openers.get(turn.conversation!)!.question))
      expect(topic, turn.question).toBeDefined()
      const best = turn.blocks.slice(0, 3).map((block) => block.id)
      expect(
        best.some((id) => id.startsWith(`${topic![1]}/`)),
        `${turn.question} found ${best}`,
      ).toBe(true)
    }
  })

  it('share sections, as the questions of a team do', () => {
    const asked = turns.flatMap((turn) => turn.blocks.map((block) => block.id))
    expect(new Set(asked).size).toBeLessThan(asked.length / 3)
  })
})
