import { describe, expect, it } from 'vitest'
import { renderSentence, renderTable } from './compare-runs.ts'
import type { Run, TurnOutcome } from './run-requests.ts'
import type { ProxyReport } from './send-chat.ts'
import { summarizeRun } from './summarize-run.ts'

const turn = { id: 'q', conversation: undefined, tenant: undefined, question: 'Q', blocks: [] }

function outcome(firstTokenMs: number, cachedTokens: number, proxy?: ProxyReport): TurnOutcome {
  return {
    turn,
    answer: 'a',
    firstTokenMs,
    totalMs: 2 * firstTokenMs,
    promptTokens: 1000,
    cachedTokens,
    reusedTokens: 10,
    proxy,
  }
}

function run(outcomes: readonly TurnOutcome[]): Run {
  return { outcomes, failures: [{ turn, reason: 'refused' }], seconds: 3 }
}

describe('summarizeRun', () => {
  it('adds up the tokens and ranks the times to first token', () => {
    const summary = summarizeRun(run([outcome(40, 0), outcome(10, 500), outcome(20, 250), outcome(30, 250)]))
    expect(summary).toEqual({
      requests: 4,
      failed: 1,
      prompt_tokens: 4000,
      cached_tokens: 1000,
      computed_tokens: 2960,
      hit_ratio: 0.25,
      reused_tokens: 40,
      ttft_p50_ms: 20,
      ttft_p95_ms: 40,
      seconds: 3,
      blocks: null,
    })
  })

  it('counts blocks and the reasons for which requests were left as they were', () => {
    const reports = [
      { blocks: 10, moved: 4, deduplicated: 0, skipped: undefined },
      { blocks: 10, moved: 0, deduplicated: 2, skipped: undefined },
      { blocks: 0, moved: 0, deduplicated: 0, skipped: 'no_blocks' },
    ]
    const { blocks } = summarizeRun(run(reports.map((report) => outcome(1, 1, report))))
    expect(blocks).toEqual({ found: 20, moved: 4, deduplicated: 2, skipped: { no_blocks: 1 } })
  })

  it('has zeros for a run in which nothing was answered', () => {
    expect(summarizeRun(run([]))).toMatchObject({ requests: 0, hit_ratio: 0, ttft_p50_ms: 0 })
  })
})

describe('the comparison of two runs', () => {
  const direct = summarizeRun(run([outcome(2000, 100)]))
  const reprise = summarizeRun(run([outcome(500, 400, { blocks: 12, moved: 7, deduplicated: 1, skipped: undefined })]))

  it('shows both runs and their ratio', () => {
    const table = renderTable({ direct, reprise })
    expect(table).toMatch(/hit ratio\s+│\s+10\.0 % │\s+40\.0 % │ 4\.00×/)
    expect(table).toMatch(/tokens computed\s+│\s+890 │\s+590 │ 0\.66×/)
    expect(table).toMatch(/time to first token, median\s+│\s+2\.00 s │\s+500 ms │ 0\.25×/)
    expect(table).toMatch(/blocks moved\s+│\s+│\s+7 │/)
  })

  it('claims a gain only where there is one', () => {
    expect(renderSentence({ direct, reprise })).toMatch(
      /^Through reprise the engine computed 33\.7 % less, and the first token came sooner: .*890 → 590.*10\.0 % → 40\.0 %/,
    )
    expect(renderSentence({ direct: reprise, reprise: direct })).toMatch(
      /^reprise gained nothing here, and the first token came later: tokens computed for each request 590 → 890/,
    )
    expect(renderSentence({ direct, reprise: direct })).toMatch(/^reprise gained nothing here: /)
  })

  it('does not claim a sooner answer where there is none', () => {
    const wait = (ttft_p50_ms: number): string => renderSentence({ direct, reprise: { ...reprise, ttft_p50_ms } })
    expect(wait(2050)).toMatch(/computed 33\.7 % less, but the first token came no sooner: /)
    expect(wait(2500)).toMatch(/computed 33\.7 % less, but the first token came later: /)
  })

  it('says what was reused at any position, where something was', () => {
    const reusing = { ...direct, hit_ratio: 0.02, reused_tokens: 0.7 * direct.prompt_tokens, computed_tokens: 280 }
    expect(renderSentence({ direct, reprise: reusing })).toMatch(
      /^Through reprise the engine computed 68\.5 % less, .*: tokens .*, hit ratio 10\.0 % → 2\.0 %, reused at any position 1\.0 % → 70\.0 %, median/,
    )
    const exact = { ...direct, reused_tokens: 0 }
    expect(renderSentence({ direct: exact, reprise: exact })).not.toMatch(/any position/)
  })
})
