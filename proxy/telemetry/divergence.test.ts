import { expect, test } from 'vitest'
import { Divergence, divergentTokens } from './divergence.ts'

const request = { estimated: 100, exact: 96, mostEstimated: 100, reported: 96 }

test('a prediction that is right to the token is off only where it was an estimate', () => {
  expect(divergentTokens(request)).toEqual({ total: 0, stale_index: 0, routing: 0, tokenisation: 4 })
})

test('what the engine lost unseen is blamed on a stale index', () => {
  expect(divergentTokens({ ...request, reported: 32 })).toMatchObject({ total: 64, stale_index: 64, tokenisation: 4 })
})

test('what another replica holds is blamed on routing, and is no part of the total', () => {
  expect(divergentTokens({ ...request, mostEstimated: 400 })).toMatchObject({ total: 0, routing: 300 })
})

test('without tokens all that is off is blamed on them', () => {
  const off = divergentTokens({ ...request, exact: undefined, reported: 32 })
  expect(off).toEqual({ total: 68, stale_index: 0, routing: 0, tokenisation: 68 })
})

test('the means of each replica follow its latest requests', () => {
  const divergence = new Divergence()
  expect(divergence.get('a')).toBeUndefined()
  divergence.note('a', divergentTokens({ ...request, reported: 32 }))
  divergence.note('a', divergentTokens(request))
  expect(divergence.get('a')).toMatchObject({ total: 62, stale_index: 62, tokenisation: 4 })
})
