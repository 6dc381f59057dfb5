import { expect, test } from 'vitest'
import type { PromptApi } from '#engine-adapters/prompt-api.ts'
import type { KeyEntry } from '../access/api-keys.ts'
import { userOf } from './call.ts'

const key = (id: string): KeyEntry => ({ id }) as KeyEntry
const open = { tenant: 'acme', key: undefined }
const of = (
  members: object,
  caller: { tenant: string; key: KeyEntry | undefined } = open,
  api: PromptApi = 'chat_completions',
) => userOf(caller, api, members as never)

test('the end user whom a request names is the user, under any API key of the tenant', () => {
  const ann = of({ user: 'ann' })
  expect(of({ user: 'ann' }, { tenant: 'acme', key: key('1') })).toBe(ann)
  expect(of({ safety_identifier: 'ann', user: 'someone' })).toBe(ann)
  expect(of({ metadata: { user_id: 'ann' } }, open, 'messages')).toBe(ann)
  expect(of({ user: 'bob' })).not.toBe(ann)
})

test('users of two tenants are never the same', () => {
  expect(of({ user: 'ann' }, { tenant: 'other', key: undefined })).not.toBe(of({ user: 'ann' }))
  expect(of({ user: 'c' }, { tenant: 'ab', key: undefined })).not.toBe(
    of({ user: 'bc' }, { tenant: 'a', key: undefined }),
  )
})

test.each([{}, { user: '' }, { user: 7 }, { user: null }, { metadata: { user_id: 'ann' } }])(
  'without a name, the API key is the user, else all of the tenant are one: %j',
  (members) => {
    const [one, two] = ['1', '2'].map((id) => of(members, { tenant: 'acme', key: key(id) }))
    expect(one).not.toBe(two)
    expect(of(members, { tenant: 'acme', key: key('1') })).toBe(one)
    expect(of(members)).toBe(of({}))
    expect(of(members)).not.toBe(one)
  },
)

test('nobody passes for another by a name that is its key', () => {
  expect(of({ user: '1' })).not.toBe(of({}, { tenant: 'acme', key: key('1') }))
})

test('a user is opaque, and with a secret nobody can compute it', () => {
  const user = of({ user: 'ann' })
  expect(user).toMatch(/^[\w-]{22}$/)
  expect(userOf(open, 'chat_completions', { user: 'ann' }, 'secret')).not.toBe(user)
})
