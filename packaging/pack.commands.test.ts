import { execFileSync } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, expect, test } from 'vitest'

const root = join(import.meta.dirname, '..')
const place = mkdtempSync(join(tmpdir(), 'reprise-packed-'))
afterAll(() => rmSync(place, { recursive: true }))

test('every link in the pages of the package leads to one of its files', () => {
  const destination = ['--silent', '--pack-destination', place]
  // not its build, which other tests run
  execFileSync('npm', ['pack', '--ignore-scripts', ...destination], { cwd: root })
  execFileSync('npm', ['run', 'postpack', ...destination], { cwd: root })
  execFileSync('tar', ['-xzf', readdirSync(place)[0]!], { cwd: place })
  const folder = join(place, 'package')
  const pages = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.md'))
  const links = pages.flatMap((page) => {
    const text = readFileSync(join(folder, page), 'utf8')
    return [...text.matchAll(/\]\((?!https?:|#)([^)#\s]+)/g)].map(([, path]) => join(dirname(page), path!))
  })
  expect(links.length).toBeGreaterThan(100)
  expect(links.filter((path) => !existsSync(join(folder, path)))).toEqual([])
  const page = readFileSync(join(folder, 'docs', 'engines.md'), 'utf8')
  expect(page).toContain('(`engine-adapters/sglang/plugin/README.md`)')
  // as after a dry run
  execFileSync('npm', ['run', 'postpack', '--silent', '--pack-destination', folder], { cwd: root })
}, 120_000)
