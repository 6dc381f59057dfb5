import { setFlagsFromString } from 'node:v8'
import { runInThisContext } from 'node:vm'
import { expect, test } from 'vitest'
import './create-redis-client.ts'
import './run-commands.ts'

test('ioredis leaves the methods of strings as fast as they were', () => {
  setFlagsFromString('--allow-natives-syntax')
  const hasFastProperties = runInThisContext('(object) => %HasFastProperties(object)') as (object: object) => boolean
  expect(hasFastProperties(String.prototype)).toBe(true)
})
