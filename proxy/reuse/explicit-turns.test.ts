import fc from 'fast-check'
import { beforeEach, describe, expect, test } from 'vitest'
import { assistantMessage as assistant, type Message, Sender } from '../request/sender.fixture.ts'

const asked: Message = { role: 'user', content: '{{context}}\n\nQuestion: what is my balance?' }
const blocks = (...texts: string[]): object[] => texts.map((text) => ({ text }))

let sender: Sender
beforeEach(() => {
  sender = new Sender()
})

/** What the engine gets of a chat, as one text. */
function sent(body: object, options: { conversation?: string; tenant?: string } = {}): string {
  return JSON.stringify(sender.sendBody(body, options))
}

describe('blocks that one user gives', () => {
  const secret = 'The balance of Ada is 1,234 guilders.'
  const given = { messages: [asked], reprise: { blocks: blocks(secret, 'The bank opens at nine.') } }
  const history = [asked, assistant('x'), { role: 'user', content: 'Tell me more.' }]

  test.each([
    ['asked at once', [asked]],
    ['asked as a past turn', history],
  ])('are not sent to another user of the tenant who says the same words: %s', (_, messages) => {
    sent(given)
    expect(sent({ messages })).not.toContain(secret)
    expect(sent({ messages, cache_salt: 'mine' })).not.toContain(secret)
    expect(sent({ messages }, { conversation: 'c' })).not.toContain(secret)
  })

  test('without a conversation nothing of them is remembered, and a past turn says so', () => {
    expect(sender.decide(given).turns.size).toBe(0)
    sent(given)
    const decision = sender.decide({ messages: history })
    expect([decision.skipped, decision.body]).toEqual(['unknown_turn', undefined])
  })

  test('come back in a later turn of their conversation, under the same salt only', () => {
    for (const salt of ['a', undefined]) {
      sent({ ...given, cache_salt: salt }, { conversation: 'c' })
      expect(sent({ messages: history, cache_salt: salt }, { conversation: 'c' })).toContain(secret)
    }
    for (const salt of ['b', '', ['a'], 'null']) {
      const decision = sender.decide({ messages: history, cache_salt: salt }, { conversation: 'c' })
      expect([decision.skipped, decision.body]).toEqual(['unknown_turn', undefined])
    }
  })
})

test('a past turn only ever gets blocks that its own tenant, conversation and salt gave', () => {
  const name = fc.constantFrom(undefined, 'a', 'b')
  const who = fc.record({ tenant: fc.constantFrom('t', 'u'), conversation: name, salt: name })
  fc.assert(
    fc.property(fc.array(fc.tuple(who, fc.boolean()), { maxLength: 12 }), (steps) => {
      sender = new Sender()
      const own = ({ tenant, conversation, salt }: (typeof steps)[0][0]): string => `${tenant}/${conversation}/${salt}.`
      for (const [one, gives] of steps) {
        const { tenant, conversation, salt } = one
        const messages = gives ? [asked] : [asked, assistant('x'), { role: 'user', content: 'More?' }]
        const reprise = gives ? { blocks: blocks(`Only for ${own(one)}`, 'For all.') } : undefined
        const text = sent({ messages, reprise, cache_salt: salt }, { tenant, ...(conversation && { conversation }) })
        for (const [, owner] of text.matchAll(/Only for (\S+\.)/g)) expect(owner).toBe(own(one))
      }
    }),
    { numRuns: 200 },
  )
})
