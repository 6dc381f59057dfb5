import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { parse } from 'yaml'
import { checkSettings, fillDefaults } from './faults/check-settings.ts'
import { findContradictions } from './faults/find-contradictions.ts'
import { reloadable } from './live-config.ts'
import { keysFileSchema } from './schema/access-schema.ts'
import { configSchema } from './schema/config-schema.ts'
import type { Settings } from './settings.ts'

const text = readFileSync(join(import.meta.dirname, '..', '..', 'docs', 'configuration.md'), 'utf8')
const [example, keys] = [...text.matchAll(/```yaml\n(.*?)```/gs)].map(([, yaml]) => parse(yaml!) as object)

test('the documented configuration can be used', () => {
  expect(checkSettings(configSchema, example)).toEqual([])
  expect(findContradictions(fillDefaults<Settings>(configSchema, example!))).toEqual([])
  expect(checkSettings(keysFileSchema, keys)).toEqual([])
})

test('what waits for a restart is documented', () => {
  const listed = /only at the next start: (.*?)\.\s/s.exec(text)![1]!
  const settings = Object.keys(configSchema.properties!).flatMap((name) =>
    name === 'admin' ? ['admin.listen'] : [name],
  )
  for (const name of settings)
    expect({ name, listed: listed.includes(`\`${name}\``) }).toEqual({ name, listed: !reloadable.includes(name) })
})
