import fc from 'fast-check'
import { describe, expect, it, test } from 'vitest'
import { CitationLabels, type CitationMap } from '../answer/citations/citation-labels.ts'
import { mapCitations } from '../answer/citations/map-citations.ts'
import { assistantMessage, type Message, Sender, type SendOptions, userMessage } from '../request/sender.fixture.ts'

const [mills, salt, ferry, hives] = [
  'The Orm valley has eleven mills, and the oldest of them was built by two sisters.',
  'Salt from Karvik is grey, since the pans are lined with slate; traders called it smoke salt, and paid less for it.',
  'The ferry to Linholm leaves at noon, except on days of fog.',
  'Beekeepers of Tessin paint their hives in pairs of colours.',
]
const user = (content: string): Message => ({ role: 'user', content })
const bare = (...texts: string[]): Message =>
  user(`<documents>\n${texts.map((text) => `<document>${text}</document>\n`).join('')}</documents>\n\nQuestion: why?`)
const listOf = (...texts: string[]): Message =>
  user(`<documents>\n${texts.map((text, i) => `<document index="${i + 1}">${text}</document>\n`).join('')}</documents>`)
const held = userMessage('why?', mills, salt, ferry, hives)
const turn = userMessage('why?', ferry, mills, hives, salt)

/** A sender whose engine holds the documents in another order than `turn` has. */
function sendTurn(options: SendOptions = {}): { sender: Sender; sent: Message; map: CitationMap } {
  const sender = new Sender()
  sender.send([held], options)
  const [map] = sender.decide({ messages: [turn] }, options).citations
  const [sent] = sender.send([turn], options)
  expect(sent).not.toEqual(turn)
  return { sender, sent: sent!, map: map! }
}

function mapBack(text: string, map: CitationMap): string {
  return mapCitations(new CitationLabels(map), text)
}

// salt is document 4 as received, and document 2 as sent
const said = 'It is slate [2], says document 2 [1, 3].'

describe('what later turns say is sent in the labels that the engine reads', () => {
  it('an answer that was mapped back is sent as the engine wrote it', () => {
    const { sender, sent, map } = sendTurn()
    const shown = mapBack(said, map)
    expect(shown).toBe('It is slate [4], says document 4 [2, 1].')
    const again = sender.send([turn, assistantMessage(shown), user('Why?')])
    expect(again).toEqual([sent, assistantMessage(said), user('Why?')])
  })

  it.each([
    ['What does document 4 say?', 'What does document 2 say?'],
    ['Is [4] right? And [1, 3]?', 'Is [2] right? And [3, 4]?'],
    ['Compare sources 4 and 2.', 'Compare sources 2 and 1.'],
    ['Quote passage #4 of 2019.', 'Quote passage #2 of 2019.'],
  ])('%j', (words, translated) => {
    const { sender, sent } = sendTurn()
    expect(sender.send([turn, assistantMessage('So.'), user(words)])).toEqual([
      sent,
      assistantMessage('So.'),
      user(translated),
    ])
  })

  it('again in every later request, and after a restart', () => {
    const { sender, map } = sendTurn()
    const messages = [turn, assistantMessage(mapBack(said, map)), user('What does document 4 say?')]
    const first = sender.send(messages)
    const restarted = new Sender()
    for (const each of [sender, Object.assign(restarted, { store: sender.store })]) {
      const second = each.send([...messages, assistantMessage('Salt [4].'), user('Thanks.')])
      expect(second.slice(0, 3)).toEqual(first)
      expect(second[3]).toEqual(assistantMessage('Salt [2].'))
    }
  })

  it('and the answer is mapped with the same labels', () => {
    const { sender, map } = sendTurn()
    const { citations } = sender.decide({ messages: [turn, assistantMessage('So.'), user('Why?')] })
    expect(citations).toEqual([map])
  })

  it('in a prompt that the client rendered, too', () => {
    const rendered = (message: Message, ...more: string[]): { prompt: string } => ({
      prompt: `<|im_start|>user\n${message.content}<|im_end|>\n<|im_start|>assistant\n${more.join('')}`,
    })
    const sender = new Sender()
    const options = { api: 'completions' } as const
    sender.sendBody(rendered(held), options)
    const { prompt } = sender.sendBody(rendered(turn), options)
    expect(prompt).not.toBe(rendered(turn).prompt)
    const more = (shown: string, asked: string): string =>
      `${shown}<|im_end|>\n<|im_start|>user\n${asked}<|im_end|>\n<|im_start|>assistant\n`
    const again = sender.sendBody(rendered(turn, more('Slate [4].', 'And document 1?')), options)
    expect(again.prompt).toBe(prompt + more('Slate [2].', 'And document 3?'))
    const counted = rendered(turn, more('Slate [4].', 'And the second document?'))
    expect(sender.sendBody(counted, options)).toEqual(counted)
  })

  test('for every answer', () => {
    const part = fc.constantFrom(
      ...['[1]', '[2, 3]', '【4】', '[^2]', '[1–3]', 'document 4', '(Source 3)', '[citation:2]', 'sources 1 and 4'],
      ...[' so ', '. ', ', ', '\n', '`[2]`', 'x[3]', '7', 'in 2019 ', '[9]', '[4]: https://a.example\n'],
    )
    fc.assert(
      fc.property(fc.array(part, { maxLength: 12 }), (parts) => {
        const { sender, sent, map } = sendTurn()
        const answer = `A ${parts.join(' ')}`
        const again = sender.send([turn, assistantMessage(mapBack(answer, map)), user('Why?')])
        expect(again).toEqual([sent, assistantMessage(answer), user('Why?')])
      }),
      { numRuns: 100 },
    )
  })
})

