import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { statusOf } from '#proxy/common/errors.ts'
import { failOpenReasons, skippedReasons } from '#proxy/common/reasons.ts'
import { createMetrics, type MetricSources } from '#proxy/telemetry/metrics.ts'
import { pages, root } from './pages.ts'

function read(path: string): string {
  return readFileSync(join(root, path), 'utf8')
}

/** Returns the anchors of a page, as GitHub derives them from headings. */
function anchorsOf(path: string): string[] {
  const headings = [...read(path).matchAll(/^#+ (.+)$/gm)].map(([, heading]) => heading!)
  return headings.map((heading) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}_ -]/gu, '')
      .replaceAll(' ', '-'),
  )
}

function sourcesIn(folder: string): string[] {
  const names = readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
  const sources = names.filter((name) => name.endsWith('.ts') && !/\.(test|fixture|contract)\.ts$/.test(name))
  return sources.map((name) => read(join(folder, name)))
}

test('the README is read in one go', () => {
  expect(read('README.md').trimEnd().split('\n').length).toBeLessThanOrEqual(120)
})

test('a newcomer reads 1,200 lines at most', () => {
  const [path] = /^docs\/ARCHITECTURE\.md →[^:]+/m.exec(read('README.md'))!
  const lines = path.split(/\s*→\s*/).map((file) => read(file).split('\n').length)
  expect(lines.length).toBeGreaterThan(4)
  expect(lines.reduce((sum, count) => sum + count)).toBeLessThanOrEqual(1_200)
})

test.each(pages)('%s: every link leads somewhere', (page) => {
  const links = [...read(page).matchAll(/\]\((?!https?:)([^)#\s]*)(?:#([^)\s]+))?\)/g)]
  const broken = links.filter(([, path, anchor]) => {
    const target = path === '' ? page : join(dirname(page), path!)
    if (!existsSync(join(root, target))) return true
    return anchor !== undefined && !anchorsOf(target).includes(anchor)
  })
  expect(broken.map(([link]) => link)).toEqual([])
})

const sources = [
  'index',
  'scheduler',
  'proxy',
  'tools',
  'emulator',
  'engine-adapters',
  'kernels',
  'lab',
  'e2e',
  'packaging',
].flatMap((folder) =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).map((name) => `${folder}/${name}`),
)

test.each(pages)('%s: every source it names is there', (page) => {
  const named = [...read(page).matchAll(/(?<![\w./-])(?:[\w.-]+\/)*\w[\w.-]*\.(?:ts|mts|py)\b/g)].map(([name]) => name)
  const isThere = (name: string): boolean =>
    existsSync(join(root, dirname(page), name)) || sources.some((path) => path === name || path.endsWith(`/${name}`))
  expect(named.filter((name) => !isThere(name))).toEqual([])
})

test('every npm script that pages name is there', () => {
  const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> }
  const named = pages.flatMap((page) => [...read(page).matchAll(/npm run ([\w:-]+)/g)].map(([, name]) => name!))
  expect(named.filter((name) => !(name in scripts))).toEqual([])
})

test('the contract names every error with its status, and every header', () => {
  const contract = read('docs/contract.md')
  const errors = [...contract.matchAll(/^\| `(\w+)` +\| (\d{3}) /gm)].map(([, code, status]) => [code, Number(status)])
  expect(Object.fromEntries(errors)).toEqual(statusOf)
  const headers = sourcesIn('proxy').flatMap((text) => text.match(/x-reprise-[a-z-]+[a-z]/g) ?? [])
  expect(headers.filter((header) => !contract.includes(`\`${header}\``))).toEqual([])
  expect(new Set(headers).size).toBeGreaterThan(10)
})

test('the operations page names every metric, and no other', async () => {
  const sources: MetricSources = {
    version: '0',
    replicas: { all: [] },
    hot: { load: 0 },
    knownChunks: () => 0,
    templates: { states: new Map() },
    redis: { connection: { isUp: true } },
  }
  const { registry } = createMetrics(sources)
  const all = registry.getMetricsAsArray().map(({ name }) => name)
  const ours = all.filter((name) => !/^reprise_(process|nodejs)_/.test(name))
  const page = read('docs/operations.md')
  const named = new Set([...page.matchAll(/\breprise_[a-z_]+/g)].map(([name]) => name))
  expect(ours.filter((name) => !named.has(name))).toEqual([])
  expect([...named].filter((name) => !all.includes(name))).toEqual([])
})

test('the operations page names every field of a request’s log line', () => {
  const [, members] = /interface RequestRecord \{(.*?)\n\}/s.exec(read('proxy/telemetry/access-log.ts'))!
  const fields = [...members!.matchAll(/^ {2}readonly (\w+)/gm)].map(([, field]) => field!)
  const page = read('docs/operations.md')
  expect(fields.filter((field) => !page.includes(`\`${field}\``))).toEqual([])
  expect(fields.length).toBeGreaterThan(15)
})

/** Returns the distinct quoted words in the first group of a pattern's matches in a folder's sources. */
function written(folder: string, pattern: RegExp): string[] {
  const found = sourcesIn(folder).flatMap((text) => [...text.matchAll(pattern)])
  return [...new Set(found.flatMap(([, group]) => [...group!.matchAll(/'([a-z_]+)'/g)].map(([, word]) => word!)))]
}

/** Returns the words in the first column of the table below a heading. */
function namedBelow(page: string, heading: string): string[] {
  const section = page.split(`\n## ${heading}\n`)[1]!.split('\n#')[0]!
  const cells = [...section.matchAll(/^\| (`[^|]*)/gm)].map(([, cell]) => cell!)
  return cells.flatMap((cell) => [...cell.matchAll(/`(\w+)`/g)].map(([, word]) => word!))
}

test('the page of troubles explains every reason, and no other', () => {
  const page = read('docs/troubleshooting.md')
  expect(namedBelow(page, 'By `x-reprise-skipped`').toSorted()).toEqual(skippedReasons.toSorted())
  expect(namedBelow(page, 'By `reprise_fail_open_total{reason}`').toSorted()).toEqual(failOpenReasons.toSorted())
})

test('the page of troubles names every refusal and every finding of the doctor', () => {
  const page = read('docs/troubleshooting.md')
  const reasons = read('proxy/prompt/judge/reasons.ts')
  const refusals = [...reasons.matchAll(/^ {2}(\w+):/gm)].map(([, reason]) => reason!)
  const checks = written('tools/doctor', /\b(?:(?:ok|warning|fatal|notChecked)\(\s*|(?:check|caching) = )('[a-z_]+')/g)
  expect([...refusals, ...checks].filter((word) => !page.includes(`\`${word}\``))).toEqual([])
  expect(refusals.length).toBeGreaterThan(10)
  expect(checks.length).toBeGreaterThan(15)
})
