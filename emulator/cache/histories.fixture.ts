import fc from 'fast-check'

/** A prompt as a cache sees it. */
export interface SentPrompt {
  readonly salt: string
  readonly tokens: Uint32Array
}

/** Returns `count` tokens, at most 1,000, that no other seed has. */
export function run(seed: number, count: number): number[] {
  return Array.from({ length: count }, (_, i) => seed * 1_000 + i)
}

/** Generates up to `maxLength` prompts of blocks of many lengths, each with its own question, as in a replay. */
export function historiesOf(maxLength: number): fc.Arbitrary<SentPrompt[]> {
  const request = fc.record({
    salt: fc.constantFrom('red', 'red', 'blue'),
    blocks: fc.array(fc.nat(4), { maxLength: 5 }),
    question: fc.integer({ min: 1, max: 6 }),
  })
  return fc.array(request, { maxLength }).map((requests) =>
    requests.map(({ salt, blocks, question }, number) => ({
      salt,
      tokens: Uint32Array.from([
        ...blocks.flatMap((block) => run(1 + block, [3, 4, 7, 11, 16][block]!)),
        ...run(100 + number, question),
      ]),
    })),
  )
}
