import { spawnSync } from 'node:child_process'
import { cpSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { exampleValues, find, render, type Values } from './render.ts'
import { chart, root, toolPath } from './tools/tool-path.ts'

const page = readFileSync(join(root, 'docs', 'kubernetes.md'), 'utf8')
const blocks = [...page.matchAll(/^```(\w+)\n(.*?)^```$/gms)].map(([, language, text]) => ({ language, text: text! }))
const values = blocks.flatMap(({ language, text }): [string, string][] => {
  const title = /^# (values of .*)$/m.exec(text)?.[1]
  return language === 'yaml' && title ? [[title, text]] : []
})

test.each(values)('%s can be rendered', (_, text) => {
  expect(render(parse(text) as Values).length).toBeGreaterThan(0)
})

test('the page’s install command is one that Helm takes', () => {
  const command = blocks.map(({ text }) => /^helm install (.*)$/m.exec(text)?.[1]).find((found) => found)!
  const folder = mkdtempSync(join(tmpdir(), 'reprise-docs-'))
  const file = join(folder, 'values.yaml')
  writeFileSync(file, values[0]![1])
  const args = command.replace('values.yaml', file).split(' ')
  const { status, stderr } = spawnSync(toolPath('bin', 'helm'), ['template', '--kube-version', '1.33', ...args], {
    cwd: root,
    encoding: 'utf8',
  })
  rmSync(folder, { recursive: true })
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
})

describe('the notes after an installation', () => {
  let folder: string

  // Helm renders the notes only during an installation, which needs a cluster; here a ConfigMap holds them
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'reprise-notes-'))
    cpSync(chart, folder, { recursive: true })
    renameSync(join(folder, 'templates', 'NOTES.txt'), join(folder, 'files', 'notes.txt'))
    const shown = `apiVersion: v1\nkind: ConfigMap\nmetadata: { name: notes }\ndata:\n  text: {{ tpl (.Files.Get "files/notes.txt") . | quote }}\n`
    writeFileSync(join(folder, 'templates', 'notes.yaml'), shown)
  })
  afterAll(() => rmSync(folder, { recursive: true }))

  function notesOf(values: Values): string {
    const manifests = render(values, { chart: folder })
    return find(manifests, 'ConfigMap', 'notes').data!.text!
  }

  test('name the next commands, with the names of what was made', () => {
    const notes = notesOf({ ...exampleValues('vllm'), secrets: { keys: { existingSecret: 'keys' } } })
    expect(notes).toContain('Applications send to http://r-reprise.ai.svc:80/v1')
    expect(notes).toContain('kubectl -n ai rollout status deployment/r-reprise --timeout=1800s')
    expect(notes).toContain('helm -n ai test r --logs')
    expect(notes).toContain('kubectl -n ai port-forward deployment/r-reprise 9090')
    expect(notes).not.toMatch(/Redis|Anyone/)
  })

  test('say what a gateway without Redis, and one without keys, does not have', () => {
    expect(notesOf(exampleValues('gateway'))).toMatch(/2 proxies .* without a Redis.*Anyone who reaches/s)
    expect(notesOf({ ...exampleValues('gateway'), redis: { existingSecret: 's' } })).not.toContain('without a Redis')
    expect(notesOf({ ...exampleValues('gateway'), replicas: 1 })).not.toContain('without a Redis')
  })

  test.each([
    ['512Mi', undefined, false],
    ['511Mi', undefined, true],
    ['1Gi', 2 ** 28, true],
    ['0.5G', undefined, true],
    [2 ** 30, undefined, false],
    [null, undefined, false],
  ])('say what memory bodies need: %s for %s', (memory, bytes, isTooLittle) => {
    const config = bytes === undefined ? {} : { limits: { body_bytes: bytes } }
    const notes = notesOf({
      ...exampleValues('gateway'),
      config,
      resources: { requests: { memory: '256Mi' }, limits: { memory } },
    })
    expect(notes.includes('resources.limits.memory')).toBe(isTooLittle)
  })

  test('of the library say what is next there', () => {
    expect(notesOf({ mode: 'library' })).toContain('The configuration is in ConfigMap r-reprise')
  })
})
