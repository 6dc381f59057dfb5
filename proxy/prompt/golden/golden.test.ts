import { expect, it } from 'vitest'
import { searchMessage } from '../find-contexts.ts'
import { readPromptBody } from '../formats/read-prompt-body.ts'
import { type GoldenCase, goldenCases } from './golden-texts.fixture.ts'

/** What is found in each message: the blocks of each list, `#` where their labels count up. */
function describeFinds({ messages }: GoldenCase): string {
  const { set } = readPromptBody('chat_completions', Buffer.from(JSON.stringify({ model: 'm', messages })))!
  const texts = set!.texts.map(({ text }) => text)
  const finds = set!.prompts[0]!.messages.flatMap((message) => {
    return searchMessage(message, texts)
      .contexts.filter(({ isResult }) => !isResult)
      .map(({ slots, positional }) => `${slots.length}${positional ? '#' : ''}`)
  })
  return finds.join(' ') || '-'
}

it('finds what it found before, in every text', async () => {
  const lines = [...goldenCases()].map((one) => `${describeFinds(one)}\t${one.name}\n`)
  await expect(lines.join('')).toMatchFileSnapshot('./found.golden.txt')
})
