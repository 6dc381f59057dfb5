import { describe, expect, it } from 'vitest'
import { fitTurns } from './fit-turns.ts'

const countTokens = async (messages: readonly { content: string }[]): Promise<number> =>
  messages.reduce((total, message) => total + message.content.split(/\s+/).length, 0)

const block = (id: string): { id: string; text: string } => ({ id, text: Array(200).fill(id).join(' ') })

function turn(id: string, blocks: number, conversation?: string) {
  const ids = Array.from({ length: blocks }, (_, at) => `${id}${at}`)
  return { id, conversation, tenant: undefined, question: 'Why?', blocks: ids.map(block) }
}

describe('fitTurns', () => {
  const model = { name: 'm', positions: 1000, countTokens }

  it('leaves turns that fit as they are', async () => {
    const turns = [turn('a', 2), turn('b', 3)]
    expect(await fitTurns(turns, model, 16)).toEqual({ turns, shortened: 0, leftOut: 0 })
  })

  it('takes the least relevant blocks away until a prompt fits, and counts it', async () => {
    const fitted = await fitTurns([turn('a', 9)], model, 16)
    expect(fitted).toMatchObject({ shortened: 1, leftOut: 0 })
    expect(fitted.turns[0]?.blocks.map(({ id }) => id)).toEqual(['a0', 'a1', 'a2', 'a3'])
  })

  it('counts the history of a conversation, and leaves out what no longer fits at all', async () => {
    const turns = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'].map((id) => turn(id, 2, 'c'))
    const fitted = await fitTurns(turns, model, 16)
    expect(fitted.turns[0]?.blocks).toHaveLength(2)
    expect(fitted.turns.slice(1).every(({ blocks }) => blocks.length < 2)).toBe(true)
    expect(fitted.leftOut).toBeGreaterThan(0)
    expect(fitted.turns.length + fitted.leftOut).toBe(turns.length)
  })
})
