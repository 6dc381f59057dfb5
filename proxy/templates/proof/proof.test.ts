import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { Proof, type ProofSample } from './proof.ts'

const same = (tokens: number, logprob = -0.05): number[] => Array.from({ length: tokens }, () => logprob)

/** A sample in which each token loses so much by the other order, and nothing by the harmless change. */
function losing(...losses: number[]): ProofSample {
  const sent = same(losses.length)
  return { sent, rewritten: sent.map((logprob, i) => logprob - losses[i]!), harmless: sent }
}

function proofOf(samples: readonly ProofSample[]): Proof {
  const proof = new Proof()
  for (const sample of samples) proof.add(sample)
  return proof
}

const repeat = (sample: ProofSample, times: number): Proof => proofOf(Array.from({ length: times }, () => sample))
const logprobs = fc.double({ min: -30, max: 0, noNaN: true })
const samples = fc
  .integer({ min: 1, max: 12 })
  .chain((length) =>
    fc.array(fc.array(logprobs, { minLength: length, maxLength: length }), { minLength: 3, maxLength: 3 }),
  )
  .map(([sent, rewritten, harmless]) => ({ sent, rewritten, harmless }) as ProofSample)

describe('Proof', () => {
  test('proves that an order means nothing if no answer becomes less likely', () => {
    const sample = losing(...Array(20).fill(0))
    expect(repeat(sample, 11).verdict).toBe('undecided')
    expect(repeat(sample, 12).verdict).toBe('proved')
  })

  test('refutes it if the answers are those of the order, soon', () => {
    // one line for each document: the first token of each line is another one in another order
    const line = [6, 0.1, 0, 0.2]
    const sample = losing(...line, ...line, ...line)
    expect(repeat(sample, 3).verdict).toBe('undecided')
    expect(repeat(sample, 4).verdict).toBe('refuted')
    expect(repeat(sample, 100).verdict).toBe('refuted')
  })

  test('decides nothing from answers of a few tokens', () => {
    expect(repeat(losing(0, 0), 8).verdict).toBe('undecided')
    expect(repeat(losing(0, 0), 8).figures).toMatchObject({ samples: 8, tokens: 16 })
    expect(repeat(losing(7), 10).verdict).toBe('undecided')
  })

  test('decides nothing if only some answers are those of the order', () => {
    const free = losing(...Array(20).fill(0.05))
    const bound = losing(...Array(20).fill(0.05).with(3, 8))
    const mixed = proofOf(Array.from({ length: 12 }, (_, i) => (i % 4 === 0 ? bound : free)))
    expect(mixed.verdict).toBe('undecided')
    expect(mixed.figures.worst.high).toBeGreaterThan(1)
  })

  const free = losing(...Array(20).fill(0.02))
  // the name of another document, and nothing else
  const bound = losing(8, 0, 0)
  const everyNth = (n: number, count: number): Proof => {
    return proofOf(Array.from({ length: count }, (_, i) => (i % n === n - 1 ? bound : free)))
  }

  test.each([10, 25])('proves nothing, from however many samples, once one answer in %i was that of the order', (n) => {
    const proof = new Proof()
    const verdicts = Array.from({ length: 2_000 }, (_, i) => {
      proof.add(i % n === n - 1 ? bound : free)
      return proof.verdict
    })
    expect(verdicts.slice(n - 1)).not.toContain('proved')
  })

  test('refutes it in the end if more answers than may be are those of the order, however short', () => {
    expect(everyNth(8, 200).verdict).toBe('refuted')
    expect(everyNth(8, 200).figures.worst.low).toBeLessThan(1)
  })

  test('proves it in spite of an answer that would be another one by chance, from more samples', () => {
    expect(everyNth(40, 60).verdict).toBe('undecided')
    expect(proofOf([bound, ...Array(98).fill(free)]).verdict).toBe('undecided')
    expect(proofOf([bound, ...Array(99).fill(free)]).verdict).toBe('proved')
  })

  test('what came long ago weighs less', () => {
    const proof = repeat(free, 100_000)
    expect(proof.verdict).toBe('proved')
    for (let i = 0; i < 60; i++) proof.add(i % 3 === 0 ? bound : free)
    expect(proof.verdict).not.toBe('proved')
  })

  test('is not refuted by what the harmless change costs as well', () => {
    const sample = losing(...Array(20).fill(0.5))
    expect(repeat(sample, 10).verdict).toBe('refuted')
    expect(repeat({ ...sample, harmless: sample.rewritten }, 12).verdict).toBe('proved')
  })

  test('gives short answers little weight', () => {
    const proof = repeat(losing(...Array(40).fill(0)), 8)
    const before = proof.figures.loss.mean
    proof.add(losing(8))
    expect(proof.figures.loss.mean - before).toBeLessThan(0.05)
  })

  test('ignores samples about different tokens, and what is no number', () => {
    const proof = new Proof()
    expect(proof.add({ sent: [], rewritten: [], harmless: [] })).toBe(false)
    expect(proof.add({ sent: [-1, -1], rewritten: [-1], harmless: [-1, -1] })).toBe(false)
    expect(proof.add({ sent: [-1], rewritten: [-1], harmless: [-1, -1] })).toBe(false)
    expect(proof.add({ sent: [Number.NaN], rewritten: [-1], harmless: [-1] })).toBe(false)
    expect(proof.toRecord()).toEqual(new Proof().toRecord())
  })

  test('figures are finite, whatever is observed, and the mean is in its interval', () => {
    fc.assert(
      fc.property(fc.array(samples, { minLength: 2, maxLength: 30 }), (observed) => {
        const { loss, worst } = proofOf(observed).figures
        for (const { mean, low, high } of [loss, worst]) {
          expect(Number.isFinite(mean)).toBe(true)
          expect(low).toBeLessThanOrEqual(mean)
          expect(high).toBeGreaterThanOrEqual(mean)
        }
      }),
    )
  })

  test('a record restores it, through JSON, and it goes on as if it had not been stored', () => {
    fc.assert(
      fc.property(fc.array(samples, { maxLength: 30 }), samples, (observed, next) => {
        const proof = proofOf(observed)
        const restored = Proof.fromRecord(JSON.parse(JSON.stringify(proof.toRecord())))!
        proof.add(next)
        restored.add(next)
        expect(restored.figures).toEqual(proof.figures)
        expect(restored.verdict).toBe(proof.verdict)
      }),
    )
  })

  test('a record that does not tell how many answers were those of the order tells nothing', () => {
    const { dependent: _, ...before } = repeat(free, 100).toRecord()
    expect(Proof.fromRecord(before)!.figures.samples).toBe(0)
  })

  test('a record that is none is refused', () => {
    const record = repeat(losing(0.1, 0.2), 9).toRecord()
    expect(Proof.fromRecord(record)).toBeDefined()
    const [weights, squares] = record.loss
    for (const broken of [
      ...[undefined, null, [], 'x', { ...record, samples: -1 }, { ...record, samples: 1.5 }, { ...record, tokens: 3 }],
      ...[
        { ...record, samples: 0 },
        { ...record, loss: [1, 1, 0] },
        { ...record, loss: [1, 1, 0, Number.NaN] },
      ],
      ...[
        { ...record, loss: [weights, squares, 1e9, 0] },
        { ...record, worst: [weights, squares, 0, -1] },
      ],
      ...[
        { ...record, worst: [1e9, squares, 0, 0] },
        { ...record, worst: [0, 0, 0, 0] },
        { ...record, dependent: 10 },
        { ...record, dependent: -1 },
      ],
    ])
      expect(Proof.fromRecord(broken), JSON.stringify(broken)).toBeUndefined()
  })

  test('takes no more space for a million samples', () => {
    const proof = repeat(losing(0.1, 0.3), 100_000)
    expect(JSON.stringify(proof.toRecord()).length).toBeLessThan(300)
    expect(proof.figures.loss.mean).toBeCloseTo(0.2)
  })
})
