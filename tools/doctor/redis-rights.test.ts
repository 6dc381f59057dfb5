import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { forgetTurn, rememberExplicitTurn } from '#proxy/redis/conversations/shared-conversation-store.ts'
import { neededCommands } from './check-redis.ts'

const scripts = { forgetTurn, rememberExplicitTurn }

test.each(Object.entries(scripts))(
  'what a script asks of Redis is among the rights that are checked: %s',
  (_, script) => {
    const asked = [...script.matchAll(/redis\.p?call\('([A-Z]+)'/g)].map(([, name]) => name!.toLowerCase())
    expect(asked).not.toEqual([])
    expect(asked.length).toBe([...script.matchAll(/redis\.p?call\(/g)].length)
    expect(asked.filter((name) => !neededCommands.includes(name))).toEqual([])
  },
)

test('the documented rights are those that are checked, and what the client itself asks', () => {
  const docs = readFileSync(join(import.meta.dirname, '..', '..', 'docs', 'configuration.md'), 'utf8')
  const granted = [.../ACL SETUSER reprise (.*?)```/s.exec(docs)![1]!.matchAll(/\+([a-z|]+)/g)].map(([, name]) => name!)
  expect(granted.toSorted()).toEqual(
    [...neededCommands, 'client|setname', 'cluster|info', 'cluster|slots', 'info', 'select'].toSorted(),
  )
})
