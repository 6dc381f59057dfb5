import { expect, test } from 'vitest'
import { CacheMirror } from '#index/mirror/cache-mirror.ts'
import { defaultWording } from '../../prompt/wording.ts'
import { permitLists } from '../../templates/permit-lists.ts'
import { TemplateBook } from '../../templates/template-book.ts'
import { writeVariants } from './write-variants.ts'

const documents = [
  'The ferry to Linholm leaves at noon, except on days when the bell is wrapped in cloth.',
  'Salt from Karvik is grey, since the pans are lined with slate; traders called it smoke salt.',
  'The Orm valley has eleven mills, and the oldest of them was built by two sisters in 1702.',
  'Beekeepers of Tessin paint their hives in pairs of colours, so that queens find home again.',
]
const api = 'chat_completions'
const tenant = 'a'
const createIndex: CacheMirror['createIndex'] = () => new CacheMirror({ maxRequests: 9, maxBlocks: 99 }).createIndex()

function bodyOf(mark: (i: number) => string): Buffer {
  const list = documents.map((text, i) => `<document${mark(i)}>\n${text}\n</document>`).join('\n')
  const content = `<documents>\n${list}\n</documents>\n\nQuestion: Why is the salt so dark?`
  return Buffer.from(JSON.stringify({ model: 'm', messages: [{ role: 'user', content }] }))
}

/** The variants of a body, whose one list is of a template that is still to be proved. */
function variantsOf(body: Buffer, turn = 0, order?: number[]): ReturnType<typeof writeVariants> {
  const book = new TemplateBook({ now: () => 0, wallClock: () => 0, keepsWords: () => false })
  let id = ''
  const permit = permitLists(book, { tenant, api, model: 'm', mode: 'auto' })
  const naming: typeof permit = (messages, texts) => {
    const named = permit(messages, texts)
    id ||= named.flatMap(({ contexts }) => contexts)[0]?.template?.id ?? ''
    return named
  }
  const input = { mode: 'auto' as const, tenant, conversation: undefined, options: {}, wording: defaultWording }
  writeVariants(api, body, 'none', { ...input, permit: naming }, { createIndex, turn })
  return writeVariants(api, body, id, { ...input, permit }, { createIndex, turn, order })
}

const contentOf = (members: unknown): string => (members as { messages: [{ content: string }] }).messages[0].content
const orderIn = (content: string): number[] =>
  documents.map((_, i) => i).toSorted((a, b) => content.indexOf(documents[a]!) - content.indexOf(documents[b]!))

test('the list is reversed and rotated in turn; numbers count up again, and every block is whole', () => {
  const body = bodyOf((i) => ` index="${i + 1}"`)
  const [reversed, rotated] = [variantsOf(body, 0)!, variantsOf(body, 1)!]
  expect(reversed.sent).toEqual(JSON.parse(body.toString()))
  expect(orderIn(contentOf(reversed.rewritten))).toEqual([3, 2, 1, 0])
  expect(orderIn(contentOf(rotated.rewritten))).toEqual([2, 3, 0, 1])
  expect([...contentOf(reversed.rewritten).matchAll(/index="(\d)"/g)].map(([, n]) => n)).toEqual(['1', '2', '3', '4'])
})

test('an answer is written in the numbering of the other order, and back it is what it was', () => {
  const { toRewritten } = variantsOf(bodyOf((i) => ` index="${i + 1}"`))!
  expect(toRewritten('It is lined with slate [2], as document 4 says.')).toBe(
    'It is lined with slate [3], as document 1 says.',
  )
  expect(toRewritten(toRewritten('Slate [2].'))).toBe('Slate [2].')
  expect(variantsOf(bodyOf(() => ''))!.toRewritten('Slate [2].')).toBe('Slate [2].')
})

test('the harmless change is one line break behind the list', () => {
  const { sent, harmless } = variantsOf(bodyOf(() => ''))!
  const [before, behind] = contentOf(sent).split('</documents>')
  expect(contentOf(harmless)).toBe(`${before}</documents>\n${behind}`)
})

test('of a list that was sent in another order, that one is the measure', () => {
  const body = bodyOf((i) => ` index="${i + 1}"`)
  const { sent, harmless, rewritten, toRewritten } = variantsOf(body, 0, [1, 3, 0, 2])!
  expect([sent, harmless, rewritten].map((own) => orderIn(contentOf(own)))).toEqual([
    [1, 3, 0, 2],
    [1, 3, 0, 2],
    [2, 0, 3, 1],
  ])
  const [one, other] = [contentOf(sent), contentOf(harmless)]
  expect(other).not.toBe(one)
  expect(other.replaceAll('\n', '')).toBe(one.replaceAll('\n', ''))
  // the first document as sent is the last one in the other order
  expect(toRewritten('It is grey [1], as document 4 says.')).toBe('It is grey [4], as document 1 says.')
})

test('a prompt without the list, or whose words forbid a move, has no variants', () => {
  expect(variantsOf(Buffer.from('{"model":"m","messages":[{"role":"user","content":"Hello."}]}'))).toBeUndefined()
  const asked = bodyOf(() => '')
    .toString()
    .replace('Why is the salt so dark?', 'What does the second document say?')
  expect(variantsOf(Buffer.from(asked))).toBeUndefined()
})
