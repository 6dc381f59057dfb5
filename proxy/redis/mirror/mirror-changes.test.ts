import { expect, test } from 'vitest'
import type { RequestId } from '#index/context-block.ts'
import { MirrorChanges } from './mirror-changes.ts'

const id = (name: string): RequestId => name as RequestId

test('when all begins anew, what was counted of a request is still to be told, and what is held no longer', () => {
  const changes = new MirrorChanges()
  changes.put(id('held'), 'p')
  changes.put(id('counted'), 'u')
  changes.put(id('counted, then held'), 'u')
  changes.put(id('counted, then held'), 'p')
  changes.put(id('sent'), 'w')
  changes.reset('replaced')
  expect(Object.fromEntries([...changes.take()].map(([request, { kind }]) => [request, kind]))).toEqual({
    held: 'u',
    counted: 'u',
    'counted, then held': 'u',
    sent: 'w',
  })
  changes.put(id('counted'), 'u')
  changes.put(id('sent'), 'w')
  changes.reset('cleared')
  expect(changes.size).toBe(0)
})
