import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type ChatEngineBehaviour, type ChatEngineDouble, startChatEngineDouble } from './chat-engine-double.fixture.ts'
import type { Comparison } from './comparison.ts'
import { type CompareOptions, runCompare } from './run-compare.ts'

/** Texts that may be moved: none begins like another. */
export const texts: readonly string[] = [
  'Falcons nest on cliffs and on the towers of old churches.',
  'The printing press was known in Mainz before it came to Venice.',
  'Salt marshes store more carbon than most woods of their size.',
  'A fugue answers its subject in another key.',
  'Basalt cools in columns where a flow of lava is deep.',
  'Every harbour keeps a list of the tides of its coast.',
]

/** A folder for traces and results, and the engines that traces are sent to. */
export class CompareFixture {
  readonly folder: string = mkdtempSync(join(tmpdir(), 'reprise-compare-'))
  /** how long the comparison would have waited for busy engines, in milliseconds; the test does not wait */
  readonly waits: number[] = []
  readonly #engines: ChatEngineDouble[] = []

  async startEngine(behaviour?: ChatEngineBehaviour): Promise<ChatEngineDouble> {
    const engine = await startChatEngineDouble(behaviour)
    this.#engines.push(engine)
    return engine
  }

  /** Writes a trace of questions about documents that come in another order each time; `end`: of each text. */
  writeTrace(count: number, name = 'trace', end = ''): string {
    const blocks = texts.map((text, i) => ({ id: `d${i}`, text: text + end }))
    const queries = Array.from({ length: count }, (_, i) => {
      const ids = [0, 1, 2, 3].map((k) => `d${(i * 5 + k * (i % 2 === 0 ? 1 : 5)) % 6}`)
      return { query_id: i, query: `What of case ${i}?`, blocks: ids }
    })
    return this.writeLines(name, queries, blocks)
  }

  writeLines(name: string, queries: readonly object[], blocks: readonly object[]): string {
    const at = join(this.folder, name)
    mkdirSync(at, { recursive: true })
    const write = (file: string, lines: readonly object[]): void =>
      writeFileSync(join(at, file), lines.map((line) => `${JSON.stringify(line)}\n`).join(''))
    write('queries.jsonl', queries)
    write('blocks.jsonl', blocks)
    return at
  }

  compare(trace: string, engine: ChatEngineDouble, options: Partial<CompareOptions> = {}): Promise<Comparison> {
    return runCompare(trace, {
      engine: { url: engine.url },
      engineKey: undefined,
      maxTokens: 8,
      passes: ['again', 'rewritten'],
      results: join(this.folder, 'results.jsonl'),
      signal: new AbortController().signal,
      wait: async (milliseconds) => {
        this.waits.push(milliseconds)
      },
      ...options,
    })
  }

  close(): void {
    for (const engine of this.#engines) engine.close()
    rmSync(this.folder, { recursive: true })
  }
}
