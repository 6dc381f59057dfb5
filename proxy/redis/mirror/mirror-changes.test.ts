import { expect, test } from 'vitest'
import type { RequestId } from '#index/context-block.ts'
import { MirrorChanges } from './mirror-changes.ts'

const id = (name: string): RequestId => name as RequestId

test('when all begins anew, what was counted of a request is still to be told, and what is held no longer', () => {
  const changes = new MirrorChanges()
  changes.put(id('held'), 'held')
  changes.put(id('counted'), 'counted')
  changes.put(id('counted, then held'), 'counted')
  changes.put(id('counted, then held'), 'held')
  changes.put(id('sent'), 'sent')
  changes.reset()
  expect(Object.fromEntries(changes)).toEqual({
    held: 'counted',
    counted: 'counted',
    'counted, then held': 'counted',
    sent: 'sent',
  })
})
