import { describe, expect, it } from 'vitest'
import { findContexts } from './contexts.fixture.ts'

/** Returns how many blocks are found in each list of a message of the user. */
function countsIn(text: string): number[] {
  const message = { role: 'user', texts: [0], rest: '', isTextOnly: true }
  return findContexts(message, [text]).map(({ slots }) => slots.length)
}

describe('what an agent observed, handed over in a message of the user', () => {
  const documents =
    'Retrieved documents:\n\n\n===== Document 0 =====\n# Rain\n\nIt rained.\n\nAll day.\n\n===== Document 1 =====\n# Sun\n\nIt shone.'

  it('ends with its last document, because the question came before', () => {
    expect(countsIn(`Observation:\n${documents}`)).toEqual([2])
    expect(countsIn(`Tool response:\n${documents}`)).toEqual([2])
  })

  it('is left alone where words to the model may follow, and elsewhere', () => {
    expect(countsIn(`Observation:\n${documents}\n\nRely on the documents above only.`)).toEqual([])
    expect(countsIn(documents)).toEqual([])
    expect(countsIn(`Observations of the week:\n${documents}`)).toEqual([])
  })
})
