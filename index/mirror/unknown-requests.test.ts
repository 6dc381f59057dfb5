import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { RequestId, ScopeId } from '../context-block.ts'
import { UnknownRequests } from './unknown-requests.ts'

const requests = fc.constantFrom('a', 'b', 'c', 'd')
/** The prefixes of a prompt: each identifies all text up to it. */
const prefixes = fc
  .array(fc.constantFrom('x', 'y', 'z'), { maxLength: 5 })
  .map((parts) => parts.map((_, at) => parts.slice(0, at + 1).join('') as ScopeId))

test('a prompt shares the prefixes that any of the requests has, whichever came and went before', () => {
  const step = fc.record({ request: requests, own: fc.option(prefixes) })
  fc.assert(
    fc.property(fc.array(step, { maxLength: 30 }), prefixes, (steps, asked) => {
      const unknown = new UnknownRequests()
      const held = new Map<string, readonly ScopeId[]>()
      for (const { request, own } of steps) {
        if (own) {
          unknown.add(request as RequestId, own, undefined)
          held.set(request, own)
        } else {
          unknown.delete(request as RequestId)
          held.delete(request)
        }
      }
      const all = new Set([...held.values()].flat())
      const first = asked.findIndex((prefix) => !all.has(prefix))
      expect(unknown.countShared(asked)).toBe(first < 0 ? asked.length : first)
    }),
  )
})

test('how much a prompt shares is known without looking at the requests', () => {
  const unknown = new UnknownRequests()
  let looks = 0
  const looked = ['x', 'y'] as ScopeId[]
  const own = new Proxy(looked, {
    get: (target, name, self) => {
      looks += 1
      return Reflect.get(target, name, self)
    },
  })
  for (let i = 0; i < 1_000; i++) unknown.add(String(i) as RequestId, own, undefined)
  looks = 0
  expect(unknown.countShared(['x', 'y', 'z'] as ScopeId[])).toBe(2)
  expect(looks).toBe(0)
})
