import fc from 'fast-check'
import { expect, test } from 'vitest'
import { Sender, userMessage } from '../sender.fixture.ts'
import { locateBlocks } from './locate-borders.ts'

const system = { role: 'system', content: 'Answer from the documents, briefly.' }

/** A prompt as a chat template renders it, in tokens of a few characters, in the alphabet of byte-level tokenizers. */
function tokensOf(messages: readonly { content: unknown }[]): string[] {
  const text = messages.map(({ content }) => `<|im_start|>${content}<|im_end|>\n`).join('')
  const written = text.replaceAll(' ', 'Ġ').replaceAll('\n', 'Ċ')
  return written.match(/<\|\w+\|>|Ġ?\w{1,3}|./gu)!
}

function locate(blocks: readonly string[], question: string, sender = new Sender()) {
  const messages = [system, userMessage(question, ...blocks)]
  const { contexts, worlds, body } = sender.decide({ messages }, {})
  const sent = body === undefined ? messages : JSON.parse(body).messages
  const tokens = tokensOf(sent)
  return { tokens, ...locateBlocks(tokens, contexts[0]!, worlds!.texts) }
}

const words = (name: string): string => Array.from({ length: 30 }, (_, i) => `${name}${i}`).join(' ')

test('borders lie where blocks end, in tokens, and before the first one', () => {
  const { tokens, start, ends } = locate(['alpha', 'beta', 'gamma'].map(words), 'Why?')
  const before = ends.map((count) => tokens.slice(0, count).join('').replaceAll('Ġ', ' '))
  expect(before.map((text) => text.split(' ').at(-1))).toEqual(['alpha29', 'beta29', 'gamma29'])
  expect(tokens.slice(0, start).join('')).toContain('briefly.')
  expect(tokens.slice(0, start).join('')).not.toContain('alpha')
})

test('never more tokens than two prompts have in common that share the blocks up to there', () => {
  const names = fc.uniqueArray(fc.constantFrom('alpha', 'beta', 'gamma', 'delta', 'eta'), {
    minLength: 2,
    maxLength: 5,
  })
  fc.assert(
    fc.property(names, fc.nat(4), (own, at) => {
      const shared = Math.min(at, own.length - 1)
      const other = [...own.slice(0, shared), 'zeta', 'theta']
      const [one, two] = [own, other].map((list, i) => locate(list.map(words), `Question ${i}?`))
      let common = 0
      while (one!.tokens[common] === two!.tokens[common]) common++
      const border = shared === 0 ? one!.start : one!.ends[shared - 1]
      expect(border).toBeLessThanOrEqual(common)
      expect(border).toBeGreaterThan(common - 30)
    }),
  )
})

test('a text that the template has changed has no position', () => {
  const messages = [system, userMessage('Why?', words('alpha'), words('beta'))]
  const { contexts, worlds } = new Sender().decide({ messages }, {})
  const upper = tokensOf([{ content: String(messages[1]!.content).replaceAll('beta', 'BETA') }])
  const { ends } = locateBlocks(upper, contexts[0]!, worlds!.texts)
  expect(ends[1]).toBeUndefined()
})
