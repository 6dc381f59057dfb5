import { describe, expect, test } from 'vitest'
import { judgeTemplate } from './judge-template.ts'
import { markedTemplates, nonsenseTemplate } from './marked-templates.ts'
import { Random } from './random.ts'
import { hasTraces, readTrace } from './traces.ts'

/* Needs real traces, as in streams.long.test.ts. */

const timeout = 900_000

describe.skipIf(!hasTraces)('borders learnt from prompts of real texts', () => {
  // all of them on all traces: `npm run bench:templates`
  test.each([
    ['rag_cookbook_docs', markedTemplates],
    ['rag_cookbook_code', markedTemplates.filter((_, i) => i % 4 < 2)],
    ['rag_hotpot', markedTemplates.filter((_, i) => i % 4 >= 2)],
  ] as const)(
    '%s: nearly all marked templates are learnt, and nothing is cut wrongly',
    (trace, templates) => {
      const rows = readTrace(trace, { limit: 100 })
      const judged = templates.map((template) => ({ name: template.name, ...judgeTemplate(rows, template) }))
      expect(judged.filter(({ errors }) => errors > 0)).toEqual([])
      // the others have numbers of a form that is not mapped back
      expect(judged.filter(({ learntAt }) => learntAt === undefined).length).toBeLessThanOrEqual(judged.length / 5)
      const [reordered, requests] = [sum(judged.map((own) => own.reordered)), sum(judged.map((own) => own.requests))]
      expect(reordered / requests).toBeGreaterThan(0.95)
    },
    timeout,
  )

  test.each([7])(
    'templates whose labels mean nothing, seed %i: 30 of 36 are learnt, and nothing is cut wrongly',
    (seed) => {
      const random = new Random(seed)
      const judged = Array.from({ length: 36 }, (_, n) => {
        const rows = readTrace(n < 18 ? 'rag_cookbook_code' : 'rag_hotpot', { limit: 120 })
        return judgeTemplate(rows, nonsenseTemplate(random, n))
      })
      expect(judged.filter(({ errors }) => errors > 0)).toEqual([])
      expect(judged.filter(({ learntAt }) => learntAt !== undefined).length).toBeGreaterThanOrEqual(30)
    },
    timeout,
  )
})

function sum(counts: readonly number[]): number {
  return counts.reduce((total, count) => total + count, 0)
}
