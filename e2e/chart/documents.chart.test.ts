import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { parse } from 'yaml'
import { render, type Values } from './render.ts'
import { root, toolPath } from './tools/tool-path.ts'

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
