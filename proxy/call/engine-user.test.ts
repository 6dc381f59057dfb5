import { expect, test } from 'vitest'
import type { Replica } from '../replicas/replica.ts'
import type { Call } from './call.ts'
import { engineUserOf } from './call.ts'

const nameFor = (...of: Parameters<typeof engineUserOf>): string | undefined => engineUserOf(...of)?.name

const call = (members: object, isTrusted = false): Call =>
  ({
    api: 'completions',
    caller: { tenant: 't', isTrusted },
    content: { members },
    settings: { tenants: {} },
  }) as unknown as Call

const replica = (reuse: object | undefined, member: string | undefined = 'kv_transfer_params'): Replica =>
  ({ reuse, adapter: { reuseMember: () => member } }) as unknown as Replica

const asking = replica({ users: true })
const wishing = (reprise: object): object => ({ kv_transfer_params: { reprise } })

test('it is whoever sent the request, if the engine asks', () => {
  expect(nameFor(call({ user: 'a' }), replica(undefined))).toBeUndefined()
  expect(nameFor(call({ user: 'a' }), replica({}))).toBeUndefined()
  const [a, again, b] = ['a', 'a', 'b'].map((user) => nameFor(call({ user }), asking))
  expect([a === again, a === b, typeof a]).toEqual([true, false, 'string'])
})

test('it is another that a trusted gateway names, and no other that a client names', () => {
  expect(nameFor(call(wishing({ user: 'x' }), true), asking)).toBe('x')
  expect(nameFor(call(wishing({ user: 'x' })), asking)).toBe(nameFor(call({}), asking))
})

test('what preprocessing computes is everybody’s', () => {
  const user = engineUserOf(call(wishing({ preprocess: 'key' })), asking)
  expect([user?.owner, typeof user?.name]).toEqual([undefined, 'string'])
  expect(engineUserOf(call({}), asking)?.owner).toBe(nameFor(call({}), asking))
})

test('it is one for all whom the engine cannot tell apart', () => {
  const untold = { ...asking, adapter: { reuseMember: () => undefined } } as unknown as Replica
  expect(nameFor(call({ user: 'a' }), untold)).toBe(nameFor(call({ user: 'b' }), untold))
})
