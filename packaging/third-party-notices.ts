import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

interface LockedPackage {
  readonly version: string
  readonly license?: string
  readonly dev?: boolean
  readonly os?: readonly string[]
}

const root = join(import.meta.dirname, '..')
export const noticesFile: string = join(root, 'THIRD-PARTY-NOTICES.md')

/** Returns the notices: the licences of the run-time packages, with the licence texts that the packages include. */
export function writeNotices(): string {
  const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as {
    packages: Record<string, LockedPackage>
  }
  const shipped = Object.entries(packages).filter(([path, { dev }]) => path !== '' && !dev)
  const rows = shipped.map(([path, { version, license }]) => `| ${nameOf(path)} | ${version} | ${license} |`)
  // a platform-specific package is a part of another package, under the same licence
  const bearers = new Map<string, string[]>()
  for (const [path, { os }] of shipped) {
    for (const text of os === undefined ? licencesOf(path) : []) {
      bearers.set(text, [...(bearers.get(text) ?? []), nameOf(path)])
    }
  }
  const texts = [...bearers].flatMap(([text, names]) => [`## ${names.join(', ')}`, '', '```text', text, '```', ''])
  const head = [
    '# Third-party notices',
    '',
    'reprise runs with these packages. Written by `npm run notices`; do not edit.',
    '',
    '| package | version | licence |',
    '| --- | --- | --- |',
  ]
  return [...head, ...rows, '', ...texts].join('\n')
}

function nameOf(path: string): string {
  return path.replace(/^.*node_modules\//, '')
}

function licencesOf(path: string): string[] {
  const folder = join(root, path)
  const files = existsSync(folder) ? readdirSync(folder).filter((name) => /^(licen[cs]e|notice)/i.test(name)) : []
  return files.toSorted().map((file) => readFileSync(join(folder, file), 'utf8').replaceAll('\r\n', '\n').trim())
}

if (process.argv[1] === import.meta.filename) writeFileSync(noticesFile, writeNotices())
