import { expect, test } from 'vitest'
import type { Replica } from '../replicas/replica.ts'
import type { Call } from './call.ts'
import { toldUser } from './told-user.ts'

const call = (members: object, isTrusted = false): Call =>
  ({
    api: 'completions',
    caller: { tenant: 't', isTrusted },
    content: { received: { prompt: { members } } },
    settings: { tenants: {} },
  }) as unknown as Call

const replica = (reuse: object | undefined, member: string | undefined = 'kv_transfer_params'): Replica =>
  ({ reuse, adapter: { reuseMember: () => member } }) as unknown as Replica

const asking = replica({ asksForUser: true })
const wishing = (reprise: object): object => ({ kv_transfer_params: { reprise } })

test('it is whoever sent the request, if the engine asks', () => {
  expect(toldUser(call({ user: 'a' }), replica(undefined))).toBeUndefined()
  expect(toldUser(call({ user: 'a' }), replica({}))).toBeUndefined()
  const [a, again, b] = ['a', 'a', 'b'].map((user) => toldUser(call({ user }), asking))
  expect([a === again, a === b, typeof a]).toEqual([true, false, 'string'])
})

test('it is another that a trusted gateway names, and no other that a client names', () => {
  expect(toldUser(call(wishing({ user: 'x' }), true), asking)).toBe('x')
  expect(toldUser(call(wishing({ user: 'x' })), asking)).toBe(toldUser(call({}), asking))
})

test('it is everybody for preprocessing', () => {
  expect(toldUser(call(wishing({ preprocess: 'key' })), asking)).toBeUndefined()
})

test('it is one for all whom the engine cannot tell apart', () => {
  const untold = { ...asking, adapter: { reuseMember: () => undefined } } as unknown as Replica
  expect(toldUser(call({ user: 'a' }), untold)).toBe(toldUser(call({ user: 'b' }), untold))
})
