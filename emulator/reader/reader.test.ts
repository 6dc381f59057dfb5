import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { renderChat } from '../text/chat-template.ts'
import { PromptTokens, Tokenizer } from '../text/tokenizer.ts'
import { Reader, type ReaderModel, readBlocks, readerModels, writeAnswer } from './reader.ts'

const tokenizer = new Tokenizer()
const reader = new Reader(tokenizer)
const documents = [
  'The ferry leaves at nine.',
  'Dogs travel free of charge.',
  'The crossing takes two hours, in winter three.',
]
const question = 'Question: How long does the crossing take in winter?'

function chat(texts: readonly string[], answer?: string): Uint32Array {
  const prompt = new PromptTokens(Number.POSITIVE_INFINITY)
  const messages = [{ role: 'user', content: [...texts, question].join('\n\n') }]
  if (answer !== undefined) messages.push({ role: 'assistant', content: answer })
  renderChat({ messages, continue_final_message: answer !== undefined }, tokenizer, prompt)
  return prompt.toArray()
}

function encode(text: string): Uint32Array {
  const prompt = new PromptTokens(Number.POSITIVE_INFINITY)
  tokenizer.encode(text, prompt)
  return prompt.toArray()
}

function say(model: ReaderModel, prompt: Uint32Array): string {
  const said = reader.continue(model, prompt)
  return Array.from({ length: said.length }, (_, i) => said.text(i)).join('')
}

describe('readBlocks', () => {
  it.each([
    ['paragraphs', documents.join('\n\n')],
    ['numbers', documents.map((text, i) => `[${i + 1}] ${text}`).join('\n')],
    ['names', documents.map((text, i) => `Document ${i + 1}: ${text}`).join('\n\n')],
    ['tags', documents.map((text, i) => `<document index="${i + 1}">\n${text}\n</document>`).join('\n')],
    ['bullets', documents.map((text) => `- ${text}`).join('\n')],
  ])('reads blocks marked by %s, without the marks, the head and the question', (_, list) => {
    expect(readBlocks(`Use these documents:\n\n${list}\n\n${question}`)).toEqual({ blocks: documents, question })
  })

  it('takes a prompt of one paragraph for a question', () => {
    expect(readBlocks('Hello?')).toEqual({ blocks: [], question: 'Hello?' })
    expect(readBlocks('')).toEqual({ blocks: [], question: '' })
  })
})

describe('Reader', () => {
  it('quotes the block that answers, in any order', () => {
    const orders = fc.shuffledSubarray(documents, { minLength: documents.length })
    fc.assert(
      fc.property(orders, (texts) => {
        expect(say('reader-content', chat(texts))).toBe(documents[2])
      }),
    )
  })

  it('gives the first words of each block in their order', () => {
    expect(say('reader-place', chat(documents))).toBe('The ferry leaves\nDogs travel free\nThe crossing takes')
  })

  it.each(readerModels)('%s goes on with an answer where it stands, and then ends', (model) => {
    const answer = say(model, chat(documents))
    const tokens = [...encode(answer)]
    for (let at = 0; at < tokens.length; at++) {
      const begun = Uint32Array.from([...chat(documents, ''), ...tokens.slice(0, at)])
      expect(reader.continue(model, begun).token(0)).toBe(tokens[at])
    }
    expect(say(model, chat(documents, answer))).toBe('')
  })

  it.each(readerModels)('%s finds likely what it said to the same prompt, whole or in a text', (model) => {
    const scored = (prompt: Uint32Array): number[] => reader.score(model, prompt).map(({ logprob }) => logprob)
    const inChat = say(model, chat(documents))
    const answered = scored(chat(documents, inChat))
    const length = encode(inChat).length
    expect(answered.slice(-length)).toEqual(Array(length).fill(-0.05))
    expect(answered.slice(0, -length)).toEqual(Array(answered.length - length).fill(-6))
    const text = `${documents.join('\n\n')}\n\n${question}\nAnswer:`
    const said = say(model, encode(text))
    const inText = scored(encode(text + said))
    expect(inText.slice(-encode(said).length)).toEqual(Array(encode(said).length).fill(-0.05))
    expect(inText.filter((logprob) => logprob > -1)).toHaveLength(encode(said).length)
  })

  it('finds another order unlikely only where it says the order', () => {
    const worst = (model: ReaderModel): number => {
      const tokens = reader.score(model, chat(documents.toReversed(), say(model, chat(documents))))
      return Math.min(...tokens.slice(-5).map(({ logprob }) => logprob))
    }
    expect(worst('reader-content')).toBe(-0.05)
    expect(worst('reader-place')).toBe(-6)
  })

  it('names what it would say among alternatives, once', () => {
    const prompt = chat(documents)
    const alternatives = reader.alternatives('reader-content', prompt, 5)
    expect(alternatives[0]).toMatchObject({ id: reader.continue('reader-content', prompt).token(0), logprob: -0.05 })
    expect(new Set(alternatives.map(({ id }) => id)).size).toBe(5)
  })

  it('reads any tokens', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(2 ** 31 - 1), { minLength: 1, maxLength: 40 }), (ids) => {
        for (const model of readerModels) {
          expect(reader.continue(model, Uint32Array.from(ids)).length).toBeGreaterThan(0)
          expect(reader.score(model, Uint32Array.from(ids))).toHaveLength(ids.length)
        }
      }),
    )
  })

  it('says the same in two blocks of equal worth, whatever their order', () => {
    const equal = ['Alpha beta gamma.', 'Gamma beta alpha.']
    const answer = writeAnswer('reader-content', { blocks: equal, question: 'beta?' })
    expect(writeAnswer('reader-content', { blocks: equal.toReversed(), question: 'beta?' })).toBe(answer)
  })
})
