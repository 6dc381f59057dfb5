import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { parse } from 'yaml'
import { cutByTemplate } from '../templates/cut/cut-by-template.ts'
import { readTemplate } from '../templates/cut/read-template.ts'
import type { WrittenConfig } from './config.ts'
import { checkSettings, fillDefaults } from './faults/check-settings.ts'
import { findContradictions } from './faults/find-contradictions.ts'
import { fixedAtStart } from './live-config.ts'
import { configSchema } from './schema/config-schema.ts'
import { keysFileSchema } from './sources/key-store.ts'

const read = (page: string): string => readFileSync(join(import.meta.dirname, '..', '..', 'docs', page), 'utf8')
const text = read('configuration.md')
const [example, keys] = [...text.matchAll(/```yaml\n(.*?)```/gs)].map(([, yaml]) => parse(yaml!) as object)

test('the documented configuration can be used', () => {
  expect(checkSettings(configSchema, example)).toEqual([])
  expect(findContradictions(fillDefaults<WrittenConfig>(configSchema, example!).filled)).toEqual([])
  expect(checkSettings(keysFileSchema, keys)).toEqual([])
})

test('what waits for a restart is documented', () => {
  const listed = /only at the next start: (.*?)\.\s/s.exec(text)![1]!
  const settings = Object.keys(configSchema.properties!).flatMap((name) =>
    name === 'admin' ? ['admin.listen'] : [name],
  )
  for (const name of settings)
    expect({ name, listed: listed.includes(`\`${name}\``) }).toEqual({ name, listed: fixedAtStart.includes(name) })
})

test('the documented template finds what the code beside it writes', () => {
  const { templates } = parse(/```yaml\n(templates:.*?)```/s.exec(read('blocks.md'))![1]!) as Pick<
    WrittenConfig,
    'templates'
  >
  const template = readTemplate(templates[0]!)
  if (!('head' in template)) throw new Error(JSON.stringify(template))
  const documents = ['It rains (often).', 'The sun\n\nshines.']
  const listed = documents.map((one, i) => `[${i + 1}] (a title) ${one}`).join('\n\n')
  const prompt = `Use these sources:\n${listed}\n\nQuestion: why?`
  const contents = cutByTemplate(prompt, template)?.blocks.map((block) =>
    prompt.slice(block.contentStart, block.contentEnd),
  )
  expect(contents).toEqual(documents)
})