describe('a conversation goes as the client wrote it from then on', () => {
  const answered = [turn, assistantMessage('It is slate [4].')]

  it.each([
    ['if blocks are counted', 'What does the fourth one say?'],
    ['if blocks are counted from the end', 'Summarise the last document.'],
    ['if blocks are counted in another language', 'Was sagt das zweite Dokument?'],
    ['if a bare number may be a label', 'And 4?'],
    ['if a number has other digits', 'And ４?'],
    ['if each block gets a value of its own', 'Give each document a score from 0 to 9, separated by commas.'],
    ['if an answer that is data may cite', 'Answer as a JSON array.'],
    ['if citations in another form are asked for', 'Cite your sources as {1}.'],
    ['if blocks are ranked', 'Rank the documents.'],
    ['if their order is asked about', 'In what order did I give you the documents?'],
    ['if their order decides', 'The later ones are right where they contradict.'],
    ['if a block is asked for that may be named by its place', 'Which document says so?'],
    ['if as many texts as blocks follow', 'Assign them:\n1. Orm\n2. Karvik\n3. Linholm\n4. Tessin'],
  ])('%s', (_, words) => {
    const { sender } = sendTurn()
    const messages = [...answered, user(words)]
    expect(sender.send(messages)).toEqual(messages)
    expect(sender.decide({ messages }).citations).toEqual([])
    const more = [...messages, assistantMessage('Salt [4].'), user('What does document 4 say?')]
    expect(sender.send(more)).toEqual(more)
  })

  it.each(['And the fourth one?', 'Rank the documents.'])('if nothing is mapped, too: %s', (words) => {
    const options = { options: { citations: false } }
    const { sender } = sendTurn(options)
    const messages = [...answered, user(words)]
    expect(sender.send(messages, options)).toEqual(messages)
  })

  it('if the rules of a named conversation change', () => {
    const sender = new Sender()
    const options = { conversation: 'agent' }
    const rules = (content: string): Message => ({ role: 'system', content })
    sender.send([rules('Answer.'), held], options)
    const messages = [rules('Rank the documents.'), turn, assistantMessage('So.'), user('Why?')]
    expect(sender.send([rules('Answer.'), turn], options)[1]).not.toEqual(turn)
    expect(sender.send(messages, options)).toEqual(messages)
  })

  it('if the number may be that of two lists', () => {
    const { sender, sent } = sendTurn()
    const second = userMessage('and?', 'Rain fell over the hills of Orm.', 'Snow lies on the pass.')
    const messages = [...answered, second, assistantMessage('Rain [1].')]
    expect(sender.send([...messages, user('Thanks.')])[0]).toEqual(sent)
    const other = [...messages, user('And what about [2]?')]
    expect(sender.send(other)[0]).toEqual(turn)
  })

  it('if the label that a number is sent as may be that of two lists', () => {
    const { sender } = sendTurn()
    const second = userMessage('and?', 'Rain fell over the hills of Orm.', 'Snow lies on the pass.')
    const messages = [...answered, second, assistantMessage('Rain [1].'), user('And what about [4]?')]
    expect(sender.send(messages).slice(0, 2)).toEqual(answered)
  })

  it.each([
    ['an answer that is data', { response_format: { type: 'json_object' } }],
    ['calls of tools', { tools: [{ type: 'function', function: { name: 'open' } }] }],
  ])('if it asks for %s', (_, members) => {
    const { sender } = sendTurn()
    const body = { messages: [...answered, user('Why?')], ...members }
    expect(sender.sendBody(body)).toEqual(body)
  })

  it.each([
    ['numbers of documents are data', { response_format: { type: 'json_object' } }, turn],
    ['values of documents are data', { response_format: { type: 'json_object' } }, bare(ferry, mills, hives, salt)],
    ['the answer is begun', { suffix: 'So.' }, turn],
  ])('if the same turn is asked again where %s', (_, members, message) => {
    const sender = new Sender()
    sender.send([held])
    sender.send([bare(mills, salt, ferry, hives)])
    expect(sender.send([message])).not.toEqual([message])
    const body = { messages: [message], ...members }
    expect(sender.sendBody(body)).toEqual(body)
    expect(sender.decide(body).citations).toEqual([])
  })

  it.each(['What does the second document say?', 'And document 2?', 'Rank the documents.', 'Which document says so?'])(
    'if the documents are in a message of their own, and something else is asked behind it: %s',
    (words) => {
      const sender = new Sender()
      const [first, second] = [listOf(mills, salt, ferry, hives), listOf(ferry, mills, hives, salt)]
      sender.send([first, user('Why?')])
      const sent = sender.send([second, user('Why?')])
      expect(sent[0]).not.toEqual(second)
      expect(sender.send([second, user('Why?'), assistantMessage('So.'), user('And then?')])[0]).toEqual(sent[0])
      const messages = [second, user(words)]
      expect(sender.send(messages)).toEqual(messages)
      // a call of a tool is no answer
      const called = [second, { ...assistantMessage(''), content: null, tool_calls: [] }, user(words)]
      sender.send([second, user('Why?')])
      expect(sender.send(called)).toEqual(called)
    },
  )

  it.each([
    { reasoning_content: 'document 4' },
    { reasoning_content: 'As [4] says, it is slate.' },
    { reasoning: 'Slate [1, 4].' },
  ])('if reasoning that cites is part of the history: %j', (members) => {
    const { sender } = sendTurn()
    const messages = [turn, { ...assistantMessage('It is slate [4].'), ...members }, user('Why?')]
    expect(sender.send(messages)).toEqual(messages)
  })

  it.each([{ reasoning_content: 'As [4] says, it is slate.' }, { reasoning: 'Slate: document 4.' }])(
    'if the list was never sent, and reasoning cites it: %j',
    (members) => {
      const [first, second] = [listOf(mills, salt, ferry, hives), listOf(ferry, mills, hives, salt)]
      const send = (messages: Message[]): unknown => {
        const sender = new Sender()
        sender.send([first, user('Why?')])
        return sender.send(messages)
      }
      const later = (more: object): Message[] => [second, { ...assistantMessage('Slate.'), ...more }, user('Why?')]
      expect(send(later(members))).toEqual(later(members))
      const uncited = later({ reasoning: 'Slate, by x[4].' })
      expect(send(uncited)).not.toEqual(uncited)
    },
  )

  it('but not if reasoning is part of it that cites nothing', () => {
    const { sender, sent } = sendTurn()
    const thought = { reasoning_content: 'It says slate, by x[4].' }
    expect(sender.send([turn, { ...assistantMessage('It is slate [4].'), ...thought }, user('Why?')])[0]).toEqual(sent)
  })

  it('with everything after the list, whose labels pointers name', () => {
    const { sender } = sendTurn()
    const second = userMessage('and?', salt, 'Snow lies on the pass of Orm all year, but for two days.')
    const messages = [...answered, second, assistantMessage('Snow [2].')]
    expect(sender.send(messages.slice(0, 3))[2]).not.toEqual(second)
    const counted = [...messages, user('And the last one?')]
    expect(sender.send(counted)).toEqual(counted)
  })
})

it('numbers in messages with lists of their own, in system messages before and with citations=keep stay', () => {
  const { sender, sent } = sendTurn()
  const second = userMessage('and? Cite as [1].', 'Rain fell over the hills of Orm.', 'Snow lies on the pass.')
  const messages = [turn, assistantMessage('So.'), second]
  expect(sender.send(messages)[0]).toEqual(sent)
  expect(sender.send(messages)[2]).toEqual(second)
  const options = { options: { citations: false } }
  const keeping = sendTurn(options)
  const kept = [turn, assistantMessage('Slate [2].'), user('And document 2?')]
  expect(keeping.sender.send(kept, options)).toEqual([keeping.sent, ...kept.slice(1)])
})

it('a list that was never sent stays if an answer after it cites it', () => {
  const sender = new Sender()
  sender.send([held])
  const messages = [turn, assistantMessage('Slate [citation:4].'), user('Why?')]
  expect(sender.send(messages)).toEqual(messages)
})
